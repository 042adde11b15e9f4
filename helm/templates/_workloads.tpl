{{/*
Every workload by name: its arguments and the targets that it may connect to. Variables, Secrets and NetworkPolicies are
derived from this list.
*/}}
{{- define "watchhouse.workloads" -}}
{{- if eq .Values.topology "single" -}}
all: { args: [], needs: [hosts, https, mail, userConnections] }
{{- else -}}
gateway: { args: [gateway], needs: [nats, redis, postgresql, https] }
query: { args: [query], needs: [nats, redis, postgresql, hosts] }
{{- if .Values.guest.enabled }}
query-guest: { args: [query], needs: [nats, redis, userConnections] }
{{- end }}
agent: { args: [agent], needs: [nats, redis, postgresql, https] }
mcp: { args: [mcp], needs: [nats, redis] }
alert-dispatcher: { args: [alert-dispatcher], needs: [nats, redis, postgresql, https, mail] }
ingest: { args: [ingest], needs: [nats, redis, postgresql, https] }
report: { args: [report], needs: [nats, redis, postgresql, https] }
{{- end -}}
{{- end -}}

{{/* The values of a workload as YAML: its block merged over the defaults. Takes a list of root and name. */}}
{{- define "watchhouse.block" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $own := index $root.Values.services $name -}}
{{- if eq $name "all" -}}{{- $own = omit $root.Values.single "persistence" -}}{{- end -}}
{{- if eq $name "query-guest" -}}{{- $own = omit $root.Values.guest "enabled" -}}{{- end -}}
{{- mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (default dict $own)) | toYaml -}}
{{- end -}}

{{/* The services that run in a workload, as a JSON list. */}}
{{- define "watchhouse.runs" -}}
{{- if eq . "all" -}}["gateway","query","agent","mcp","alert-dispatcher","ingest","report"]
{{- else -}}{{- list (trimSuffix "-guest" .) | toJson -}}{{- end -}}
{{- end -}}

{{/* The path of a workload's block in the values, for error messages. */}}
{{- define "watchhouse.blockName" -}}
{{- if eq . "all" -}}single{{- else if eq . "query-guest" -}}guest{{- else -}}services.{{ . }}{{- end -}}
{{- end -}}

{{/* Node selection and priority of pods: from the block of a service, or from the defaults for all other pods. */}}
{{- define "watchhouse.placement" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The security context that the Pod Security level `restricted` requires. */}}
{{- define "watchhouse.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "watchhouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: {{ .Values.readOnlyRootFilesystem }}
capabilities: { drop: [ALL] }
{{- end -}}
