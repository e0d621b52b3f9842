{{/*
What a program is told of the services it needs: option -> value, as YAML.
(dict "root" $ "needs" (list "kafka" "redis" "mysql" "bodies"))
*/}}
{{- define "fanline.connections" -}}
{{- $values := .root.Values -}}
{{- $options := dict -}}
{{- if has "kafka" .needs -}}
  {{- $kafka := $values.externalKafka -}}
  {{- $_ := set $options "kafka-brokers" $kafka.brokers -}}
  {{- if $kafka.sasl.mechanism -}}
    {{- $_ := set $options "kafka-user" $kafka.sasl.user -}}
    {{- $_ := set $options "kafka-password-file" "/etc/fanline/secrets/kafka/password" -}}
  {{- end -}}
  {{- $properties := list -}}
  {{- range $name, $value := include "fanline.kafkaProperties" .root | fromYaml -}}
    {{- $properties = append $properties (printf "%s=%s" $name $value) -}}
  {{- end -}}
  {{- with $properties }}{{ $_ := set $options "kafka-properties" . }}{{ end -}}
  {{- if $kafka.existingSecretProperties -}}
    {{- $_ := set $options "kafka-properties-file" "/etc/fanline/secrets/kafka-properties/kafka.properties" -}}
  {{- end -}}
{{- end -}}
{{- if has "redis" .needs -}}
  {{- $redis := $values.externalRedis -}}
  {{- $_ := set $options "redis" $redis.nodes -}}
  {{- with $redis.keyPrefix }}{{ $_ := set $options "redis-key-prefix" . }}{{ end -}}
  {{- with $redis.user }}{{ $_ := set $options "redis-user" . }}{{ end -}}
  {{- if $redis.existingSecret }}{{ $_ := set $options "redis-password-file" "/etc/fanline/secrets/redis/password" }}{{ end -}}
  {{- with $redis.sentinel.masterSet }}{{ $_ := set $options "redis-sentinel-master" . }}{{ end -}}
  {{- with $redis.sentinel.user }}{{ $_ := set $options "redis-sentinel-user" . }}{{ end -}}
  {{- if $redis.sentinel.existingSecret }}{{ $_ := set $options "redis-sentinel-password-file" "/etc/fanline/secrets/redis-sentinel/password" }}{{ end -}}
  {{- include "fanline.tlsOptions" (dict "options" $options "service" "redis" "tls" $redis.tls) -}}
{{- end -}}
{{- if has "mysql" .needs -}}
  {{- $database := $values.externalDatabase -}}
  {{- $_ := set $options "mysql-shards" $database.shards -}}
  {{- $_ := set $options "mysql-user" $database.user -}}
  {{- if $database.existingSecret }}{{ $_ := set $options "mysql-password-file" "/etc/fanline/secrets/mysql/password" }}{{ end -}}
  {{- include "fanline.tlsOptions" (dict "options" $options "service" "mysql" "tls" $database.tls) -}}
{{- end -}}
{{- if has "bodies" .needs -}}
  {{- $bodies := $values.api.bodies -}}
  {{- $_ := set $options "bodies-mysql" $bodies.mysql -}}
  {{- $_ := set $options "bodies-mysql-user" $bodies.user -}}
  {{- $_ := set $options "bodies-table" $bodies.table -}}
  {{- $_ := set $options "bodies-id-column" $bodies.idColumn -}}
  {{- $_ := set $options "bodies-columns" $bodies.columns -}}
  {{- if $bodies.existingSecret }}{{ $_ := set $options "bodies-mysql-password-file" "/etc/fanline/secrets/bodies-mysql/password" }}{{ end -}}
  {{- include "fanline.tlsOptions" (dict "options" $options "service" "bodies-mysql" "tls" $bodies.tls) -}}
{{- end -}}
{{- toYaml $options -}}
{{- end -}}

{{- define "fanline.tlsOptions" -}}
{{- $folder := printf "/etc/fanline/tls/%s" .service -}}
{{- if .tls.enabled -}}
  {{- $_ := set .options (printf "%s-tls-ca" .service) (printf "%s/ca.crt" $folder) -}}
  {{- if .tls.clientCertificate -}}
    {{- $_ := set .options (printf "%s-tls-cert" .service) (printf "%s/tls.crt" $folder) -}}
    {{- $_ := set .options (printf "%s-tls-key" .service) (printf "%s/tls.key" $folder) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* The librdkafka properties that the chart sets itself. */}}
{{- define "fanline.ownKafkaProperties" -}}
{{- $kafka := .Values.externalKafka -}}
{{- $own := dict -}}
{{- if or $kafka.sasl.mechanism $kafka.tls.enabled -}}
  {{- $sasl := ternary "SASL_" "" (not (empty $kafka.sasl.mechanism)) -}}
  {{- $_ := set $own "security.protocol" (printf "%s%s" $sasl (ternary "SSL" "PLAINTEXT" $kafka.tls.enabled)) -}}
{{- end -}}
{{- with $kafka.sasl.mechanism }}{{ $_ := set $own "sasl.mechanism" . }}{{ end -}}
{{- if and $kafka.tls.enabled $kafka.tls.existingSecret -}}
  {{- $_ := set $own "ssl.ca.location" "/etc/fanline/tls/kafka/ca.crt" -}}
  {{- if $kafka.tls.clientCertificate -}}
    {{- $_ := set $own "ssl.certificate.location" "/etc/fanline/tls/kafka/tls.crt" -}}
    {{- $_ := set $own "ssl.key.location" "/etc/fanline/tls/kafka/tls.key" -}}
  {{- end -}}
{{- end -}}
{{- toYaml $own -}}
{{- end -}}

