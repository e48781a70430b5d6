{{/* What the standard "restricted" of pod security asks for, and a read-only root. */}}
{{- define "rearview.podSecurityContext" -}}
runAsNonRoot: true
{{- with .Values.podSecurity.runAsUser }}
runAsUser: {{ . }}
{{- end }}
{{- with .Values.podSecurity.runAsGroup }}
runAsGroup: {{ . }}
{{- end }}
{{- with .Values.podSecurity.fsGroup }}
fsGroup: {{ . }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "rearview.storeSecurityContext" -}}
runAsNonRoot: true
{{- with .runAsUser }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "rearview.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "rearview.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "rearview.topologySpread" -}}
{{- if .root.Values.topologySpread.enabled }}
topologySpreadConstraints:
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ ternary "DoNotSchedule" "ScheduleAnyway" $.root.Values.topologySpread.required }}
    labelSelector:
      matchLabels:
        {{- include "rearview.selector" $ | nindent 8 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Seconds from the word that a pod ends to its SIGKILL: notice, drain, margin. */}}
{{- define "rearview.gracePeriod" -}}
{{- $facts := index (.root.Files.Get "files/services.yaml" | fromYaml) .service -}}
{{- $settings := merge (dict) .values.settings .root.Values.settings -}}
{{- $drain := hasKey $settings "drainSeconds" | ternary (get $settings "drainSeconds") $facts.defaults.drainSeconds -}}
{{- add .values.noticeSeconds (ceil $drain | int) .root.Values.terminationMarginSeconds -}}
{{- end -}}
