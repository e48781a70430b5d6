{{/* What no schema can say: values that contradict each other, or the cluster would refuse half-way. Included once. */}}
{{- define "rearview.checks" -}}
{{- include "rearview.checkStores" . -}}
{{- include "rearview.checkEdge" . -}}
{{- range include "rearview.components" . | fromJsonArray -}}
{{- include "rearview.checkPod" (dict "root" $ "name" .name "service" .service "values" .values) -}}
{{- end -}}
{{- include "rearview.checkResources" (dict "of" "migrations.resources" "resources" .Values.migrations.resources) -}}
{{- if .Values.mcp.enabled -}}
{{- include "rearview.checkResources" (dict "of" "mcp.resources" "resources" .Values.mcp.resources) -}}
{{- $own := list "REARVIEW_MCP_LISTEN" "REARVIEW_MCP_METRICS_PORT" "REARVIEW_GATEWAY" "REARVIEW_MCP_ALLOWED_HOSTS" "REARVIEW_MCP_PUBLIC_URL" -}}
{{- include "rearview.checkVariables" (dict "root" . "of" "mcp.extraEnv" "given" .Values.mcp.extraEnv "own" $own) -}}
{{- end -}}
{{- end -}}

{{- define "rearview.checkStores" -}}
{{- $stores := dict "databaseUrl" "postgresql" "operatorDatabaseUrl" "postgresql" "databaseOwnerUrl" "postgresql" "redisUrl" "redis" -}}
{{- range $key, $store := $stores -}}
{{- $item := get $.Values.secrets $key -}}
{{- if and (get $.Values $store).bundled (or $item.value $item.existingSecret) -}}
{{- fail (printf "%s.bundled is true, and secrets.%s names another: choose one" $store $key) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.minio.bundled .Values.s3.endpoint -}}
{{- fail "minio.bundled is true, and s3.endpoint names another: choose one" -}}
{{- end -}}
{{- range $store := list "postgresql" "redis" "minio" -}}
{{- $values := get $.Values $store -}}
{{- if $values.bundled -}}
{{- include "rearview.checkResources" (dict "of" (printf "%s.resources" $store) "resources" $values.resources) -}}
{{- $held := $values.maxMemory | default $values.sharedBuffers -}}
{{- $limit := dig "limits" "memory" "" ($values.resources | default dict) -}}
{{- if and $held $limit -}}
{{- if ge (include "rearview.mebibytes" $held | float64) (include "rearview.mebibytes" $limit | float64) -}}
{{- fail (printf "%s: %s of memory to hold, and a limit of %s" $store $held $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "rearview.checkEdge" -}}
{{- if and (ne .Values.tls.mode "none") (not (or .Values.ingress.enabled .Values.gatewayApi.enabled)) -}}
{{- fail (printf "tls.mode %s needs ingress or gatewayApi, where TLS ends" .Values.tls.mode) -}}
{{- end -}}
{{- $port := .Values.gateway.service.nodePort -}}
{{- if and .Values.mcp.enabled $port (eq (toString $port) (toString .Values.mcp.service.nodePort)) -}}
{{- fail (printf "gateway.service.nodePort and mcp.service.nodePort are both %v" $port) -}}
{{- end -}}
{{- end -}}

{{/* Call with (dict "root" $ "name" name "service" service "values" values). */}}
{{- define "rearview.checkPod" -}}
{{- $resources := .values.resources | default dict -}}
{{- include "rearview.checkResources" (dict "of" (printf "resources of %s" .name) "resources" $resources) -}}
{{- if and (ne .values.autoscaling.kind "none") (not (dig "requests" "cpu" "" $resources)) -}}
{{- fail (printf "autoscaling of %s: a share of processors needs resources.requests.cpu" .name) -}}
{{- end -}}
{{- $facts := index (.root.Files.Get "files/services.yaml" | fromYaml) .service -}}
{{- $own := concat $facts.places (values $facts.settings) -}}
{{- range $facts.secrets -}}
{{- $own = append $own .variable -}}
{{- end -}}
{{- include "rearview.checkVariables" (dict "root" .root "of" (printf "extraEnv of %s" .name) "given" .values.extraEnv "own" $own) -}}
{{- $volumes := list "tmp" -}}
{{- range .values.extraVolumes -}}
{{- if has .name $volumes -}}{{- fail (printf "extraVolumes of %s: %s is there twice" $.name .name) -}}{{- end -}}
{{- $volumes = append $volumes .name -}}
{{- end -}}
{{- range .values.extraVolumeMounts -}}
{{- if not (has .name $volumes) -}}{{- fail (printf "extraVolumeMounts of %s: no extraVolumes has the name %s" $.name .name) -}}{{- end -}}
{{- end -}}
{{- $settings := merge (dict) (.values.settings | default dict) .root.Values.settings $facts.defaults -}}
{{- $copies := dig "vectorCopiesMegabytes" 0 $settings -}}
{{- $limit := dig "limits" "memory" "" $resources -}}
{{- if and $copies $limit -}}
{{- if gt (addf $copies 512) (include "rearview.mebibytes" $limit | float64) -}}
{{- fail (printf "%s.settings.vectorCopiesMegabytes is %v: with what the service takes besides, more than its limit of %s" .name $copies $limit) -}}
{{- end -}}
{{- end -}}
{{- if and (hasKey $settings "coldCacheBytes") (not (hasKey $settings "coldCacheDir")) -}}
{{- if gt (divf $settings.coldCacheBytes 1048576) (include "rearview.mebibytes" .values.tmpSize | float64) -}}
{{- fail (printf "%s.tmpSize of %s holds less than the setting coldCacheBytes of %s: the pod would be evicted" .name .values.tmpSize (include "rearview.scalar" $settings.coldCacheBytes)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A name twice is refused by the cluster. Call with (dict "root" $ "of" where "given" variables "own" names). */}}
{{- define "rearview.checkVariables" -}}
{{- $seen := .own -}}
{{- if .root.Values.tracing.endpoint -}}
{{- $seen = concat $seen (list "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_TRACES_SAMPLER" "OTEL_TRACES_SAMPLER_ARG") -}}
{{- end -}}
{{- range .given -}}
{{- if has .name $seen -}}
{{- fail (printf "%s: %s is there twice, or the chart's own values set it" $.of .name) -}}
{{- end -}}
{{- $seen = append $seen .name -}}
{{- end -}}
{{- end -}}

{{/* Requests above limits are refused by the cluster. Call with (dict "of" where "resources" resources). */}}
{{- define "rearview.checkResources" -}}
{{- $requests := dig "requests" dict (.resources | default dict) -}}
{{- $limits := dig "limits" dict (.resources | default dict) -}}
{{- range $key := list "cpu" "memory" "ephemeral-storage" -}}
{{- $unit := ternary "rearview.processors" "rearview.mebibytes" (eq $key "cpu") -}}
{{- if and (hasKey $requests $key) (hasKey $limits $key) -}}
{{- if gt (include $unit (get $requests $key) | float64) (include $unit (get $limits $key) | float64) -}}
{{- fail (printf "%s: requests.%s is above limits.%s" $.of $key $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "rearview.processors" -}}
{{- $number := toString . | trimSuffix "m" | float64 -}}
{{- ternary (mulf $number 0.001) $number (hasSuffix "m" (toString .)) -}}
{{- end -}}

{{/* Of an amount of Kubernetes, PostgreSQL (MB) or Redis (mb). */}}
{{- define "rearview.mebibytes" -}}
{{- $factors := dict "k" 0.0009765625 "m" 1.0 "g" 1024.0 "t" 1048576.0 -}}
{{- mulf (regexFind "^[0-9.]+" . | float64) (get $factors (regexFind "[kmgt]" (lower .))) -}}
{{- end -}}
