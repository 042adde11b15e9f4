{{/* Environment variables of a workload. A variable comes before those that refer to it. Takes a dict of root, name, block and needs. */}}
{{- define "watchhouse.environment" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $runs := include "watchhouse.runs" .name | fromJsonArray -}}
- { name: SVC_INSTANCE, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
- { name: OPERATIONS_PORT, value: {{ $values.ports.operations | quote }} }
- { name: SHUTDOWN_GRACE_MS, value: {{ mul .block.drainSeconds 1000 | quote }} }
- { name: STARTUP_WAIT_MS, value: '110000' }
{{- if include "watchhouse.authorities" $root }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/watchhouse/certificates/ca.crt }
{{- end }}
{{- if has "gateway" $runs }}
- { name: PORT, value: {{ $values.ports.http | quote }} }
- { name: SVC_ALLOWED_HOSTS, value: {{ include "watchhouse.allowedHosts" (list $root .block.settings) | quote }} }
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
{{- $encryption := include "watchhouse.encryptionSecret" $root }}
{{- if and $encryption (include "watchhouse.encrypts" .name) }}
- name: SVC_USER_CONNECTIONS_ENCRYPTION_KEY
  valueFrom: { secretKeyRef: { name: {{ $encryption }}, key: SVC_USER_CONNECTIONS_ENCRYPTION_KEY } }
- name: SVC_USER_CONNECTIONS_ENCRYPTION_KEY_PREVIOUS
  valueFrom: { secretKeyRef: { name: {{ $encryption }}, key: SVC_USER_CONNECTIONS_ENCRYPTION_KEY_PREVIOUS, optional: true } }
{{- end }}
{{- range $name, $value := omit .block.settings (ternary "SVC_ALLOWED_HOSTS" "" (has "gateway" $runs)) }}
{{- /* Helm parses numbers as floating point and would print 1e+06. */}}
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

{{/*
Host names that callers without credentials can use: those of the Service, of the routes, of the dashboard that alerts link to,
and those of the operator. Probes and scrapes use pod addresses, which need no entry. Takes a list of root and gateway settings.
*/}}
{{- define "watchhouse.allowedHosts" -}}
{{- $root := index . 0 -}}
{{- $service := include "watchhouse.fullname" $root -}}
{{- $inNamespace := printf "%s.%s" $service $root.Release.Namespace -}}
{{- $names := list $service $inNamespace (printf "%s.svc" $inNamespace) (printf "%s.svc.cluster.local" $inNamespace) -}}
{{- if $root.Values.ingress.enabled }}{{ $names = concat $names $root.Values.ingress.hosts }}{{ end -}}
{{- if $root.Values.gatewayApi.enabled }}{{ $names = concat $names $root.Values.gatewayApi.hosts }}{{ end -}}
{{- $dispatcher := ternary "all" "alert-dispatcher" (eq $root.Values.topology "single") -}}
{{- $settings := (include "watchhouse.block" (list $root $dispatcher) | fromYaml).settings -}}
{{- with get $settings "HEALTH_ALERT_DASHBOARD_URL" }}{{ $names = append $names (urlParse .).hostname }}{{ end -}}
{{- with get (index . 1) "SVC_ALLOWED_HOSTS" }}{{ $names = append $names . }}{{ end -}}
{{- join "," ($names | uniq) -}}
{{- end -}}

{{/* The Secret of the encryption key: that of the values, or in topology single the generated one. Empty if there is none. */}}
{{- define "watchhouse.encryptionSecret" -}}
{{- if .Values.encryption.existingSecret -}}{{ .Values.encryption.existingSecret }}
{{- else if include "watchhouse.generatesEncryptionKey" . -}}{{ include "watchhouse.secretName" (list . "") }}
{{- end -}}
{{- end -}}

{{/* Whether the chart generates the encryption key: a single pod without a key in its values. */}}
{{- define "watchhouse.generatesEncryptionKey" -}}
{{- $secrets := (include "watchhouse.block" (list . "all") | fromYaml).secrets -}}
{{- $own := concat $secrets.keys (keys $secrets.values) -}}
{{- if and (eq .Values.topology "single") (not .Values.encryption.existingSecret) (not (has "SVC_USER_CONNECTIONS_ENCRYPTION_KEY" $own)) -}}yes{{- end -}}
{{- end -}}

{{/* Whether a workload stores encrypted secrets: connections, added hosts, alert targets and tools of users. */}}
{{- define "watchhouse.encrypts" -}}
{{- if has . (list "all" "query" "query-guest" "alert-dispatcher" "agent") -}}yes{{- end -}}
{{- end -}}

{{/* The NATS credentials and bus keys of a workload. A workload that uses streams has a second NATS user for them. gateway gets the signing key; each other workload gets a key derived from it, and a key for each service that it calls. Permissions are in files/nats-accounts.json. */}}
{{- define "watchhouse.natsEnvironment" -}}
{{- $nats := .root.Values.nats -}}
{{- $secret := include "watchhouse.secretName" (list .root $nats.existingSecret) -}}
{{- $scheme := ternary "tls" "nats" (ternary (not (empty $nats.tls.existingSecret)) $nats.external.tls $nats.enabled) -}}
{{- $server := ternary (printf "%s-nats:4222" (include "watchhouse.fullname" .root)) $nats.external.server $nats.enabled -}}
- name: NATS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ .name }} } }
- { name: NATS_URL, value: "{{ $scheme }}://{{ .name }}:$(NATS_PASSWORD)@{{ $server }}" }
- { name: NATS_REPLICAS, value: {{ $nats.replicas | quote }} }
{{- $streams := printf "%s-streams" .name }}
{{- if has $streams (include "watchhouse.natsUsers" .root | fromJsonArray) }}
- name: NATS_STREAMS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ $streams }} } }
- { name: NATS_STREAMS_URL, value: "{{ $scheme }}://{{ $streams }}:$(NATS_STREAMS_PASSWORD)@{{ $server }}" }
{{- end }}
{{- if eq .name "gateway" }}
- name: NATS_SIGNING_KEY
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: signing-key } }
{{- else }}
- name: NATS_VERIFICATION_KEY
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: verification-key-{{ .name }} } }
- name: NATS_VERIFICATION_KEY_PREVIOUS
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: verification-key-{{ .name }}-previous, optional: true } }
{{- if hasKey (.root.Files.Get "files/product.json" | fromJson).calls .name }}
- name: NATS_CALL_KEYS
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: call-keys-{{ .name }} } }
- name: NATS_CALL_KEYS_PREVIOUS
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: call-keys-{{ .name }}-previous, optional: true } }
{{- end }}
- { name: NATS_SIGNATURES, value: {{ $nats.signatures }} }
{{- end }}
{{- end -}}
