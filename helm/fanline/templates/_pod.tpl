{{/* A role's own setting if it has one, else the one for all pods. (list $root $role $key) */}}
{{- define "fanline.setting" -}}
{{- $root := index . 0 -}}{{- $role := index $root.Values (index . 1) -}}{{- $key := index . 2 -}}
{{- if hasKey $role $key }}{{ toYaml (index $role $key) }}{{ else }}{{ toYaml (index $root.Values $key) }}{{ end -}}
{{- end -}}

{{- define "fanline.image" -}}
{{- $image := (index .root.Values .role).image -}}
{{- $repository := $image.repository -}}
{{- with .root.Values.image.registry }}{{ $repository = printf "%s/%s" (trimSuffix "/" .) $repository }}{{ end -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ coalesce $image.tag .root.Values.image.tag .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "fanline.podMetadata" -}}
labels:
  {{- include "fanline.labels" . | nindent 2 }}
  {{- with include "fanline.setting" (list .root .role "podLabels") | fromYaml }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $own := include "fanline.setting" (list .root .role "podAnnotations") | fromYaml }}
{{- with merge (deepCopy (default dict .annotations)) $own .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What all our pods share except containers; what is set last cannot be overridden. */}}
{{- define "fanline.podSettings" -}}
serviceAccountName: {{ .serviceAccountName | default (include "fanline.serviceAccountName" .root) }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- $context := include "fanline.setting" (list .root .role "podSecurityContext") | fromYaml }}
  {{- $always := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
  {{- merge $always $context | toYaml | nindent 2 }}
{{- range $key := list "nodeSelector" "affinity" "tolerations" }}
{{- $setting := include "fanline.setting" (list $.root $.role $key) }}
{{- if not (has $setting (list "{}" "[]")) }}
{{ $key }}:
  {{- $setting | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "fanline.setting" (list .root .role "priorityClassName") | trimAll "\"" }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "fanline.topologySpread" -}}
{{- $given := include "fanline.setting" (list .root .role "topologySpreadConstraints") | fromYamlArray -}}
topologySpreadConstraints:
{{- if $given }}
  {{- toYaml $given | nindent 2 }}
{{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "fanline.selectorLabels" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end -}}

{{- define "fanline.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/*
The Secrets a role mounts, as a YAML list of {name, secret, path, items}. Files are found by the paths
that fanline.connections writes.
*/}}
{{- define "fanline.secrets" -}}
{{- $values := .root.Values -}}
{{- $needs := include "fanline.needs" . | fromYamlArray -}}
{{- $services := list
  (dict "need" "kafka" "name" "kafka" "secret" (ternary $values.externalKafka.sasl.existingSecret "" (not (empty $values.externalKafka.sasl.mechanism))) "key" $values.externalKafka.sasl.existingSecretPasswordKey "tls" $values.externalKafka.tls)
  (dict "need" "kafka" "name" "kafka-properties" "secret" $values.externalKafka.existingSecretProperties "key" "kafka.properties" "file" "kafka.properties")
  (dict "need" "redis" "name" "redis" "secret" $values.externalRedis.existingSecret "key" $values.externalRedis.existingSecretPasswordKey "tls" $values.externalRedis.tls)
  (dict "need" "redis" "name" "redis-sentinel" "secret" $values.externalRedis.sentinel.existingSecret "key" $values.externalRedis.sentinel.existingSecretPasswordKey)
  (dict "need" "mysql" "name" "mysql" "secret" $values.externalDatabase.existingSecret "key" $values.externalDatabase.existingSecretPasswordKey "tls" $values.externalDatabase.tls)
  (dict "need" "bodies" "name" "bodies-mysql" "secret" $values.api.bodies.existingSecret "key" $values.api.bodies.existingSecretPasswordKey "tls" $values.api.bodies.tls) -}}
{{- $mounts := list -}}
{{- range $services -}}
  {{- if has .need $needs -}}
    {{- if .secret -}}
      {{- $mounts = append $mounts (dict "name" (printf "secret-%s" .name) "secret" .secret "path" (printf "/etc/fanline/secrets/%s" .name) "items" (list (dict "key" .key "path" (default "password" .file)))) -}}
    {{- end -}}
    {{- if and .tls .tls.enabled .tls.existingSecret -}}
      {{- $files := list "ca.crt" -}}
      {{- if .tls.clientCertificate }}{{ $files = concat $files (list "tls.crt" "tls.key") }}{{ end -}}
      {{- $items := list -}}
      {{- range $files }}{{ $items = append $items (dict "key" . "path" .) }}{{ end -}}
      {{- $mounts = append $mounts (dict "name" (printf "tls-%s" .name) "secret" .tls.existingSecret "path" (printf "/etc/fanline/tls/%s" .name) "items" $items) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toYaml $mounts -}}
{{- end -}}

{{- define "fanline.volumes" -}}
{{- range include "fanline.secrets" . | fromYamlArray }}
- name: {{ .name }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      {{- toYaml .items | nindent 6 }}
{{- end }}
{{- with include "fanline.setting" (list .root .role "extraVolumes") | fromYamlArray }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "fanline.volumeMounts" -}}
{{- range include "fanline.secrets" . | fromYamlArray }}
- name: {{ .name }}
  mountPath: {{ .path }}
  readOnly: true
{{- end }}
{{- with include "fanline.setting" (list .root .role "extraVolumeMounts") | fromYamlArray }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A container of feedctl: (dict "root" $ "role" "feedctl" "args" (list) "configMap" "..." "resources" (dict)) */}}
{{- define "fanline.feedctlContainer" }}
image: {{ include "fanline.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command:
  - /usr/bin/feedctl
  {{- toYaml .args | nindent 2 }}
envFrom:
  - configMapRef:
      name: {{ .configMap }}
{{- with include "fanline.setting" (list .root "feedctl" "extraEnv") | fromYamlArray }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "fanline.containerSecurity" . | nindent 2 }}
resources:
  {{- toYaml (.resources | default .root.Values.feedctl.resources) | nindent 2 }}
volumeMounts:
  {{- include "fanline.volumeMounts" . | trim | default "[]" | nindent 2 }}
{{- end }}
