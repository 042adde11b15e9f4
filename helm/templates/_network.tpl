{{- define "watchhouse.serverPort" -}}
{{- get (dict "nats" "4222" "redis" "6379" "postgresql" "5432") . -}}
{{- end -}}

{{/* Egress rules for a connection of a workload. Takes a list of root and the name of the target. */}}
{{- define "watchhouse.egress" -}}
{{- $root := index . 0 -}}
{{- $need := index . 1 -}}
{{- $values := $root.Values -}}
{{- if has $need (list "nats" "redis" "postgresql") }}
{{- $server := index $values $need }}
{{- if $server.enabled }}
- ports: [{ protocol: TCP, port: {{ include "watchhouse.serverPort" $need }} }]
  to:
    - podSelector:
        matchLabels:
          {{- include "watchhouse.selector" (list $root $need) | nindent 10 }}
{{- else }}
- ports: [{ protocol: TCP, port: {{ include "watchhouse.externalPort" (list $root $need) }} }]
  to:
    {{- include "watchhouse.addresses" $server.external.cidrs | nindent 4 }}
{{- end }}
{{- else if eq $need "hosts" }}
- ports:
    {{- range $values.hosts.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  to:
    {{- include "watchhouse.addresses" $values.hosts.cidrs | nindent 4 }}
{{- else if eq $need "https" }}
- ports: [{ protocol: TCP, port: 443 }]
  to:
    {{- include "watchhouse.addresses" (list "0.0.0.0/0" "2000::/3") | nindent 4 }}
{{- else if eq $need "mail" }}
- ports: [{ protocol: TCP, port: 25 }, { protocol: TCP, port: 465 }, { protocol: TCP, port: 587 }, { protocol: TCP, port: 2525 }]
  to:
    {{- include "watchhouse.addresses" (list "0.0.0.0/0" "2000::/3") | nindent 4 }}
{{- else if eq $need "everywhere" }}
- ports: [{ protocol: TCP, port: 1, endPort: 65535 }]
  to:
    {{- include "watchhouse.addresses" (list "0.0.0.0/0" "2000::/3") | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "watchhouse.externalPort" -}}
{{- $external := (index (index . 0).Values (index . 1)).external -}}
{{- if eq (index . 1) "nats" -}}{{- last (splitList ":" $external.server) | default "4222" -}}{{- else -}}{{- $external.port -}}{{- end -}}
{{- end -}}

{{/*
Peers by CIDR, without the metadata endpoints of clouds, which return secrets of the machine. An exception must be within its
block, so exceptions outside a narrow block are omitted.
*/}}
{{- define "watchhouse.addresses" -}}
{{- range . }}
{{- if eq . "0.0.0.0/0" }}
- ipBlock: { cidr: 0.0.0.0/0, except: [169.254.0.0/16, 100.100.100.200/32, 168.63.129.16/32] }
{{- else }}
- ipBlock: { cidr: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end -}}
