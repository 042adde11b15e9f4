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
{{- else if eq $need "userConnections" }}
{{- $settings := $values.networkPolicy.userConnections }}
- ports: [{ protocol: TCP, port: 1, endPort: 65535 }]
  to:
    {{- include "watchhouse.publicAddresses" $settings.exceptCidrs | nindent 4 }}
{{- with $settings.privateCidrs }}
- ports:
    {{- range $values.hosts.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  to:
    {{- include "watchhouse.addresses" . | nindent 4 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* An ingress rule that admits the monitoring peers to a port; empty without peers. Takes a list of root, port and further peers. */}}
{{- define "watchhouse.monitoringIngress" -}}
{{- with concat (index . 0).Values.networkPolicy.monitoringFrom (index . 2) }}
- ports: [{ protocol: TCP, port: {{ index $ 1 }} }]
  from: {{ toJson . }}
{{- end }}
{{- end -}}

{{/* The peers that read the lag of the NATS consumers: the namespace of KEDA, if KEDA scales a service. */}}
{{- define "watchhouse.scalers" -}}
{{- $peers := list -}}
{{- range $name, $_ := include "watchhouse.workloads" . | fromYaml -}}
{{- if eq (include "watchhouse.block" (list $ $name) | fromYaml).autoscaling.type "keda" -}}
{{- $peers = list (dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" "keda"))) -}}
{{- end -}}
{{- end -}}
{{- toJson $peers -}}
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

{{/*
Peers with public addresses. Private, shared and link-local addresses are excluded: in most clusters, they include the pods, the
Services, the nodes and the API server. Takes a list of further CIDRs to exclude.
*/}}
{{- define "watchhouse.publicAddresses" -}}
{{- $private := list "10.0.0.0/8" "100.64.0.0/10" "127.0.0.0/8" "168.63.129.16/32" "169.254.0.0/16" "172.16.0.0/12" "192.168.0.0/16" "198.18.0.0/15" -}}
{{- $six := list -}}
{{- range . -}}
{{- if contains ":" . -}}{{- $six = append $six . -}}{{- else -}}{{- $private = append $private . -}}{{- end -}}
{{- end -}}
- ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson $private }} }
- ipBlock: { cidr: '2000::/3'{{ with $six }}, except: {{ toJson . }}{{ end }} }
{{- end -}}

{{/* Whether the process for user-supplied connections allows private addresses. */}}
{{- define "watchhouse.allowsPrivateHosts" -}}
{{- $name := ternary "all" "query-guest" (eq .Values.topology "single") -}}
{{- if hasKey (include "watchhouse.workloads" . | fromYaml) $name -}}
{{- $settings := (include "watchhouse.block" (list . $name) | fromYaml).settings -}}
{{- if has (get $settings "SVC_ALLOW_PRIVATE_HOSTS" | toString | lower) (list "true" "1" "yes" "on" "cloud") -}}yes{{- end -}}
{{- end -}}
{{- end -}}
