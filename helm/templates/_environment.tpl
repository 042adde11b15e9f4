{{/* Variables of one workload, in an order in which those that others are made of come first. A dict of root, name, block and needs. */}}
{{- define "watchhouse.environment" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $runs := include "watchhouse.runs" .name | fromJsonArray -}}
- { name: SVC_INSTANCE, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
- { name: OPERATIONS_PORT, value: {{ $values.ports.operations | quote }} }
- { name: SHUTDOWN_GRACE_MS, value: {{ mul .block.drainSeconds 1000 | quote }} }
{{- if include "watchhouse.authorities" $root }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/watchhouse/certificates/ca.crt }
{{- end }}
{{- if has "gateway" $runs }}
- { name: PORT, value: {{ $values.ports.http | quote }} }
{{- if $values.features }}
- { name: SVC_CONFIG_FILE, value: /etc/watchhouse/features.yaml }
{{- end }}
{{- end }}
{{- if has "nats" .needs }}
{{ include "watchhouse.natsEnvironment" . }}
{{- end }}
{{- if has "redis" .needs }}
{{- if $values.redis.enabled }}
- name: REDIS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "watchhouse.secretName" (list $root $values.redis.existingSecret) }}, key: redis-password } }
- { name: REDIS_URL, value: "redis://:$(REDIS_PASSWORD)@{{ include "watchhouse.fullname" $root }}-redis:6379" }
{{- else }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ $values.redis.external.existingSecret }}, key: REDIS_URL } }
{{- end }}
{{- end }}
{{- if has "postgresql" .needs }}
{{- if $values.postgresql.enabled }}
- name: STATE_DB_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "watchhouse.secretName" (list $root $values.postgresql.existingSecret) }}, key: postgres-password } }
- { name: SVC_STATE_DB_URL, value: "postgres://watchhouse:$(STATE_DB_PASSWORD)@{{ include "watchhouse.fullname" $root }}-postgresql:5432/watchhouse" }
{{- else if $values.postgresql.external.existingSecret }}
- name: SVC_STATE_DB_URL
  valueFrom: { secretKeyRef: { name: {{ $values.postgresql.external.existingSecret }}, key: SVC_STATE_DB_URL } }
{{- end }}
{{- else if and (eq .name "all") $values.single.persistence.enabled }}
- { name: SVC_STATE_DB_URL, value: "file:/var/lib/watchhouse/state.db" }
{{- end }}
{{- if eq .name "query-guest" }}
- { name: SVC_QUERY_ROLE, value: guest }
{{- else if eq .name "query" }}
- { name: SVC_QUERY_ROLE, value: own }
{{- end }}
{{- if and (has "query" $runs) (ne .name "query-guest") (or $values.hosts.list $values.hosts.existingSecret) }}
- { name: SVC_HOSTS_FILE, value: /etc/watchhouse/hosts/hosts.yaml }
{{- end }}
{{- if and (has "query" $runs) $values.definitions }}
- { name: SVC_DEFINITIONS_DIRECTORY, value: /etc/watchhouse/definitions }
{{- end }}
{{- if or (has "gateway" $runs) (has "alert-dispatcher" $runs) }}
- name: CRON_SECRET
  valueFrom: { secretKeyRef: { name: {{ include "watchhouse.secretName" (list $root $values.cron.existingSecret) }}, key: CRON_SECRET } }
{{- end }}
{{- if and $values.encryption.existingSecret (include "watchhouse.encrypts" .name) }}
- name: SVC_USER_CONNECTIONS_ENCRYPTION_KEY
  valueFrom: { secretKeyRef: { name: {{ $values.encryption.existingSecret }}, key: SVC_USER_CONNECTIONS_ENCRYPTION_KEY } }
{{- end }}
{{- range $name, $value := .block.settings }}
{{- /* Helm reads numbers as floating point, which it would write as 1e+06. */}}
- { name: {{ $name }}, value: {{ ternary (printf "%.0f" (float64 $value)) (toString $value) (kindIs "float64" $value) | quote }} }
{{- end }}
{{- $secret := default (printf "%s-%s" (include "watchhouse.fullname" $root) .name) .block.secrets.existingSecret }}
{{- range (concat .block.secrets.keys (keys .block.secrets.values) | uniq | sortAlpha) }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ . }} } }
{{- end }}
{{- with .block.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Who keeps something encrypted: what people save as connections, targets of alerts and tools. */}}
{{- define "watchhouse.encrypts" -}}
{{- if has . (list "all" "query-guest" "alert-dispatcher" "agent") -}}yes{{- end -}}
{{- end -}}

{{/* A user of its own for each workload: what it may say and hear is in files/nats-permissions.json. */}}
{{- define "watchhouse.natsEnvironment" -}}
{{- $nats := .root.Values.nats -}}
- name: NATS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "watchhouse.secretName" (list .root $nats.existingSecret) }}, key: {{ .name }} } }
{{- if $nats.enabled }}
- { name: NATS_URL, value: "{{ ternary "tls" "nats" (not (empty $nats.tls.existingSecret)) }}://{{ .name }}:$(NATS_PASSWORD)@{{ include "watchhouse.fullname" .root }}-nats:4222" }
- { name: NATS_REPLICAS, value: {{ $nats.replicas | quote }} }
{{- else }}
- { name: NATS_URL, value: "{{ ternary "tls" "nats" $nats.external.tls }}://{{ .name }}:$(NATS_PASSWORD)@{{ $nats.external.server }}" }
- { name: NATS_REPLICAS, value: {{ $nats.replicas | quote }} }
{{- end }}
{{- end -}}