{{/* These and the user's properties; numbers as written, not as 1e+06. */}}
{{- define "fanline.kafkaProperties" -}}
{{- $all := include "fanline.ownKafkaProperties" . | fromYaml -}}
{{- range $name, $value := .Values.externalKafka.extraProperties -}}
  {{- $_ := set $all $name (kindIs "string" $value | ternary $value (toJson $value)) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* The services that a role needs, including those that its values ask for. */}}
{{- define "fanline.needs" -}}
{{- if has .role (list "feedctl" "audit") -}}
  {{- toYaml (list "kafka" "redis" "mysql") -}}
{{- else -}}
  {{- $needs := (index (include "fanline.roles" .root | fromYaml) .role).needs -}}
  {{- if eq .role "api" -}}
    {{- if .root.Values.api.publish }}{{ $needs = append $needs "kafka" }}{{ end -}}
    {{- if .root.Values.api.bodies.mysql }}{{ $needs = append $needs "bodies" }}{{ end -}}
  {{- end -}}
  {{- toYaml $needs -}}
{{- end -}}
{{- end -}}

{{- define "fanline.roles" -}}
{{- .Files.Get "files/roles.yaml" -}}
{{- end -}}

{{/* All options of a daemon, as YAML: the chart's, then the user's. */}}
{{- define "fanline.options" -}}
{{- $root := .root -}}
{{- $role := index (include "fanline.roles" $root | fromYaml) .role -}}
{{- $options := include "fanline.connections" (dict "root" $root "needs" (include "fanline.needs" . | fromYamlArray)) | fromYaml -}}
{{- $_ := set $options "admin-listen" (printf "0.0.0.0:%v" $role.adminPort) -}}
{{- range $option, $topic := $role.topics }}{{ $_ := set $options $option (index $root.Values.topics $topic) }}{{ end -}}
{{- if eq .role "api" }}{{ $_ := set $options "listen" "0.0.0.0:8080" }}{{ end -}}
{{- range $option, $value := (index $root.Values .role).config }}{{ $_ := set $options $option $value }}{{ end -}}
{{- toYaml $options -}}
{{- end -}}

{{/* The same as the file that FANLINE_CONFIG names. Strings are taken literally there, so no escapes. */}}
{{- define "fanline.file" -}}
{{- range $option, $value := include "fanline.options" . | fromYaml }}
{{ $option }} = {{ include "fanline.toml" $value }}
{{- end }}
{{- end -}}

{{/* A list is written as on a command line: some options that hold several addresses are one text. */}}
{{- define "fanline.toml" -}}
{{- if kindIs "slice" . -}}
"{{ join "," . }}"
{{- else if kindIs "string" . -}}
{{- if contains "\"" . }}'{{ . }}'{{ else }}"{{ . }}"{{ end -}}
{{- else -}}
{{- toJson . -}}
{{- end -}}
{{- end -}}

{{/* feedctl's options as environment, since each of its commands knows others. `feedctl ranges` calls the pushers' group `group`. */}}
{{- define "fanline.feedctlEnvironment" -}}
{{- $options := include "fanline.connections" (dict "root" . "needs" (list "kafka" "redis" "mysql")) | fromYaml -}}
{{- range $option, $topic := dict "feed-topic" "feed" "tasks-topic" "tasks" "relation-events-topic" "relationEvents" -}}
  {{- $_ := set $options $option (index $.Values.topics $topic) -}}
{{- end -}}
{{- range $role := list "dispatcher" "pusher" "mirror" "reconciler" -}}
  {{- $_ := set $options (printf "%s-group" $role) (include "fanline.group" (dict "root" $ "role" $role)) -}}
{{- end -}}
{{- $_ := set $options "group" (get $options "pusher-group") -}}
{{- range $option, $value := .Values.feedctl.config }}{{ $_ := set $options $option $value }}{{ end -}}
{{- range $option, $value := $options }}
FANLINE_{{ $option | replace "-" "_" | upper }}: {{ if kindIs "slice" $value }}{{ join "," $value | quote }}{{ else if kindIs "string" $value }}{{ $value | quote }}{{ else }}{{ toJson $value | quote }}{{ end }}
{{- end }}
{{- end -}}
