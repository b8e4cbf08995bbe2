{{- /* The name of every object: that of the release, which leaves room for "-servers" and an ordinal. */}}
{{- define "saucr.name" -}}
{{- if gt (len .Release.Name) 40 }}{{ fail (printf "the release's name %q is longer than 40 characters" .Release.Name) }}{{ end -}}
{{ .Release.Name }}
{{- end }}

{{- define "saucr.labels" -}}
app.kubernetes.io/name: saucr-zookeeper
app.kubernetes.io/instance: {{ include "saucr.name" . }}
{{- end }}

{{- /* The servers, and not the Jobs. */}}
{{- define "saucr.serverLabels" -}}
{{ include "saucr.labels" . }}
app.kubernetes.io/component: server
{{- end }}

{{- define "saucr.replicas" -}}
{{ .Values.replicas | default .Values.initialServers }}
{{- end }}

{{- define "saucr.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "saucr.tlsSecret" -}}
{{- if and .Values.tls.secret .Values.tls.issuer.name }}{{ fail "give tls.secret or tls.issuer.name, and not both" }}{{ end -}}
{{- if not (or .Values.tls.secret .Values.tls.issuer.name) }}{{ fail "tls.enabled needs tls.issuer.name, or tls.secret" }}{{ end -}}
{{ .Values.tls.secret | default (printf "%s-tls" (include "saucr.name" .)) }}
{{- end }}

{{- define "saucr.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "saucr.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* What pod.sh reads. A pod's ordinal is one less than its server's number. */}}
{{- define "saucr.env" -}}
- name: POD_MEMBER
  value: "server.{id}={{ include "saucr.name" . }}-{ordinal}.{{ include "saucr.name" . }}-servers:2888:3888"
- name: POD_CLIENT_PORT
  value: {{ ternary "2281" "2181" .Values.tls.enabled | quote }}
- name: POD_INITIAL_SERVERS
  value: {{ .Values.initialServers | quote }}
- name: POD_PATIENCE
  value: {{ .Values.scaling.patience | quote }}
{{- if .Values.tls.enabled }}
- name: POD_TLS_SECRET
  value: /tls-secret
{{- end }}
{{- end }}

{{- define "saucr.mounts" -}}
- name: admin
  mountPath: /admin
  readOnly: true
- name: tmp
  mountPath: /tmp
{{- if .Values.tls.enabled }}
- name: tls-secret
  mountPath: /tls-secret
  readOnly: true
- name: tls
  mountPath: /tls
{{- end }}
{{- end }}

{{- define "saucr.volumes" -}}
- name: admin
  secret:
    secretName: {{ .Values.adminSecret }}
    defaultMode: 0440
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- if .Values.tls.enabled }}
- name: tls-secret
  secret:
    secretName: {{ include "saucr.tlsSecret" . }}
    defaultMode: 0440
# Copies of the Secret's files, which a server notices when they change.
- name: tls
  emptyDir:
    medium: Memory
    sizeLimit: 1Mi
{{- end }}
{{- end }}
