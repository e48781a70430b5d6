{{- define "rearview.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride }}
{{- else if contains $name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of one component. Call with (dict "root" $ "component" name). */}}
{{- define "rearview.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "rearview.labels" -}}
{{ include "rearview.selector" . }}
app.kubernetes.io/part-of: rearview
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A name alone is an image of this release's registry; a name with a folder stands for itself. */}}
{{- define "rearview.image" -}}
{{- $image := .image -}}
{{- $own := not (contains "/" $image.repository) -}}
{{- $repository := ternary (printf "%s/%s" .root.Values.image.registry $image.repository) $image.repository $own -}}
{{- $tag := $image.tag | default (ternary (default .root.Chart.AppVersion .root.Values.image.tag) "" $own) -}}
{{- $repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{/* What the processes of each service listen on; the architecture's fixed ports. */}}
{{- define "rearview.port" -}}
{{ get (dict "gateway" "50051" "writer" "50052" "retriever" "50053" "lifecycle" "50054" "health" "50059" "metrics" "9464" "mcp-metrics" "9465" "postgresql" "5432" "redis" "6379" "minio" "9000") . }}
{{- end -}}

{{/* The Deployments of the services: a JSON list of {name, service, values}. Workers are writers of another role. */}}
{{- define "rearview.components" -}}
{{- $writer := omit .Values.writer "workers" -}}
{{- $split := .Values.writer.workers.enabled -}}
{{- $found := list
  (dict "name" "gateway" "service" "gateway" "values" .Values.gateway)
  (dict "name" "writer" "service" "writer" "role" (ternary "serve" "all" $split) "values" $writer)
  (dict "name" "retriever" "service" "retriever" "values" .Values.retriever)
  (dict "name" "lifecycle" "service" "lifecycle" "values" .Values.lifecycle) -}}
{{- if $split -}}
{{- $own := mergeOverwrite (deepCopy $writer) (deepCopy (omit .Values.writer.workers "enabled")) -}}
{{- $found = append $found (dict "name" "writer-worker" "service" "writer" "role" "work" "values" $own) -}}
{{- end -}}
{{ toJson $found }}
{{- end -}}
