{{/*
Which variables a service reads stands in files/services.yaml, which is generated from the services' own code. Places
(addresses, ports, the object store) and settings go into a ConfigMap, secrets into the container's variables.
*/}}

{{/* Numbers as the services parse them: whole ones without an exponent. */}}
{{- define "rearview.scalar" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* Call with (dict "root" $ "service" name "role" role "settings" dict). */}}
{{- define "rearview.configData" -}}
{{- $facts := index (.root.Files.Get "files/services.yaml" | fromYaml) .service -}}
{{- range $facts.places }}
{{ . }}: {{ include "rearview.place" (dict "root" $.root "variable" . "service" $.service "role" $.role) | quote }}
{{- end }}
{{- $settings := include "rearview.settings" (dict "root" .root "service" .service "settings" .settings) | fromYaml }}
{{- range $key, $variable := $facts.settings }}
{{- if hasKey $settings $key }}
{{ $variable }}: {{ include "rearview.scalar" (get $settings $key) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
What a service is set to: its own settings, then those of all, then what follows from internalTls. Without TLS a
service serves beyond the loopback only if that is said; who may reach it then is left to the network policies.
*/}}
{{- define "rearview.settings" -}}
{{- $settings := merge (dict) .settings .root.Values.settings -}}
{{- $secured := ne .root.Values.internalTls.mode "none" -}}
{{- $files := dict "CertFile" "tls.crt" "KeyFile" "tls.key" -}}
{{- $derived := dict -}}
{{- if and $secured (eq .service "gateway") -}}
{{- range $key, $file := merge $files (dict "CaFile" "ca.crt") }}{{ $_ := set $derived (printf "services%s" $key) (printf "/etc/rearview/tls/%s" $file) }}{{ end -}}
{{- else if $secured -}}
{{- range $key, $file := merge $files (dict "ClientCaFile" "ca.crt") }}{{ $_ := set $derived (printf "tls%s" $key) (printf "/etc/rearview/tls/%s" $file) }}{{ end -}}
{{- $_ := set $derived "healthPort" (include "rearview.port" "health" | int) -}}
{{- end -}}
{{- if not (or (hasKey $settings "tlsCertFile") (hasKey $derived "tlsCertFile")) }}{{ $_ := set $derived "allowPlaintext" true }}{{ end -}}
{{- range $key, $value := $derived }}{{ if not (hasKey $settings $key) }}{{ $_ := set $settings $key $value }}{{ end }}{{ end -}}
{{ toYaml $settings }}
{{- end -}}

{{/* The Secret with a service's certificate for internalTls. Call with (dict "root" $ "service" name). */}}
{{- define "rearview.internalTlsSecret" -}}
{{- if eq .root.Values.internalTls.mode "existing" -}}{{ .root.Values.internalTls.existingSecret }}
{{- else -}}{{ include "rearview.fullname" .root }}-{{ .service }}-internal-tls
{{- end -}}
{{- end -}}

{{- define "rearview.place" -}}
{{- $port := include "rearview.port" .service -}}
{{- if eq .variable "REARVIEW_LISTEN" -}}{{ .root.Values.listenHost }}:{{ $port }}
{{- else if eq .variable "REARVIEW_METRICS_PORT" -}}{{ include "rearview.port" "metrics" }}
{{- else if eq .variable "REARVIEW_WRITER_ROLE" -}}{{ .role }}
{{- else if hasSuffix "_ADDRESS" .variable -}}
{{- $to := .variable | trimPrefix "REARVIEW_" | trimSuffix "_ADDRESS" | lower -}}
{{- include "rearview.address" (dict "root" .root "to" $to) -}}
{{- else if eq .variable "REARVIEW_S3_ENDPOINT" -}}{{ include "rearview.s3Endpoint" .root }}
{{- else if eq .variable "REARVIEW_S3_BUCKET" -}}{{ .root.Values.s3.bucket }}
{{- else if eq .variable "REARVIEW_S3_SECURE" -}}{{ include "rearview.s3Secure" .root }}
{{- else -}}{{ fail (printf "the chart does not know what to set %s to" .variable) }}
{{- end -}}
{{- end -}}

