{{- define "watchhouse.ownUrl" -}}
http://{{ include "watchhouse.fullname" . }}:{{ .Values.service.port }}
{{- end -}}

{{/* A pod that calls the gateway with a script. Takes a dict of root, name, script, variables, and optionally secret and key. */}}
{{- define "watchhouse.caller" -}}
serviceAccountName: {{ include "watchhouse.fullname" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with include "watchhouse.placement" .root.Values.defaults | trim }}
{{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "watchhouse.podSecurity" 65532 | nindent 2 }}
containers:
  - name: {{ .name }}
    image: {{ include "watchhouse.image" .root }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    command: [node, --input-type=module-typescript, --eval]
    args:
      - |
        {{- .script | nindent 8 }}
    env:
      {{- range $name, $value := .variables }}
      - { name: {{ $name }}, value: {{ $value | toString | quote }} }
      {{- end }}
      {{- if .secret }}
      - name: {{ .key }}
        valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }} } }
      {{- end }}
    resources: { requests: { cpu: 10m, memory: 64Mi }, limits: { memory: 128Mi } }
    securityContext:
      {{- include "watchhouse.containerSecurity" .root | nindent 6 }}
{{- end -}}
