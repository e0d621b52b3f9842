#!/usr/bin/python3
"""Takes the chart's guards away, one after the other, in a copy: a suite of helm/fanline/tests must fail for each.
`python3 -m tests.helm.mutants` prints what survived; about two minutes."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.helm.chart import CHART, tool

# (file below templates/, what stands there, what stands there instead)
GUARDS = [
    ("refusals.yaml", "if not $kafka.brokers", "if false"),
    ("refusals.yaml", "if not $redis.nodes", "if false"),
    ("refusals.yaml", "if not $database.shards", "if false"),
    ("refusals.yaml", "if and $kafka.sasl.mechanism (not", "if and false (not"),
    ("refusals.yaml", "if and (not $kafka.sasl.mechanism) (or", "if and false (or"),
    ("refusals.yaml", "if and $kafka.tls.enabled (not $kafka.tls.existingSecret) (not $ca)", "if false"),
    ("refusals.yaml", "(not $kafka.tls.existingSecret) (not $ca)", "(not $kafka.tls.existingSecret)"),
    ("refusals.yaml", "if and $tls.enabled (not $tls.existingSecret)", "if false"),
    ("refusals.yaml", "if and (not $tls.enabled) (or", "if and false (or"),
    ("refusals.yaml", "if and (not $redis.sentinel.masterSet) (or", "if and false (or"),
    ("refusals.yaml", "if and $redis.user (not $redis.existingSecret)", "if false"),
    ("refusals.yaml", 'if regexMatch "password|', 'if regexMatch "pass-word|'),
    ("refusals.yaml", "else if hasKey $own $name", "else if false"),
    ("refusals.yaml", 'else if regexMatch "[,', 'else if regexMatch "[;'),
    ("refusals.yaml", "if and $bodies.mysql (not", "if and false (not"),
    ("refusals.yaml", "if and (not $bodies.mysql) (or", "if and false (or"),
    ("refusals.yaml", "if and $hpa $keda", "if false"),
    ("refusals.yaml", "(gt (int64 $most) (int64 $partitions))", "(ge (int64 $most) (int64 $partitions))"),
    ("refusals.yaml", "(gt (int64 $most) (int64 $partitions))", "false"),
    ("refusals.yaml", '(not (kindIs "string" $partitions))', "true"),
    ("refusals.yaml", "(not (regexMatch \"^(1|2|4|", "(and false (regexMatch \"^(1|2|4|"),
    ("refusals.yaml", "|512|1024)$", "|512)$"),
    ("refusals.yaml", "|512|1024)$", "|512|1024|2048)$"),
    ("refusals.yaml", "$most = $values.keda.maxReplicaCount", "$most = $values.replicaCount"),
    ("refusals.yaml", "$most = $values.hpa.maxReplicas", "$most = $values.replicaCount"),
    ("refusals.yaml", "(gt (int64 $values.keda.minReplicaCount) (int64 $values.keda.maxReplicaCount))", "false"),
    ("refusals.yaml", "(gt (int64 $values.hpa.minReplicas) (int64 $values.hpa.maxReplicas))", "false"),
    ("refusals.yaml", "if lt (include \"fanline.grace\"", "if and false (include \"fanline.grace\""),
    ("refusals.yaml", "if and $values.pdb.create $two", "if false"),
    ("refusals.yaml", 'if hasPrefix "FANLINE_" .name', "if false"),
    ("refusals.yaml", "if and $role $values.image.tag $values.image.digest", "if false"),
    ("refusals.yaml", "if and .Values.metrics.podMonitor.enabled .Values.metrics.serviceMonitor.enabled", "if false"),
    ("refusals.yaml", "if and .Values.networkPolicy.enabled $redis.sentinel.masterSet", "if and false"),
    ("_duration.tpl", '"m" 60000000', '"m" 1000000'),
    ("_duration.tpl", '"h" 3600000000', '"h" 60000000'),
    ("_duration.tpl", "999999", "0"),
    ("_duration.tpl", "add $drain 5", "add $drain 0"),
    ("_duration.tpl", "(default 0 $values.preStopSleepSeconds)", ""),
    ("_config.tpl", 'toJson . -}}\n{{- end -}}\n{{- end -}}\n\n{{/* feedctl', '. -}}\n{{- end -}}\n{{- end -}}\n\n{{/* feedctl'),
    ("_config.tpl", 'if .root.Values.api.publish', "if true"),
    ("_config.tpl", 'if eq .role "reconciler"', "if false"),
    ("_config.tpl", '(dict "root" $ "role" $role)', '(dict "root" $ "role" "pusher")'),
    ("_config.tpl", 'list "dispatcher" "pusher" "mirror" "reconciler"', 'list "dispatcher" "pusher" "mirror"'),
    ("_config.tpl", 'get $options "pusher-group"', 'get $options "dispatcher-group"'),
    ("refusals.yaml", "(lt $deadline $migration)", "false"),
    ("refusals.yaml", "(lt $deadline $migration)", "(le $deadline $migration)"),
    ("refusals.yaml", "if and .Values.feedctl.enabled (lt", "if and true (lt"),
    ("_duration.tpl", "mul $statement (len .Values.externalDatabase.shards)", "mul $statement 1"),
    ("_duration.tpl", 'dig "migration-timeout" "1h" .Values.feedctl.config', 'print "1h"'),
    ("_duration.tpl", '"fanline.migrationSeconds" . | int64) 600', '"fanline.migrationSeconds" . | int64) 0'),
    ("_duration.tpl", ".Values.feedctl.activeDeadlineSeconds | default", '"" | default'),
    ("_pod.tpl", "merge $always $context", "merge $context $always"),
    ("_pod.tpl", "if hasKey $role $key", "if false"),
    ("_pod.tpl", "if $image.digest", "if false"),
    ("_pod.tpl", "coalesce $image.tag", "coalesce"),
    ("deployment.yaml", "if not (or $values.hpa.enabled", "if not (or false"),
    ("deployment.yaml", '(dig "keda" "enabled" false $values)', "false"),
    ("feedctl.yaml", "pre-install,pre-upgrade", "post-install"),
    ("feedctl.yaml", 'ternary "default" (include "fanline.serviceAccountName" .)', "ternary \"other\" \"other\""),
    ("keda.yaml", '(default "" .groupSuffix)', '""'),
    ("keda.yaml", "metricType: Value", "metricType: AverageValue"),
    ("keda.yaml", 'include "fanline.group" $it', 'print "fanline-pusher"'),
    ("keda.yaml", "$keda.kafka.lagThreshold | int64", "$keda.kafka.lagThreshold"),
    ("monitors.yaml", "operator: NotIn", "operator: In"),
    ("monitors.yaml", "jobLabel: app.kubernetes.io/part-of", "jobLabel: app.kubernetes.io/name"),
    ("service.yaml", "publishNotReadyAddresses: true", "publishNotReadyAddresses: false"),
    ("service.yaml", "type: ClusterIP", "type: LoadBalancer"),
]


def survives(file, there, instead):
    with tempfile.TemporaryDirectory() as folder:
        chart = Path(folder, "fanline")
        shutil.copytree(CHART, chart)
        path = chart / "templates" / file
        text = path.read_text(encoding="utf-8")
        assert there in text, f"{file}: {there} is not there any more"
        path.write_text(text.replace(there, instead), encoding="utf-8")
        return subprocess.run([tool("helm-unittest"), "--strict", chart], capture_output=True, check=False).returncode == 0


def main():
    survivors = [guard for guard in GUARDS if survives(*guard)]
    for guard in survivors:
        print("survived: {}: {} -> {}".format(*guard))
    print(f"{len(GUARDS) - len(survivors)} of {len(GUARDS)} guards of the chart are held")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
