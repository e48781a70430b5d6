{{- define "rearview.jobPod" -}}
restartPolicy: OnFailure
automountServiceAccountToken: false
enableServiceLinks: false
{{- with include "rearview.pullSecrets" . | trim }}
{{ . }}
{{- end }}
securityContext:
  {{- include "rearview.podSecurityContext" . | nindent 2 }}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: 64Mi}
{{- end -}}

{{/* Call with (dict "root" $ "name" name "phase" phase "hook" hooks); without hooks it is part of the release. */}}
{{- define "rearview.migrateJob" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "rearview.fullname" .root }}-{{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rearview.labels" (dict "root" .root "component" "migrate") | nindent 4 }}
  {{- with .hook }}
  annotations:
    helm.sh/hook: {{ . }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  {{- end }}
spec:
  backoffLimit: {{ .root.Values.migrations.backoffLimit }}
  activeDeadlineSeconds: {{ .root.Values.migrations.activeDeadlineSeconds }}
  template:
    metadata:
      labels:
        {{- include "rearview.labels" (dict "root" .root "component" "migrate") | nindent 8 }}
    spec:
      {{- include "rearview.jobPod" .root | nindent 6 }}
      containers:
        - name: migrate
          image: {{ include "rearview.image" (dict "root" .root "image" .root.Values.migrations.image) }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [--phase, {{ .phase }}]
          env:
            {{- include "rearview.secretEnv" (dict "root" .root "service" "migrate") | trim | nindent 12 }}
            {{- $facts := (.root.Files.Get "files/services.yaml" | fromYaml).migrate }}
            {{- range $key, $value := .root.Values.migrations.settings }}
            - {name: {{ get $facts.settings $key }}, value: {{ include "rearview.scalar" $value | quote }}}
            {{- end }}
          securityContext:
            {{- include "rearview.containerSecurityContext" .root | nindent 12 }}
          resources:
            {{- toYaml .root.Values.migrations.resources | nindent 12 }}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
{{- end -}}

{{/* Call with (dict "root" $ "name" name "hook" hooks), as above. */}}
{{- define "rearview.bucketJob" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "rearview.fullname" .root }}-{{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rearview.labels" (dict "root" .root "component" "bucket") | nindent 4 }}
  {{- with .hook }}
  annotations:
    helm.sh/hook: {{ . }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  {{- end }}
spec:
  backoffLimit: 6
  activeDeadlineSeconds: 600
  template:
    metadata:
      labels:
        {{- include "rearview.labels" (dict "root" .root "component" "bucket") | nindent 8 }}
    spec:
      {{- include "rearview.jobPod" .root | nindent 6 }}
      containers:
        - name: bucket
          image: {{ include "rearview.image" (dict "root" .root "image" .root.Values.migrations.image) }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          command: [python, -c]
          args:
            - |
              import os
              from rearview.adapters.s3.probe import S3Probe
              S3Probe(os.environ["ENDPOINT"], os.environ["ACCESS_KEY"], os.environ["SECRET_KEY"],
                      secure=os.environ["SECURE"] == "true").ensure_bucket(os.environ["BUCKET"])
          env:
            - {name: ENDPOINT, value: {{ include "rearview.s3Endpoint" .root | quote }}}
            - {name: SECURE, value: {{ include "rearview.s3Secure" .root | quote }}}
            - {name: BUCKET, value: {{ .root.Values.s3.bucket | quote }}}
            - name: ACCESS_KEY
              valueFrom:
                {{- include "rearview.secretKeyRef" (dict "root" .root "key" "s3AccessKey" "required" true) | trim | nindent 16 }}
            - name: SECRET_KEY
              valueFrom:
                {{- include "rearview.secretKeyRef" (dict "root" .root "key" "s3SecretKey" "required" true) | trim | nindent 16 }}
          securityContext:
            {{- include "rearview.containerSecurityContext" .root | nindent 12 }}
          resources:
            {{- toYaml .root.Values.migrations.resources | nindent 12 }}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
{{- end -}}
