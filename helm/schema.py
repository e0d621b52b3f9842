"""values.schema.json: what values.yaml may hold, and nothing else. `<role>.config` is what the programs'
own --help prints, but for what the chart sets by other values or what would put a secret into a ConfigMap."""

from helm.options import options_of

ROLES = ("dispatcher", "pusher", "mirror", "reconciler", "api")
CONSUMERS = ROLES[:4]

# The rest of the values says these; a name that ends with '-' is a family.
OF_THE_CHART = ("admin-listen", "listen", "kafka-", "redis-user", "redis-password", "redis-sentinel-",
                "redis-tls-", "redis-key-prefix", "mysql-shards", "mysql-user", "mysql-password",
                "mysql-tls-", "bodies-mysql", "bodies-table", "bodies-id-column", "bodies-columns",
                "feed-topic", "tasks-topic", "relation-events-topic")

STRING = {"type": "string"}
NAME = {"type": "string", "minLength": 1}
BOOL = {"type": "boolean"}
COUNT = {"type": "integer", "minimum": 0}
POSITIVE = {"type": "integer", "minimum": 1}
TEXTS = {"type": "object", "additionalProperties": STRING}
DURATION = {"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"}
PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
SECONDS_OR_EMPTY = {"anyOf": [{"const": ""}, POSITIVE]}
PERCENT_OR_COUNT = {"anyOf": [{"const": ""}, COUNT, {"type": "string", "pattern": "^[0-9]+%$"}]}
SHARD = {"type": "string", "pattern": "^tcp://[^/:,]+:[0-9]+/[^/,]+$"}
ADDRESS = {"type": "string", "pattern": "^([^:,]+|\\[[0-9a-fA-F:]+\\]):[0-9]+$"}
# What Kubernetes itself defines is for Kubernetes to check; helm's tests do, too.
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}


def shape(**properties):
    return {"type": "object", "additionalProperties": False, "properties": properties}


def some(item):
    return {"type": "array", "items": item}


def secret(**more):
    return shape(existingSecret=STRING, existingSecretPasswordKey=NAME, user=STRING, **more)


def tls():
    return shape(enabled=BOOL, existingSecret=STRING, clientCertificate=BOOL)


def of_the_chart(name):
    return any(name.startswith(each) if each.endswith("-") else
               name in (each, f"{each}-file") or (each == "bodies-mysql" and name.startswith(each))
               for each in OF_THE_CHART) or name == "redis"


def config(*tables):
    """What a user may say of these option tables."""
    options = {name: option for table in tables for name, option in table.items()}
    return shape(**{name: options[name].schema() for name in sorted(options) if not of_the_chart(name)})


def per_pod():
    """What stands at the top for all roles, and may stand in a role."""
    return dict(podAnnotations=TEXTS, podLabels=TEXTS, nodeSelector=TEXTS, tolerations=OBJECTS,
                affinity=OBJECT, topologySpreadConstraints=OBJECTS, priorityClassName=STRING,
                extraEnv=some({"type": "object", "required": ["name"], "additionalProperties": False,
                               "properties": {"name": NAME, "value": STRING, "valueFrom": OBJECT}}),
                extraVolumes=OBJECTS, extraVolumeMounts=OBJECTS,
                podSecurityContext=OBJECT)


def probes():
    probe = shape(initialDelaySeconds=COUNT, periodSeconds=POSITIVE, timeoutSeconds=POSITIVE,
                  failureThreshold=POSITIVE, successThreshold=POSITIVE)
    return dict(startupProbe=probe, livenessProbe=probe, readinessProbe=probe)


def image():
    return shape(repository=NAME, tag=STRING,
                 digest={"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"})


