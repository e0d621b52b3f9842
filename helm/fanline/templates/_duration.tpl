{{/* Seconds of a DURATION as the programs write it (500ms, 20s, 1m), rounded up. */}}
{{- define "fanline.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- $micros := get (dict "us" 1 "ms" 1000 "s" 1000000 "m" 60000000 "h" 3600000000) $unit | int64 -}}
{{- div (add (mul $number $micros) 999999) 1000000 -}}
{{- end -}}

{{/* The limit of a stop: end of traffic, work in flight, leaving the group. (docs/decisions/0026) */}}
{{- define "fanline.stopSeconds" -}}
{{- $values := index .root.Values .role -}}
{{- $drain := include "fanline.seconds" (dig "drain-limit" "20s" $values.config) | int64 -}}
{{- add $drain 5 (default 0 $values.preStopSleepSeconds) -}}
{{- end -}}

{{/* terminationGracePeriodSeconds: that, and 5 s for the kubelet and the exit itself. */}}
{{- define "fanline.grace" -}}
{{- $values := index .root.Values .role -}}
{{- $values.terminationGracePeriodSeconds | default (add (include "fanline.stopSeconds" . | int64) 5) | int64 -}}
{{- end -}}

{{/* The limit of altering tables: feedctl goes from shard to shard. (docs/decisions/0033) */}}
{{- define "fanline.migrationSeconds" -}}
{{- $statement := include "fanline.seconds" (dig "migration-timeout" "1h" .Values.feedctl.config) | int64 -}}
{{- mul $statement (len .Values.externalDatabase.shards) -}}
{{- end -}}

{{/* activeDeadlineSeconds of the setup: that, and ten minutes for tries that find a service away. */}}
{{- define "fanline.setupDeadline" -}}
{{- .Values.feedctl.activeDeadlineSeconds | default (add (include "fanline.migrationSeconds" . | int64) 600) | int64 -}}
{{- end -}}
