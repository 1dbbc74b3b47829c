"""Checks the manifests of containers/kubernetes against docs/KUBERNETES.md: every document conforms to the schemas of
Kubernetes, every workload is restricted, references resolve, each secret is given only to the workload that needs it,
and every setting is documented. Prints a line for each violation and exits with 1 if there is any. Then violates each
rule in turn and expects a report, which proves that the checks work.

Usage: kubernetes.py REPOSITORY FILE…   The files are the output of kustomize, or its inputs."""

import copy
import ipaddress
import pathlib
import re
import sys

import kubernetes_validate
import yaml

# The oldest supported version, and the newest one with installed schemas.
VERSIONS = ("1.30.0", "1.37.0")
# Kinds that Kubernetes has no schema for: those of extensions, and the file of kustomize.
EXTENSION_KINDS = {"ServiceMonitor"}
KUSTOMIZATION = "Kustomization"
# The workload that may know each secret.
SECRETS = {"bahay": {"bahay-server"}, "bahay-migrate": {"bahay-owner"}}
# The digest that identifies an image.
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# The maximum number of addresses in a trusted proxy network, each of which can forge the addresses of players.
TRUSTED_MAX = 256
PRIVATE = {"10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}


def violations(documents, sample):
    found = {}
    for document in documents:
        name = f"{document['kind']} {document.get('metadata', {}).get('name')}"
        if document["kind"] == KUSTOMIZATION:
            for generator in document.get("configMapGenerator", []):
                for setting in generator["literals"]:
                    name, _, value = setting.partition("=")
                    yield from check_documented(name, sample)
                    yield from check_trusted_proxies(name, value)
            for image in document.get("images", []):
                if not DIGEST.fullmatch(str(image.get("digest"))):
                    yield f"image {image['name']}: has no digest"
            continue
        found.setdefault(document["kind"], []).append(document)
        if document["kind"] == "Secret":
            yield f"{name}: a secret is stored in a file"
        if document["kind"] == "ConfigMap":
            for setting, value in document["data"].items():
                yield from check_documented(setting, sample)
                yield from check_trusted_proxies(setting, value)
        if document["kind"] in ("Deployment", "Job"):
            yield from check_pod(document, name)
    one = {kind: those[0] for kind, those in found.items()}
    wanted = {"Deployment", "Job", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler",
              "NetworkPolicy", "ServiceMonitor", "Ingress", "Namespace"}
    if not wanted <= set(one):
        yield f"missing: {', '.join(sorted(wanted - set(one)))}"
        return
    yield from check_references(one["Deployment"], found)
    yield from check_traffic(one["Deployment"], found["NetworkPolicy"])
    if one["Namespace"]["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
        yield "Namespace: admits unrestricted pods"


def check_schemas(documents):
    """Yields violations of Kubernetes' own schemas."""
    for document in documents:
        if document["kind"] in (KUSTOMIZATION, *EXTENSION_KINDS):
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                yield f"{document['kind']}, in Kubernetes {version}: {error.message}"
            except kubernetes_validate.SchemaNotFoundError:
                yield f"{document['kind']}: Kubernetes {version} has no schema of this kind"


def check_documented(setting, sample):
    if not re.search(f"^#?{setting}=", sample, re.MULTILINE):
        yield f".env.sample: does not document {setting}"


def check_trusted_proxies(setting, value):
    """Yields trusted proxy networks that are too large."""
    if setting == "BAHAY_TRUSTED_PROXIES":
        for network in value.split(","):
            if ipaddress.ip_network(network.strip()).num_addresses > TRUSTED_MAX:
                yield f"{setting}: trusts all of {network}"


def check_pod(document, name):
    """Yields excess privileges of a pod."""
    pod = document["spec"]["template"]["spec"]
    context = pod.get("securityContext", {})
    if context.get("runAsNonRoot") is not True or not context.get("runAsUser"):
        yield f"{name}: may run as root"
    if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        yield f"{name}: may make any system call"
    if pod.get("automountServiceAccountToken") is not False:
        yield f"{name}: is given a token of the cluster"
    for key in ("hostNetwork", "hostPID", "hostIPC", "volumes"):
        if key in pod:
            yield f"{name}: has {key}"
    for container in pod["containers"]:
        _, tagged, digest = container["image"].partition("@")
        if (tagged or ":" in container["image"]) and not DIGEST.fullmatch(digest):
            yield f"{name}: its image has no digest"
        context = container.get("securityContext", {})
        if context.get("allowPrivilegeEscalation") is not False:
            yield f"{name}: may escalate its privileges"
        if context.get("readOnlyRootFilesystem") is not True:
            yield f"{name}: has a writable root file system"
        if context.get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{name}: has capabilities"
        if "memory" not in container.get("resources", {}).get("limits", {}):
            yield f"{name}: has no memory limit"
        sources = container.get("envFrom", [])
        known = {source["secretRef"]["name"] for source in sources if "secretRef" in source}
        if known != SECRETS[document["metadata"]["name"]]:
            yield f"{name}: is given {', '.join(sorted(known)) or 'no secret'}"
        if "env" in container:
            yield f"{name}: has variables besides the settings and its secret"


def check_references(deployment, found):
    """Yields references that do not resolve, and gaps in the server's lifecycle."""
    pod = deployment["spec"]["template"]
    labels = pod["metadata"]["labels"]
    server = pod["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in server["ports"]}
    if not matches(deployment["spec"]["selector"]["matchLabels"], labels):
        yield "Deployment: does not select its own pods"
    services = {service["metadata"]["name"]: service["spec"] for service in found["Service"]}
    for name, service in services.items():
        if not matches(service["selector"], labels):
            yield f"Service {name}: selects no server"
        for port in service["ports"]:
            if port["targetPort"] not in ports:
                yield f"Service {name}: servers have no port {port['targetPort']}"
    for budget in found["PodDisruptionBudget"]:
        if not matches(budget["spec"]["selector"]["matchLabels"], labels):
            yield "PodDisruptionBudget: selects no server"
    for scaler in found["HorizontalPodAutoscaler"]:
        if scaler["spec"]["scaleTargetRef"]["name"] != deployment["metadata"]["name"]:
            yield "HorizontalPodAutoscaler: scales another workload"
        if scaler["spec"]["minReplicas"] < 2:
            yield "HorizontalPodAutoscaler: permits fewer than two servers"
        if "replicas" in deployment["spec"]:
            yield "Deployment: sets the replicas, which the autoscaler controls"
    for ingress in found["Ingress"]:
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                named = path["backend"]["service"]
                known = {port["name"] for port in services.get(named["name"], {"ports": []})["ports"]}
                if named["port"]["name"] not in known:
                    yield f"Ingress: there is no {named['name']} with {named['port']['name']}"
        if not ingress["spec"].get("tls"):
            yield "Ingress: has no TLS"
    for monitor in found["ServiceMonitor"]:
        headed = [service for service in found["Service"]
                  if matches(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"])]
        known = {port["name"] for service in headed for port in service["spec"]["ports"]}
        for end in monitor["spec"]["endpoints"]:
            if end["port"] not in known or end["path"] != "/metrics":
                yield "ServiceMonitor: selects no metrics port"
    asked = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for probe, path in asked.items():
        got = server.get(probe, {}).get("httpGet", {})
        if (got.get("path"), got.get("port")) != (path, "probes"):
            yield f"Deployment: its {probe} does not use {path} on the probe port"
    pause = server.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    if not pause or pod["spec"].get("terminationGracePeriodSeconds", 30) < pause + 30:
        yield "Deployment: a stopping server still receives players, or is killed before it has shut down"
    rolling = deployment["spec"]["strategy"].get("rollingUpdate", {})
    if rolling.get("maxUnavailable") != 0:
        yield "Deployment: stops a server before another one is ready"
    spread = {one["topologyKey"] for one in pod["spec"].get("topologySpreadConstraints", [])}
    if not {"topology.kubernetes.io/zone", "kubernetes.io/hostname"} <= spread:
        yield "Deployment: may run in a single zone or on a single node"


def check_traffic(deployment, policies):
    """Yields permitted network traffic that is not needed."""
    closed = [policy["spec"] for policy in policies
              if set(policy["spec"]) == {"podSelector", "policyTypes"}
              and set(policy["spec"]["policyTypes"]) == {"Ingress", "Egress"}]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    if not any(matches(policy["podSelector"]["matchLabels"], labels) for policy in closed):
        yield "NetworkPolicy: other traffic is not denied"
    for policy in policies:
        name = policy["metadata"]["name"]
        for way in policy["spec"].get("ingress", []):
            if not way.get("from") or not way.get("ports"):
                yield f"NetworkPolicy {name}: admits any source or port"
        for way in policy["spec"].get("egress", []):
            if not way.get("to") or not way.get("ports"):
                yield f"NetworkPolicy {name}: permits any destination or port"
            for block in (end["ipBlock"] for end in way.get("to", []) if "ipBlock" in end):
                if block["cidr"] == "0.0.0.0/0" and not PRIVATE <= set(block.get("except", [])):
                    yield f"NetworkPolicy {name}: permits private networks"


def matches(selector, labels):
    return bool(selector) and selector.items() <= labels.items()


def break_rules(documents, sample):
    """Yields a description and the documents of each violation that must be reported."""
    def without(kind, *path, name=None):
        others = copy.deepcopy(documents)
        for document in others:
            if document["kind"] != kind or name not in (None, document["metadata"]["name"]):
                continue
            *way, last = path
            for key in way:
                document = document[key]
            del document[last]
        return others, sample

    pod = ("spec", "template", "spec")
    for kind in ("Deployment", "Job"):
        for key in ("securityContext", "automountServiceAccountToken"):
            yield f"{kind} without {key}", without(kind, *pod, key)
        for key in ("securityContext", "resources", "envFrom"):
            yield f"{kind} without {key} of its container", without(kind, *pod, "containers", 0, key)
        for key in ("allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities"):
            path = (*pod, "containers", 0, "securityContext", key)
            yield f"{kind} without {key}", without(kind, *path)
        for key in ("runAsNonRoot", "seccompProfile"):
            yield f"{kind} without {key}", without(kind, *pod, "securityContext", key)
    for key in ("startupProbe", "livenessProbe", "readinessProbe", "lifecycle"):
        yield f"a server without {key}", without("Deployment", *pod, "containers", 0, key)
    for key in ("terminationGracePeriodSeconds", "topologySpreadConstraints"):
        yield f"a server without {key}", without("Deployment", *pod, key)
    yield "stopping servers first", without("Deployment", "spec", "strategy", "rollingUpdate")
    yield "players without TLS", without("Ingress", "spec", "tls")
    yield "no default denial", without("NetworkPolicy", "spec", "policyTypes", name="bahay-nothing")
    yield "any source permitted", without("NetworkPolicy", "spec", "ingress", 0, "from", name="bahay-players")
    yield "any destination port permitted", without("NetworkPolicy", "spec", "egress", 0, "ports", name="bahay-data")
    block = ("spec", "egress", 0, "to", 0, "ipBlock", "except")
    yield "private networks permitted", without("NetworkPolicy", *block, name="bahay-issuers")
    for kind in ("PodDisruptionBudget", "HorizontalPodAutoscaler", "ServiceMonitor", "Namespace"):
        left = [document for document in documents if document["kind"] != kind]
        yield f"no {kind}", (left, sample)
    yield "an undocumented setting", (documents, sample.replace("BAHAY_LISTEN=", "NOTHING="))
    astray = copy.deepcopy(documents)
    for document in astray:
        if document["kind"] == "Service":
            document["spec"]["selector"] = {"app.kubernetes.io/name": "bahay-server"}
    yield "a service that selects no pod", (astray, sample)
    wide = copy.deepcopy(documents)
    trusted = "BAHAY_TRUSTED_PROXIES"
    for document in wide:
        if document["kind"] == "ConfigMap" and trusted in document["data"]:
            document["data"][trusted] = "10.0.0.0/8"
        for generator in document.get("configMapGenerator", []):
            generator["literals"] = [f"{trusted}=10.0.0.0/8" if setting.startswith(trusted) else setting
                                     for setting in generator["literals"]]
    yield "a trusted network that is too large", (wide, sample)
    by_version = copy.deepcopy(documents)
    for document in by_version:
        for image in document.get("images", []):
            image.pop("digest", None)
        if document["kind"] == "Deployment":
            container = document["spec"]["template"]["spec"]["containers"][0]
            container["image"] = "registry.example/bahay:0.1.0"
    yield "an image without a digest", (by_version, sample)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bahay-server"}}
    yield "a secret in a file", ([*documents, secret], sample)


def main():
    root = pathlib.Path(sys.argv[1])
    sample = (root / ".env.sample").read_text()
    documents = [document
                 for file in sys.argv[2:]
                 for document in yaml.safe_load_all(pathlib.Path(file).read_text())]
    found = [*check_schemas(documents), *violations(documents, sample)]
    misspelt = copy.deepcopy([document for document in documents if document["kind"] == "Deployment"])
    misspelt[0]["spec"]["template"]["spec"]["containers"][0]["liveProbe"] = {}
    if not any(check_schemas(misspelt)):
        found.append("the checks do not report: a field unknown to Kubernetes")
    for what, broken in break_rules(documents, sample):
        if not any(violations(*broken)):
            found.append(f"the checks do not report: {what}")
    for violation in found:
        print(violation)
    sys.exit(bool(found))


main()