{{/* All pods behind a headless service: gRPC channels balance over them, which one virtual address would prevent. */}}
{{- define "rearview.address" -}}
{{- $host := printf "%s-%s" (include "rearview.fullname" .root) .to -}}
dns:///{{ $host }}.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}:{{ include "rearview.port" .to }}
{{- end -}}

{{- define "rearview.s3Endpoint" -}}
{{- if .Values.minio.bundled -}}{{ include "rearview.fullname" . }}-minio:{{ include "rearview.port" "minio" }}
{{- else if .Values.s3.endpoint -}}{{ .Values.s3.endpoint }}
{{- else -}}{{ fail "s3.endpoint must name an S3 store, or minio.bundled must be true" }}
{{- end -}}
{{- end -}}

{{- define "rearview.s3Secure" -}}
{{- and .Values.s3.secure (not .Values.minio.bundled) -}}
{{- end -}}

{{/* Whether the chart's own Secret holds a key: "yes" or "". */}}
{{- define "rearview.ownSecret" -}}
{{- $values := .root.Values -}}
{{- $item := get $values.secrets .key | default dict -}}
{{- $generated := dict
  "internalKey" true "operatorKey" true "auditKey" true
  "databaseUrl" $values.postgresql.bundled "operatorDatabaseUrl" $values.postgresql.bundled
  "databaseOwnerUrl" $values.postgresql.bundled "redisUrl" $values.redis.bundled
  "s3AccessKey" $values.minio.bundled "s3SecretKey" $values.minio.bundled -}}
{{- if $item.value -}}yes
{{- else if and (not $item.existingSecret) (not $values.secrets.existingSecret) $values.secrets.generate (get $generated .key) -}}yes
{{- end -}}
{{- end -}}

{{/* A secretKeyRef, empty when an optional secret is not given. Call with (dict "root" $ "key" key "required" bool). */}}
{{- define "rearview.secretKeyRef" -}}
{{- $secrets := .root.Values.secrets -}}
{{- $item := get $secrets .key | default (dict "key" (.key | kebabcase)) -}}
{{- if $item.existingSecret }}
secretKeyRef: {name: {{ $item.existingSecret }}, key: {{ $item.key }}}
{{- else if include "rearview.ownSecret" . }}
secretKeyRef: {name: {{ include "rearview.fullname" .root }}-{{ ternary "migrations" "secrets" (eq .key "databaseOwnerUrl") }}, key: {{ $item.key }}}
{{- else if $secrets.existingSecret }}
secretKeyRef: {name: {{ $secrets.existingSecret }}, key: {{ $item.key }}{{ if not .required }}, optional: true{{ end }}}
{{- else if .required -}}
{{ fail (printf "secrets.%s needs a value or an existingSecret" .key) }}
{{- end }}
{{- end -}}

{{/* OpenTelemetry's own variables; nothing where no collector is named. A caller's decision to sample holds. */}}
{{- define "rearview.tracingEnv" -}}
{{- with .Values.tracing.endpoint }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }}}
- {name: OTEL_TRACES_SAMPLER, value: parentbased_traceidratio}
- {name: OTEL_TRACES_SAMPLER_ARG, value: {{ $.Values.tracing.sampleRatio | toString | quote }}}
{{- end }}
{{- end -}}

{{- define "rearview.secretEnv" -}}
{{- $facts := index (.root.Files.Get "files/services.yaml" | fromYaml) .service -}}
{{- range $secret := $facts.secrets }}
{{- with include "rearview.secretKeyRef" (dict "root" $.root "key" $secret.key "required" $secret.required) }}
- name: {{ $secret.variable }}
  valueFrom:
    {{- . | trim | nindent 4 }}
{{- end }}
{{- end }}
{{- end -}}