def role(name, options):
    of_all = dict(
        enabled=BOOL, replicaCount=COUNT, image=image(), config=config(options),
        terminationGracePeriodSeconds=SECONDS_OR_EMPTY, updateStrategy=OBJECT, resources=OBJECT,
        pdb=shape(create=BOOL, minAvailable=PERCENT_OR_COUNT, maxUnavailable=PERCENT_OR_COUNT),
        hpa=shape(enabled=BOOL, minReplicas=POSITIVE, maxReplicas=POSITIVE,
                  targetCPUUtilizationPercentage=POSITIVE, behavior=OBJECT),
        **per_pod(), **probes())
    if name == "api":
        return shape(publish=BOOL, preStopSleepSeconds=COUNT,
                     bodies=secret(mysql={"anyOf": [{"const": ""}, SHARD]}, tls=tls(), table=STRING,
                                   idColumn=NAME, columns=some(NAME)),
                     service=shape(port=PORT, annotations=TEXTS), **of_all)
    # At least one: a mirror's work also waits on shards, where no lag shows it, and a takeover takes time.
    return shape(keda=shape(enabled=BOOL, minReplicaCount=POSITIVE, maxReplicaCount=POSITIVE,
                            pollingInterval=POSITIVE, cooldownPeriod=COUNT,
                            kafka=shape(lagThreshold=POSITIVE),
                            prometheus=shape(serverAddress={"type": "string", "pattern": "^(https?://.+)?$"},
                                             lagSeconds=POSITIVE),
                            behavior=OBJECT), **of_all)


def monitor():
    return shape(enabled=BOOL, labels=TEXTS, interval=DURATION, scrapeTimeout=DURATION,
                 relabelings=OBJECTS, metricRelabelings=OBJECTS)


def schema(programs):
    """`programs`: the folder with the programs."""
    roles = {name: role(name, options_of(programs / f"fanline-{name}")) for name in ROLES}
    feedctl = shape(
        enabled=BOOL, image=image(),
        config=config(options_of(programs / "feedctl", "topics", "create"), options_of(programs / "feedctl", "init")),
        backoffLimit=COUNT, activeDeadlineSeconds=SECONDS_OR_EMPTY, resources=OBJECT,
        cronJobs={"type": "object", "propertyNames": {"pattern": "^[a-z]([a-z0-9-]{0,9}[a-z0-9])?$"},
                  "additionalProperties": {"type": "object", "additionalProperties": False,
                                           "required": ["args", "schedule", "suspend"],
                                           "properties": dict(args=some(NAME), schedule=NAME, suspend=BOOL)}},
        **per_pod())
    watch = {name: option for name, option in options_of(programs / "feedctl", "audit").items()
             if name.startswith("watch-")}
    audit = shape(enabled=BOOL, config=config(watch), resources=OBJECT)
    password = secret()["properties"]
    return {"$schema": "http://json-schema.org/draft-07/schema#", **shape(
        **{"global": OBJECT},  # what a parent chart hands to all its parts
        nameOverride=STRING, fullnameOverride=STRING, commonLabels=TEXTS, commonAnnotations=TEXTS,
        image=shape(registry=STRING, tag=STRING, pullPolicy={"enum": ["Always", "IfNotPresent", "Never"]},
                    pullSecrets=some(NAME)),
        externalKafka=shape(
            brokers=some(ADDRESS),
            sasl=shape(mechanism={"enum": ["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]}, **password),
            tls=tls(), existingSecretProperties=STRING,
            extraProperties={"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}),
        externalRedis=secret(nodes=some(ADDRESS), keyPrefix=STRING, sentinel=secret(masterSet=STRING), tls=tls()),
        externalDatabase=secret(shards=some(SHARD), tls=tls()),
        topics=shape(feed=NAME, tasks=NAME, relationEvents=NAME),
        **per_pod(), **probes(),
        serviceAccount=shape(create=BOOL, name=STRING, annotations=TEXTS),
        **roles, feedctl=feedctl, audit=audit,
        networkPolicy=shape(enabled=BOOL, api=shape(**{"from": OBJECTS}), metrics=shape(**{"from": OBJECTS}),
                            extraPorts=some(PORT), extraEgress=OBJECTS, extraIngress=OBJECTS),
        metrics=shape(podMonitor=monitor(), serviceMonitor=monitor(),
                      prometheusRule=shape(enabled=BOOL, labels=TEXTS),
                      dashboards=shape(enabled=BOOL, labels=TEXTS, annotations=TEXTS)),
        extraDeploy=OBJECTS)}
