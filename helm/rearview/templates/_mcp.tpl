{{/* The MCP server beside the gateway, which it calls within the pod. */}}
{{- define "rearview.mcpContainer" -}}
- name: mcp
  image: {{ include "rearview.image" (dict "root" . "image" .Values.mcp.image) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  ports:
    - {name: mcp, containerPort: {{ .Values.mcp.port }}, protocol: TCP}
    - {name: mcp-metrics, containerPort: {{ include "rearview.port" "mcp-metrics" }}, protocol: TCP}
  env:
    - {name: REARVIEW_MCP_LISTEN, value: "{{ .Values.listenHost }}:{{ .Values.mcp.port }}"}
    - {name: REARVIEW_MCP_METRICS_PORT, value: {{ include "rearview.port" "mcp-metrics" | quote }}}
    - {name: REARVIEW_GATEWAY, value: "127.0.0.1:{{ include "rearview.port" "gateway" }}"}
    {{- $host := printf "%s-mcp" (include "rearview.fullname" .) }}
    {{- $hosts := list $host (printf "%s.%s" $host .Release.Namespace) (printf "%s.%s.svc" $host .Release.Namespace) (printf "%s.%s.svc.%s" $host .Release.Namespace .Values.clusterDomain) }}
    {{- $allowed := list }}
    {{- range $hosts }}{{ $allowed = append $allowed (printf "%s:*" .) }}{{ end }}
    - {name: REARVIEW_MCP_ALLOWED_HOSTS, value: {{ concat $allowed .Values.mcp.allowedHosts | join "," | quote }}}
    {{- with .Values.mcp.publicUrl }}
    - {name: REARVIEW_MCP_PUBLIC_URL, value: {{ . | quote }}}
    {{- end }}
    {{- with include "rearview.tracingEnv" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with .Values.mcp.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  startupProbe:
    tcpSocket: {port: mcp}
    periodSeconds: 2
    failureThreshold: 60
  livenessProbe:
    tcpSocket: {port: mcp}
    periodSeconds: 10
    failureThreshold: 6
  readinessProbe:
    tcpSocket: {port: mcp}
    periodSeconds: 5
  lifecycle:
    preStop:
      sleep: {seconds: {{ .Values.gateway.noticeSeconds }}}
  securityContext:
    {{- include "rearview.containerSecurityContext" . | nindent 4 }}
  resources:
    {{- toYaml .Values.mcp.resources | nindent 4 }}
  volumeMounts:
    - {name: tmp, mountPath: /tmp}
{{- end -}}
