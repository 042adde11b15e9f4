{{/* Content of the ConfigMap: files that pods read once at start, by kind and key. */}}
{{- define "watchhouse.configuration" -}}
{{- range $name, $content := .Values.healthFiles }}
health.{{ $name }}: |
  {{- $content | nindent 2 }}
{{- end }}
{{- range $topic, $files := .Values.definitions }}
{{- range $name, $content := $files }}
definition.{{ $topic }}.{{ $name }}: |
  {{- $content | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.features }}
features.yaml: |
  {{- toYaml (dict "features" .) | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The host list in the format of `SVC_HOSTS_FILE`. */}}
{{- define "watchhouse.hosts" -}}
hosts:
{{- range .Values.hosts.list }}
  {{- $entry := omit . "passwordKey" }}
  {{- if .passwordKey }}{{ $entry = set $entry "passwordFile" (printf "/etc/watchhouse/host-passwords/%s" .passwordKey) }}{{ end }}
  - {{- toYaml $entry | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "watchhouse.readsHosts" -}}
{{- if and (has "query" .runs) (ne .name "query-guest") (or .root.Values.hosts.list .root.Values.hosts.existingSecret) -}}yes{{- end -}}
{{- end -}}

{{- define "watchhouse.hasPasswords" -}}
{{- with .root.Values.hosts.passwords -}}{{- if or .existingSecret .values -}}yes{{- end -}}{{- end -}}
{{- end -}}

{{/* The volume mounts for the files of a workload. Takes a dict of root, name and runs. */}}
{{- define "watchhouse.mounts" -}}
{{- $values := .root.Values -}}
{{- if include "watchhouse.authorities" .root }}
- { name: certificates, mountPath: /etc/watchhouse/certificates, readOnly: true }
{{- end }}
{{- if and (has "alert-dispatcher" .runs) $values.healthFiles }}
- { name: health, mountPath: /etc/watchhouse/health.d, readOnly: true }
{{- end }}
{{- if and (has "query" .runs) $values.definitions }}
- { name: definitions, mountPath: /etc/watchhouse/definitions, readOnly: true }
{{- end }}
{{- if and (has "gateway" .runs) $values.features }}
- { name: features, mountPath: /etc/watchhouse/features.yaml, subPath: features.yaml, readOnly: true }
{{- end }}
{{- if include "watchhouse.readsHosts" . }}
- { name: hosts, mountPath: /etc/watchhouse/hosts, readOnly: true }
{{- if include "watchhouse.hasPasswords" . }}
- { name: host-passwords, mountPath: /etc/watchhouse/host-passwords, readOnly: true }
{{- end }}
{{- end }}
{{- end -}}

{{- define "watchhouse.volumes" -}}
{{- $values := .root.Values -}}
{{- $fullname := include "watchhouse.fullname" .root -}}
{{- with include "watchhouse.authorities" .root }}
- { name: certificates, secret: { secretName: {{ . }}, items: [{ key: ca.crt, path: ca.crt }] } }
{{- end }}
{{- if and (has "alert-dispatcher" .runs) $values.healthFiles }}
- name: health
  configMap:
    name: {{ $fullname }}
    items:
      {{- range $name, $_ := $values.healthFiles }}
      - { key: health.{{ $name }}, path: {{ $name }} }
      {{- end }}
{{- end }}
{{- if and (has "query" .runs) $values.definitions }}
- name: definitions
  configMap:
    name: {{ $fullname }}
    items:
      {{- range $topic, $files := $values.definitions }}
      {{- range $name, $_ := $files }}
      - { key: definition.{{ $topic }}.{{ $name }}, path: {{ $topic }}/{{ $name }} }
      {{- end }}
      {{- end }}
{{- end }}
{{- if and (has "gateway" .runs) $values.features }}
- { name: features, configMap: { name: {{ $fullname }}, items: [{ key: features.yaml, path: features.yaml }] } }
{{- end }}
{{- if include "watchhouse.readsHosts" . }}
- { name: hosts, secret: { secretName: {{ default (printf "%s-hosts" $fullname) $values.hosts.existingSecret }}, items: [{ key: hosts.yaml, path: hosts.yaml }] } }
{{- if include "watchhouse.hasPasswords" . }}
- { name: host-passwords, secret: { secretName: {{ default (printf "%s-host-passwords" $fullname) $values.hosts.passwords.existingSecret }} } }
{{- end }}
{{- end }}
{{- end -}}
