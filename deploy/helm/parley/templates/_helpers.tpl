{{/* At most 55 characters: with the longest suffix, "-migrate", it is still a name of 63. */}}
{{- define "parley.name" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{- $name | trunc 55 | trimSuffix "-" -}}
{{- end }}

{{- define "parley.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
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

{{/* Fails if the values cannot work together. */}}
{{- define "parley.check" -}}
{{- $_ := required "Set settings.PUBLIC_BASE_URL: the address at which clients reach the service." .Values.settings.PUBLIC_BASE_URL }}
{{- if not (or .Values.settings.S3_BUCKET .Values.files.existingClaim) }}
{{- fail "Set settings.S3_BUCKET or files.existingClaim: several servers need the same files." }}
{{- end }}
{{- range $name := list "PORT" "HOST" "DATA_DIR" }}
{{- if hasKey $.Values.settings $name }}
{{- fail (printf "Remove settings.%s: the chart sets it, for its probes and volumes. service.port is the port for others." $name) }}
{{- end }}
{{- end }}
{{- range $name := keys .Values.settings }}
{{- if regexMatch "^(DATABASE_(.+_)?URL|ENCRYPTION_KEYS|BACKUP_KEY|.+_(API_KEY|SECRET|SECRET_KEY|SECRET_ACCESS_KEY|OTLP_HEADERS))$" $name }}
{{- fail (printf "Move settings.%s to the Secret that existingSecret names: everybody who may see pods can read settings." $name) }}
{{- end }}
{{- end }}
{{- $grace := .Values.settings.SHUTDOWN_GRACE_SECONDS | default 20 | int64 }}
{{- $least := .Values.settings.SHUTDOWN_DELAY_SECONDS | default 0 | int64 | add $grace 1 }}
{{- if lt (int64 .Values.terminationGracePeriodSeconds) $least }}
{{- fail (printf "Set terminationGracePeriodSeconds to at least %d: a server stops within settings.SHUTDOWN_DELAY_SECONDS and settings.SHUTDOWN_GRACE_SECONDS." $least) }}
{{- end }}
{{- end }}

{{/* A value of a setting. Numbers are floats, which are printed with an exponent from a million on. */}}
{{- define "parley.text" -}}
{{- if not (kindIs "float64" .) }}{{ . }}{{ else if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{/* The settings that are not empty, after those that the chart sets itself. */}}
{{- define "parley.environment" -}}
{{- include "parley.check" . -}}
- name: PORT
  value: "4000"
- name: HOST
  value: "0.0.0.0"
- name: DATA_DIR
  value: /data
{{- range $name, $value := .Values.settings }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ include "parley.text" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.secret" -}}
{{ required "Set existingSecret: a Secret with DATABASE_URL and ENCRYPTION_KEYS." .Values.existingSecret | quote }}
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

{{/* Selects the samples of this release in a Prometheus of several. A pod's name ends with one or two parts without "-". */}}
{{- define "parley.selection" -}}
{{- $own := printf "namespace=%q, pod=~\"%s(-[^-]+){1,2}\"" .Release.Namespace (include "parley.name" .) -}}
{ {{- .Values.autoscaling.keda.selector | default $own -}} }
{{- end }}
