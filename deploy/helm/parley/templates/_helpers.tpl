{{- define "parley.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{- define "parley.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "parley.labels" -}}
{{ include "parley.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "parley.image" -}}
{{ required "Set image.repository: where you have pushed the image of deploy/container/Containerfile." .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The settings that are not empty, after those that the chart cannot do without. */}}
{{- define "parley.environment" -}}
{{- $_ := required "Set settings.PUBLIC_BASE_URL: the address at which clients reach the service." .Values.settings.PUBLIC_BASE_URL }}
{{- if not (or .Values.settings.S3_BUCKET .Values.files.existingClaim) }}
{{- fail "Set settings.S3_BUCKET or files.existingClaim: several servers need the same files." }}
{{- end }}
{{- range $name := list "PORT" "HOST" "DATA_DIR" }}
{{- if hasKey $.Values.settings $name }}
{{- fail (printf "Remove settings.%s: the chart sets it, for its probes and volumes. service.port is the port for others." $name) }}
{{- end }}
{{- end }}
- name: PORT
  value: "4000"
{{- range $name, $value := .Values.settings }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ ternary (int64 $value | toString) (toString $value) (kindIs "float64" $value) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.secret" -}}
{{ required "Set existingSecret: a Secret with DATABASE_URL and ENCRYPTION_KEYS." .Values.existingSecret }}
{{- end }}

{{- define "parley.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "parley.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: ["ALL"]
{{- end }}

{{/* Selects the samples of this release in a Prometheus of several. */}}
{{- define "parley.selection" -}}
{{- $own := printf "namespace=%q, pod=~\"%s-.+\"" .Release.Namespace (include "parley.name" .) -}}
{ {{- .Values.autoscaling.keda.selector | default $own -}} }
{{- end }}
