{{/* The name of all objects: the release's, with the chart's where it lacks it. */}}
{{- define "bindery.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* What tells the server's pods apart; never changes in the life of a release. */}}
{{- define "bindery.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "bindery.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: {{ .Chart.Name }}
{{- end }}

{{- define "bindery.labels" -}}
{{ include "bindery.selector" . }}
{{ include "bindery.commonLabels" . }}
{{- end }}

{{- define "bindery.loopLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: loop
{{ include "bindery.commonLabels" . }}
{{- end }}

{{- define "bindery.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "bindery.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{/* An image by digest or tag. Called with a list: the image's values, the appVersion. */}}
{{- define "bindery.image" -}}
{{- $image := index . 0 -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default (index . 1) $image.tag) -}}
{{- end -}}
{{- end }}

{{/* The kind of source, by the link's scheme: https, http, s3, file; secret where the chart does not see the link. */}}
{{- define "bindery.source" -}}
{{- if .Values.staticExport.existingSecret.name -}}secret
{{- else -}}{{- (split "://" .Values.staticExport.bundleUrl)._0 | lower -}}
{{- end -}}
{{- end }}

{{- define "bindery.secretName" -}}
{{- default (include "bindery.fullname" .) .Values.staticExport.existingSecret.name -}}
{{- end }}

{{/* A duration such as 1h30m, in whole seconds. */}}
{{- define "bindery.seconds" -}}
{{- $millis := 0 -}}
{{- range regexFindAll "[0-9]+(ms|s|m|h)" . -1 -}}
{{- $unit := get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) (regexFind "[a-z]+" .) -}}
{{- $millis = add $millis (mul $unit (int64 (regexFind "[0-9]+" .))) -}}
{{- end -}}
{{- div (add $millis 999) 1000 -}}
{{- end }}

{{/* The port of an address. */}}
{{- define "bindery.port" -}}
{{- $u := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $u.host | trimPrefix ":" -}}
{{- if $port -}}{{- $port -}}
{{- else if eq (lower $u.scheme) "http" -}}80
{{- else -}}443
{{- end -}}
{{- end }}

{{/* The port that pods fetch bundles at: the proxy's, where there is one. */}}
{{- define "bindery.sourcePort" -}}
{{- if .Values.proxy.existingSecret -}}{{- .Values.networkPolicy.sourcePort -}}
{{- else if .Values.proxy.httpsProxy -}}{{- include "bindery.port" .Values.proxy.httpsProxy -}}
{{- else if .Values.staticExport.existingSecret.name -}}{{- .Values.networkPolicy.sourcePort -}}
{{- else if eq (include "bindery.source" .) "s3" -}}
{{- if .Values.staticExport.s3.endpoint -}}{{- include "bindery.port" .Values.staticExport.s3.endpoint -}}{{- else -}}443{{- end -}}
{{- else -}}{{- include "bindery.port" .Values.staticExport.bundleUrl -}}
{{- end -}}
{{- end }}

{{/* What every container of the chart may do: nothing. */}}
{{- define "bindery.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* The way out, for containers that call other hosts. */}}
{{- define "bindery.proxyEnv" -}}
{{- if .Values.proxy.existingSecret }}
- name: HTTPS_PROXY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.proxy.existingSecret }}
      key: HTTPS_PROXY
- name: NO_PROXY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.proxy.existingSecret }}
      key: NO_PROXY
      optional: true
{{- else }}
{{- with .Values.proxy.httpsProxy }}
- name: HTTPS_PROXY
  value: {{ . | quote }}
{{- end }}
{{- with .Values.proxy.noProxy }}
- name: NO_PROXY
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
