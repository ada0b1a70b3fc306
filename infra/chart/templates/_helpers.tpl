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

{{/* Whether static export is on, also where the value came as a text (helm --set-string): then "true", else nothing. */}}
{{- define "bindery.enabled" -}}
{{- if eq (toString .Values.staticExport.enabled) "true" -}}true{{- end -}}
{{- end }}

{{/* Whether there is a bundle to serve: then "true", else nothing. The loop may still bring the first one. */}}
{{- define "bindery.serves" -}}
{{- if and (include "bindery.enabled" .) (or .Values.staticExport.bundleUrl .Values.staticExport.existingSecret.name) -}}true{{- end -}}
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
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The annotations of an object. Called with a list: the root, those of its own, the indentation. */}}
{{- define "bindery.annotations" -}}
{{- with merge (dict) (index . 1) (index . 0).Values.commonAnnotations -}}
{{- printf "annotations:\n%s" (toYaml . | indent 2) | nindent (index $ 2) -}}
{{- end -}}
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

{{- define "bindery.renewLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: renew
{{ include "bindery.commonLabels" . }}
{{- end }}

{{/* The names of CronJobs, which may have 52 characters. */}}
{{- define "bindery.loopName" -}}
{{- printf "%s-loop" (include "bindery.fullname" . | trunc 47 | trimSuffix "-") -}}
{{- end }}
{{- define "bindery.renewName" -}}
{{- printf "%s-renew" (include "bindery.fullname" . | trunc 46 | trimSuffix "-") -}}
{{- end }}

{{- define "bindery.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "bindery.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{/* An image by digest or tag. Called with a list: the image's values, the root. */}}
{{- define "bindery.image" -}}
{{- $image := index . 0 -}}
{{- $root := index . 1 -}}
{{- $name := $image.repository -}}
{{- with $root.Values.global.imageRegistry -}}
{{- /* A first part with a dot or a port is a registry, and so is localhost. */ -}}
{{- $name = printf "%s/%s" . (regexReplaceAll `^(localhost|[^/]*[.:][^/]*)/` $name "") -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default $root.Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end }}

{{/* The version, as a text. Without quotes, YAML makes a number of some. */}}
{{- define "bindery.version" -}}
{{- $version := .Values.staticExport.version -}}
{{- if kindIs "string" $version -}}{{- $version -}}
{{- else if not (kindIs "invalid" $version) -}}{{- toJson $version -}}
{{- end -}}
{{- end }}

{{/* Whether the version was written as a number, of which YAML keeps the value alone: then "true", else nothing. */}}
{{- define "bindery.versionIsNumber" -}}
{{- if not (has (typeOf .Values.staticExport.version) (list "string" "<nil>")) -}}true{{- end -}}
{{- end }}

{{/* The Secrets with credentials for registries, in either form, each once. */}}
{{- define "bindery.pullSecrets" -}}
{{- $names := list -}}
{{- range concat (default list .Values.global.imagePullSecrets) .Values.image.pullSecrets -}}
{{- $names = append $names (kindIs "string" . | ternary . (get (kindIs "map" . | ternary . dict) "name")) -}}
{{- end -}}
{{- with uniq $names }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Containers of the operator's, which may do no more than the chart's unless they say so. Called with a list: them, the root. */}}
{{- define "bindery.containers" -}}
{{- $standard := dict "securityContext" (fromYaml (include "bindery.containerSecurity" (index . 1))) -}}
{{- range index . 0 }}
{{ toYaml (list (mergeOverwrite (deepCopy $standard) .)) }}
{{- end }}
{{- end }}

{{/* What rolls the pods: another bundle. Its place is the link without what signs it, since a new link to the same bundle must roll nothing; and hashed, so that it says no more than that it is another. */}}
{{- define "bindery.bundle" -}}
{{- $export := .Values.staticExport -}}
{{- with include "bindery.version" . }}
bindery/version: {{ . | quote }}
{{- end }}
{{- with $export.sha256 }}
bindery/sha256: {{ . | quote }}
{{- end }}
{{- if not $export.existingSecret.name }}
{{- /* Of a query, only what names a version of an object in a bucket says which bundle it is. */}}
bindery/place: {{ printf "%s %s" (regexReplaceAll "[?#].*$" $export.bundleUrl "") (regexFind "[?&]versionId=[^&#]*" $export.bundleUrl | trimAll "?&") | trim | sha256sum }}
{{- end }}
{{- end }}

{{/* Whether the bundle comes by a link that ends: then "true", else nothing. */}}
{{- define "bindery.expires" -}}
{{- $source := include "bindery.source" . -}}
{{- if or (hasPrefix "http" $source) (and (eq $source "secret") (not .Values.staticExport.existingSecret.durable)) -}}true{{- end -}}
{{- end }}

{{/* Whether pods get a fresh link by themselves: then "true", else nothing. */}}
{{- define "bindery.renews" -}}
{{- if .Values.staticExport.source.api -}}true{{- end -}}
{{- end }}

{{/* Whether the loop renews the link in a Secret of its own, which pods read: then "true", else nothing. */}}
{{- define "bindery.loopRenews" -}}
{{- if and .Values.loop.enabled .Values.loop.renew.enabled (include "bindery.serves" .) (hasPrefix "http" (include "bindery.source" .)) (not (include "bindery.renews" .)) -}}true{{- end -}}
{{- end }}

{{/* The Secret with the link that the loop renews. */}}
{{- define "bindery.renewedSecret" -}}
{{- printf "%s-link" (include "bindery.fullname" .) -}}
{{- end }}

{{/* When the loop looks at the link: by default four times in a link's life, by whole parts of an hour. */}}
{{- define "bindery.renewSchedule" -}}
{{- if .Values.loop.renew.schedule -}}{{- .Values.loop.renew.schedule -}}
{{- else -}}
{{- $quarter := div (int64 (include "bindery.seconds" .Values.loop.linkLife)) 240 -}}
{{- $every := 1 -}}
{{- range list 2 3 4 5 6 10 12 15 20 30 60 -}}
{{- if ge $quarter (int64 .) -}}{{- $every = . -}}{{- end -}}
{{- end -}}
{{- if eq $every 60 -}}0 * * * *{{- else -}}*/{{ $every }} * * * *{{- end -}}
{{- end -}}
{{- end }}

{{/* The values that a field of a schedule has: each between commas. Called with a list: the field, the number after its last value. */}}
{{- define "bindery.cronField" -}}
{{- $end := int (index . 1) -}}
{{- range splitList "," (index . 0) -}}
{{- if regexMatch `^(\*|[0-9]+(-[0-9]+)?)(/[1-9][0-9]*)?$` . -}}
{{- $first := 0 -}}{{- $after := $end -}}{{- $step := 1 -}}
{{- $parts := splitList "/" . -}}
{{- if gt (len $parts) 1 -}}{{- $step = atoi (index $parts 1) -}}{{- end -}}
{{- $range := index $parts 0 -}}
{{- if ne $range "*" -}}
{{- $ends := splitList "-" $range -}}
{{- $first = atoi (index $ends 0) -}}
{{- if gt (len $ends) 1 -}}{{- $after = min $end (add1 (atoi (index $ends 1))) | int -}}
{{- else if eq (len $parts) 1 -}}{{- $after = add1 $first | int -}}
{{- end -}}
{{- end -}}
{{- range untilStep $first $after $step -}},{{ . }},{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The longest time between two runs of a schedule, in minutes; a day or more where not every day has one. */}}
{{- define "bindery.gap" -}}
{{- $schedule := get (dict "@hourly" "0 * * * *" "@daily" "0 0 * * *" "@weekly" "0 0 * * 0" "@monthly" "0 0 1 * *") . | default . -}}
{{- $fields := regexSplit " +" $schedule -1 -}}
{{- $minutes := include "bindery.cronField" (list (index $fields 0) 60) -}}
{{- $hours := include "bindery.cronField" (list (index $fields 1) 24) -}}
{{- $first := -1 -}}{{- $last := -1 -}}{{- $gap := 0 -}}
{{- range $h := until 24 -}}
{{- if contains (printf ",%d," $h) $hours -}}
{{- range $m := until 60 -}}
{{- if contains (printf ",%d," $m) $minutes -}}
{{- $now := add (mul $h 60) $m -}}
{{- if lt (int $first) 0 -}}{{- $first = $now -}}{{- else -}}{{- $gap = max $gap (sub $now $last) -}}{{- end -}}
{{- $last = $now -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $gap = max $gap (sub (add $first 1440) $last) -}}
{{- if ne (slice $fields 2 5 | join " ") "* * *" -}}{{- $gap = max $gap 1440 -}}{{- end -}}
{{- $gap -}}
{{- end }}

{{/* Whether versions are on a claim: then "true", else nothing. */}}
{{- define "bindery.persists" -}}
{{- if .Values.staticExport.ranges -}}
{{- else if kindIs "bool" .Values.persistence.enabled -}}
{{- if .Values.persistence.enabled -}}true{{- end -}}
{{- else if and (include "bindery.expires" .) (not (include "bindery.renews" .)) -}}true
{{- end -}}
{{- end }}

{{/* Whether a pod that goes is lost, since no other can come: then "true", else nothing. */}}
{{- define "bindery.irreplaceable" -}}
{{- if and (include "bindery.expires" .) (not (include "bindery.renews" .)) (not (include "bindery.persists" .)) (not (and (include "bindery.loopRenews" .) .Values.staticExport.source.jobId)) -}}true{{- end -}}
{{- end }}

{{/* The Secret with the key for fresh links: its name, and the key in it. */}}
{{- define "bindery.sourceSecret" -}}
{{- $secret := .Values.staticExport.source.keySecret -}}
{{- if kindIs "string" $secret -}}{{- $secret -}}{{- else -}}{{- $secret.name -}}{{- end -}}
{{- end }}

{{- define "bindery.sourceSecretKey" -}}
{{- $secret := .Values.staticExport.source.keySecret -}}
{{- if kindIs "string" $secret -}}adminKey{{- else -}}{{- default "adminKey" $secret.key -}}{{- end -}}
{{- end }}

{{/* Whether an address would carry a key in the clear, by the rule of bindery: then "true", else nothing. */}}
{{- define "bindery.inTheClear" -}}
{{- if not (regexMatch `^(?i:https://|http://(([^/:]+\.)?localhost|127(\.[0-9]{1,3}){3}|\[::1\]|[^/:]+\.svc(\.cluster\.local)?)\.?(:[0-9]*)?(/|$))` .) -}}true{{- end -}}
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

{{/* The ports that pods ask at: the source's and the API's, or the proxy's alone. A list in JSON. */}}
{{- define "bindery.sourcePorts" -}}
{{- $ports := list -}}
{{- if or (ne (include "bindery.source" .) "file") .Values.proxy.existingSecret .Values.proxy.httpsProxy -}}
{{- $ports = append $ports (include "bindery.sourcePort" . | int) -}}
{{- end -}}
{{- if and (include "bindery.renews" .) (not (or .Values.proxy.existingSecret .Values.proxy.httpsProxy)) -}}
{{- $ports = append $ports (include "bindery.port" .Values.staticExport.source.api | int) -}}
{{- end -}}
{{- uniq $ports | toJson -}}
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
{{- $standard := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "runAsNonRoot" true
  "capabilities" (dict "drop" (list "ALL"))
  "seccompProfile" (default (dict "type" "RuntimeDefault") .Values.podSecurityContext.seccompProfile) -}}
{{- /* merge would take the operator's false for nothing. */ -}}
{{- toYaml (mergeOverwrite (deepCopy $standard) .Values.containerSecurityContext) -}}
{{- end }}

{{/* What every pod of the chart may do. */}}
{{- define "bindery.podSecurity" -}}
{{- $standard := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- if not (kindIs "invalid" .Values.runAsUser) -}}
{{- $standard = set $standard "runAsUser" (int64 .Values.runAsUser) -}}
{{- end -}}
{{- toYaml (merge (dict) .Values.podSecurityContext $standard) -}}
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
