{{- define "watchhouse.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "watchhouse.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "watchhouse.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "watchhouse.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels of every object, and labels that select its pods. Takes a list of root and component. */}}
{{- define "watchhouse.selector" -}}
app.kubernetes.io/name: {{ include "watchhouse.name" (index . 0) }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "watchhouse.labels" -}}
{{ include "watchhouse.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/part-of: watchhouse
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Metadata of an object. Takes a list of root, component and name suffix, which may be empty. */}}
{{- define "watchhouse.metadata" -}}
name: {{ include "watchhouse.fullname" (index . 0) }}{{ with index . 2 }}-{{ . }}{{ end }}
namespace: {{ (index . 0).Release.Namespace }}
labels:
  {{- include "watchhouse.labels" . | nindent 2 }}
{{- end -}}

{{- define "watchhouse.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The Secret with additional certificate authorities for pods, or empty. */}}
{{- define "watchhouse.authorities" -}}
{{- default .Values.nats.tls.existingSecret .Values.certificates.existingSecret -}}
{{- end -}}

{{/* The name of an existing Secret, or of the Secret with generated passwords. Takes a list of root and existing name. */}}
{{- define "watchhouse.secretName" -}}
{{- default (printf "%s-generated" (include "watchhouse.fullname" (index . 0))) (index . 1) -}}
{{- end -}}

{{/* The names of the Secrets that the operator provides, as a JSON list. */}}
{{- define "watchhouse.requiredSecrets" -}}
{{- $values := .Values -}}
{{- $names := list $values.hosts.existingSecret $values.hosts.passwords.existingSecret $values.encryption.existingSecret $values.cron.existingSecret $values.certificates.existingSecret -}}
{{- if eq $values.topology "services" -}}
{{- $names = concat $names (list $values.nats.existingSecret $values.nats.tls.existingSecret) -}}
{{- range $server := list $values.redis $values.postgresql -}}
{{- $names = append $names (ternary $server.existingSecret $server.external.existingSecret $server.enabled) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := include "watchhouse.workloads" . | fromYaml -}}
{{- $names = append $names (include "watchhouse.block" (list $ $name) | fromYaml).secrets.existingSecret -}}
{{- end -}}
{{- compact $names | uniq | sortAlpha | toJson -}}
{{- end -}}
