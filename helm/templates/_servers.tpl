{{/* The variable with the password of a NATS user. */}}
{{- define "watchhouse.natsPassword" -}}
NATS_PASSWORD_{{ . | replace "-" "_" | upper }}
{{- end -}}

{{/* The NATS users of a release: one for each workload, and a second one for each service that uses streams. */}}
{{- define "watchhouse.natsUsers" -}}
{{- $users := keys (include "watchhouse.workloads" . | fromYaml) -}}
{{- range $user, $_ := (.Files.Get "files/nats-accounts.json" | fromJson).users -}}
{{- if and (hasSuffix "-streams" $user) (has (trimSuffix "-streams" $user) $users) -}}{{- $users = append $users $user -}}{{- end -}}
{{- end -}}
{{ sortAlpha $users | toJson }}
{{- end -}}

{{/* The configuration of the NATS server: JetStream on disk, and users with the permissions that contracts and streams need. */}}
{{- define "watchhouse.natsConfig" -}}
{{- $declared := .Files.Get "files/nats-accounts.json" | fromJson -}}
{{- $users := include "watchhouse.natsUsers" . | fromJsonArray -}}
port: 4222
http_port: 8222
server_name: $POD_NAME
max_payload: 1MB
jetstream {
  store_dir: /data
  max_file_store: {{ .Values.nats.maxBytes }}
  {{- if and .Values.nats.syncAlways (eq (int .Values.nats.replicas) 1) }}
  sync_interval: always
  {{- end }}
}
{{- with .Values.nats.tls.existingSecret }}
tls { cert_file: /etc/nats-tls/tls.crt, key_file: /etc/nats-tls/tls.key }
{{- end }}
accounts {
  {{- range $account, $body := $declared.accounts }}
  {{ $account }} {
    {{- range $key, $value := $body }}
    {{ $key }}: {{ $value | toRawJson }}
    {{- end }}
    users: [
      {{- range $user := $users }}
      {{- with index $declared.users $user }}
      {{- if eq .account $account }}
      { user: {{ $user | quote }}, password: ${{ include "watchhouse.natsPassword" $user }}, permissions: {{ .permissions | toRawJson }} }
      {{- end }}
      {{- end }}
      {{- end }}
    ]
  }
  {{- end }}
}
{{- if gt (int .Values.nats.replicas) 1 }}
pid_file: /data/nats.pid
lame_duck_grace_period: 2s
lame_duck_duration: 30s
cluster {
  name: watchhouse
  port: 6222
  # Clients use the address of the Service. Those of pods change.
  no_advertise: true
  authorization { user: routes, password: ${{ include "watchhouse.natsPassword" "routes" }} }
  {{- with .Values.nats.tls.existingSecret }}
  tls { cert_file: /etc/nats-tls/tls.crt, key_file: /etc/nats-tls/tls.key, ca_file: /etc/nats-tls/ca.crt }
  {{- end }}
}
{{- end }}
{{- end -}}

{{/* The other servers of the cluster, as an argument, because Kubernetes expands the password only there. */}}
{{- define "watchhouse.natsRoutes" -}}
{{- $name := printf "%s-nats" (include "watchhouse.fullname" .) -}}
{{- $routes := list -}}
{{- range $index := until (int .Values.nats.replicas) -}}
{{- $routes = append $routes (printf "nats://routes:$(%s)@%s-%d.%s-pods:6222" (include "watchhouse.natsPassword" "routes") $name $index $name) -}}
{{- end -}}
{{- join "," $routes -}}
{{- end -}}

{{/* The volume of a server. Takes a list of root and block name. */}}
{{- define "watchhouse.claim" -}}
{{- $server := index (index . 0).Values (index . 1) -}}
volumeClaimTemplates:
  - metadata:
      name: data
      labels:
        {{- include "watchhouse.selector" . | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with $server.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources: { requests: { storage: {{ $server.storage }} } }
{{- end -}}

{{/* A server with one pod and a Service. Takes a dict of root, name, port, user, container and volumes. */}}
{{- define "watchhouse.server" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "watchhouse.metadata" (list .root .name .name) | nindent 2 }}
spec:
  selector:
    {{- include "watchhouse.selector" (list .root .name) | nindent 4 }}
  ports:
    - { name: {{ .name }}, port: {{ .port }}, targetPort: {{ .name }} }
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {{- include "watchhouse.metadata" (list .root .name .name) | nindent 2 }}
spec:
  serviceName: {{ include "watchhouse.fullname" .root }}-{{ .name }}
  replicas: 1
  selector:
    matchLabels:
      {{- include "watchhouse.selector" (list .root .name) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "watchhouse.labels" (list .root .name) | nindent 8 }}
    spec:
      serviceAccountName: {{ include "watchhouse.fullname" .root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: 60
      {{- with include "watchhouse.placement" .root.Values.defaults | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      securityContext:
        {{- include "watchhouse.podSecurity" .user | nindent 8 }}
      containers:
        - name: {{ .name }}
          {{- .container | trim | nindent 10 }}
          ports:
            - { name: {{ .name }}, containerPort: {{ .port }} }
          startupProbe: { tcpSocket: { port: {{ .name }} }, periodSeconds: 2, failureThreshold: 90 }
          livenessProbe: { tcpSocket: { port: {{ .name }} }, periodSeconds: 20, timeoutSeconds: 5 }
          readinessProbe: { tcpSocket: { port: {{ .name }} }, periodSeconds: 5 }
          resources:
            {{- toYaml (index .root.Values .name).resources | nindent 12 }}
          securityContext:
            {{- include "watchhouse.containerSecurity" .root | nindent 12 }}
          volumeMounts:
            - { name: data, mountPath: /data }
            - { name: tmp, mountPath: /tmp }
            {{- with .sockets }}
            - { name: sockets, mountPath: {{ . }} }
            {{- end }}
      volumes:
        - { name: tmp, emptyDir: {} }
        {{- if .sockets }}
        - { name: sockets, emptyDir: {} }
        {{- end }}
  {{- include "watchhouse.claim" (list .root .name) | nindent 2 }}
{{- end -}}

{{- define "watchhouse.redisContainer" -}}
image: {{ .root.Values.redis.image }}
# Acknowledged writes must survive: no eviction, and an append-only file.
command: [redis-server, --dir, /data, --appendonly, 'yes', --appendfsync, everysec, --save, '', --maxmemory-policy, noeviction, --maxmemory, {{ .root.Values.redis.maxMemory }}, --requirepass, $(REDIS_PASSWORD)]
env:
  - name: REDIS_PASSWORD
    valueFrom: { secretKeyRef: { name: {{ .secret }}, key: redis-password } }
{{- end -}}

{{- define "watchhouse.postgresqlContainer" -}}
image: {{ .root.Values.postgresql.image }}
env:
  - { name: POSTGRES_USER, value: watchhouse }
  - { name: POSTGRES_DB, value: watchhouse }
  - { name: PGDATA, value: /data/pgdata }
  - name: POSTGRES_PASSWORD
    valueFrom: { secretKeyRef: { name: {{ .secret }}, key: postgres-password } }
{{- end -}}
