{{/* Pods are added immediately and removed one at a time, so that their work can finish. */}}
{{- define "watchhouse.scalingBehavior" -}}
behavior:
  scaleUp: { stabilizationWindowSeconds: 0, policies: [{ type: Percent, value: 100, periodSeconds: 30 }] }
  scaleDown:
    stabilizationWindowSeconds: {{ .scaleDownSeconds }}
    policies: [{ type: Pods, value: 1, periodSeconds: {{ max 1 (int .scaleDownSeconds) }} }]
{{- end -}}

{{/* The metric that a service scales on: pending messages of its consumers, or concurrent runs for agent. */}}
{{- define "watchhouse.triggers" -}}
{{- $root := .root -}}
{{- $target := .target -}}
{{- if eq .name "agent" }}
- type: prometheus
  metadata:
    serverAddress: {{ $root.Values.monitoring.prometheus }}
    query: sum(watchhouse_agent_runs{namespace={{ $root.Release.Namespace | quote }}})
    threshold: {{ $target | quote }}
    activationThreshold: '1'
{{- else }}
{{- $facts := $root.Files.Get "files/product.json" | fromJson }}
{{- $nats := $root.Values.nats }}
{{- range (index $facts.consumers .name) }}
- type: nats-jetstream
  metadata:
    natsServerMonitoringEndpoint: {{ ternary (printf "%s-nats.%s:8222" (include "watchhouse.fullname" $root) $root.Release.Namespace) $nats.external.monitoring $nats.enabled }}
    account: {{ ternary "STREAMS" $nats.external.account $nats.enabled | squote }}
    stream: {{ .stream }}
    consumer: {{ .consumer }}
    lagThreshold: {{ $target | quote }}
    activationLagThreshold: '1'
{{- end }}
{{- end }}
{{- end -}}
