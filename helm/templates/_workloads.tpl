{{/*
Every workload by its name: the arguments of the program, and what it may connect to. The arrows of the product are here and
nowhere else: variables, Secrets and NetworkPolicies follow from them.
*/}}
{{- define "watchhouse.workloads" -}}
{{- if eq .Values.topology "single" -}}
all: { args: [], needs: [hosts, https, mail, everywhere] }
{{- else -}}
gateway: { args: [gateway], needs: [nats, redis, postgresql, https] }
query: { args: [query], needs: [nats, redis, hosts] }
{{- if .Values.guest.enabled }}
query-guest: { args: [query], needs: [nats, redis, everywhere] }
{{- end }}
agent: { args: [agent], needs: [nats, redis, postgresql, https] }
mcp: { args: [mcp], needs: [nats, redis] }
alert-dispatcher: { args: [alert-dispatcher], needs: [nats, redis, postgresql, https, mail] }
ingest: { args: [ingest], needs: [nats, redis, postgresql, https] }
report: { args: [report], needs: [nats, redis, postgresql, https] }
{{- end -}}
{{- end -}}

{{/* The values of one workload, as YAML: the defaults with its own block over them. A list of the root and the name. */}}
{{- define "watchhouse.block" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $own := index $root.Values.services $name -}}
{{- if eq $name "all" -}}{{- $own = omit $root.Values.single "persistence" -}}{{- end -}}
{{- if eq $name "query-guest" -}}{{- $own = omit $root.Values.guest "enabled" -}}{{- end -}}
{{- mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (default dict $own)) | toYaml -}}
{{- end -}}

{{/* Which of the services run in a workload, as a JSON list. */}}
{{- define "watchhouse.runs" -}}
{{- if eq . "all" -}}["gateway","query","agent","mcp","alert-dispatcher","ingest","report"]
{{- else -}}{{- list (trimSuffix "-guest" .) | toJson -}}{{- end -}}
{{- end -}}

{{/* Where the values of a workload stand, for sentences. */}}
{{- define "watchhouse.blockName" -}}
{{- if eq . "all" -}}single{{- else if eq . "query-guest" -}}guest{{- else -}}services.{{ . }}{{- end -}}
{{- end -}}

{{/* Which nodes pods may run on, and how much they count there: from the block of a service, or from the defaults for all other pods. */}}
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

{{/* Nobody but root may do less: the restricted level of Pod Security, in full. */}}
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
