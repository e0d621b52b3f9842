{{- define "fanline.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* 40 characters leave room for -reconciler and for what Kubernetes appends to a pod's name. */}}
{{- define "fanline.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "fanline.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "fanline.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of the objects of a daemon or of feedctl. (dict "root" $ "role" "pusher") */}}
{{- define "fanline.roleName" -}}
{{- printf "%s-%s" (include "fanline.fullname" .root) .role -}}
{{- end -}}

{{- define "fanline.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "fanline.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The labels that never change, so that a Deployment can be upgraded. */}}
{{- define "fanline.selectorLabels" -}}
app.kubernetes.io/name: {{ include "fanline.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .role }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "fanline.labels" -}}
{{ include "fanline.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: fanline
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* metadata of an object: (dict "root" $ "role" "pusher" "name" "..." "annotations" (dict) "labels" (dict)) */}}
{{- define "fanline.metadata" -}}
name: {{ .name | default (include "fanline.roleName" .) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "fanline.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (deepCopy (default dict .annotations)) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "fanline.topic" -}}
{{- if eq .topic "relationLog" -}}relation-log{{- else -}}{{ index .root.Values.topics .topic }}{{- end -}}
{{- end -}}

{{/* How many pods there may be: (dict "root" $ "sharded" true "least" 2 "most" 8) */}}
{{- define "fanline.most" -}}
{{- if .sharded }}{{ max .least (min .most (len .root.Values.externalDatabase.shards)) }}{{ else }}{{ .most | int64 }}{{ end -}}
{{- end -}}

{{/* The consumer group of a role. */}}
{{- define "fanline.group" -}}
{{- dig "group" (printf "fanline-%s" .role) (index .root.Values .role).config -}}
{{- end -}}
