"""Holds what containers/kubernetes gives a cluster to what docs/KUBERNETES.md says of it: every document fits
Kubernetes' own schemas, everything is bounded, names that refer to each other are there, each secret is known to
those who need it, and every setting is explained. Ends with 1 and a line for each thing that is not so. Then
each of these is spoiled in turn, and a complaint about that must come: a check that finds nothing there would
find nothing ever.

Usage: kubernetes.py REPOSITORY FILE…   The files are what kustomize has made, or what it would make it from."""

import copy
import ipaddress
import pathlib
import re
import sys

import kubernetes_validate
import yaml

# The oldest one whose documents these are, and the newest one whose schemas are here.
VERSIONS = ("1.30.0", "1.37.0")
# What no schema of Kubernetes has: kinds that others bring, and files that kustomize alone reads.
KINDS_OF_OTHERS = {"ServiceMonitor"}
KUSTOMIZATION = "Kustomization"
# Who may know which secret.
SECRETS = {"bahay": {"bahay-server"}, "bahay-migrate": {"bahay-owner"}}
# What an image is named by, beside its version.
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# Machines that may be trusted together to tell the addresses of players.
TRUSTED_MAX = 256
PRIVATE = {"10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}


def complaints(documents, sample):
    found = {}
    for document in documents:
        name = f"{document['kind']} {document.get('metadata', {}).get('name')}"
        if document["kind"] == KUSTOMIZATION:
            for generator in document.get("configMapGenerator", []):
                for setting in generator["literals"]:
                    name, _, value = setting.partition("=")
                    yield from explained(name, sample)
                    yield from overtrusted(name, value)
            for image in document.get("images", []):
                if not DIGEST.fullmatch(str(image.get("digest"))):
                    yield f"image {image['name']}: is named by no digest"
            continue
        found.setdefault(document["kind"], []).append(document)
        if document["kind"] == "Secret":
            yield f"{name}: a secret lies in a file"
        if document["kind"] == "ConfigMap":
            for setting, value in document["data"].items():
                yield from explained(setting, sample)
                yield from overtrusted(setting, value)
        if document["kind"] in ("Deployment", "Job"):
            yield from loose(document, name)
    one = {kind: those[0] for kind, those in found.items()}
    wanted = {"Deployment", "Job", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler",
              "NetworkPolicy", "ServiceMonitor", "Ingress", "Namespace"}
    if not wanted <= set(one):
        yield f"there is no {', '.join(sorted(wanted - set(one)))}"
        return
    yield from unserved(one["Deployment"], found)
    yield from unguarded(one["Deployment"], found["NetworkPolicy"])
    if one["Namespace"]["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
        yield "Namespace: takes pods that are not bounded"


def misfits(documents):
    """What does not fit the schemas of Kubernetes itself."""
    for document in documents:
        if document["kind"] in (KUSTOMIZATION, *KINDS_OF_OTHERS):
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                yield f"{document['kind']}, in Kubernetes {version}: {error.message}"
            except kubernetes_validate.SchemaNotFoundError:
                yield f"{document['kind']}: Kubernetes {version} has no such kind"


def explained(setting, sample):
    if not re.search(f"^#?{setting}=", sample, re.MULTILINE):
        yield f".env.sample: says nothing of {setting}"


def overtrusted(setting, value):
    """A network of proxies that others are in as well."""
    if setting == "BAHAY_TRUSTED_PROXIES":
        for network in value.split(","):
            if ipaddress.ip_network(network.strip()).num_addresses > TRUSTED_MAX:
                yield f"{setting}: believes all of {network}"


def loose(document, name):
    """A pod that could do more than it needs."""
    pod = document["spec"]["template"]["spec"]
    told = pod.get("securityContext", {})
    if told.get("runAsNonRoot") is not True or not told.get("runAsUser"):
        yield f"{name}: may run as root"
    if told.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        yield f"{name}: may make any system call"
    if pod.get("automountServiceAccountToken") is not False:
        yield f"{name}: is given a token of the cluster"
    for key in ("hostNetwork", "hostPID", "hostIPC", "volumes"):
        if key in pod:
            yield f"{name}: has {key}"
    for container in pod["containers"]:
        _, tagged, digest = container["image"].partition("@")
        if (tagged or ":" in container["image"]) and not DIGEST.fullmatch(digest):
            yield f"{name}: its image is named by no digest"
        told = container.get("securityContext", {})
        if told.get("allowPrivilegeEscalation") is not False:
            yield f"{name}: may come to more rights"
        if told.get("readOnlyRootFilesystem") is not True:
            yield f"{name}: may write to its image"
        if told.get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{name}: has capabilities"
        if "memory" not in container.get("resources", {}).get("limits", {}):
            yield f"{name}: takes any memory"
        sources = container.get("envFrom", [])
        known = {source["secretRef"]["name"] for source in sources if "secretRef" in source}
        if known != SECRETS[document["metadata"]["name"]]:
            yield f"{name}: knows {', '.join(sorted(known)) or 'no secret'}"
        if "env" in container:
            yield f"{name}: is told things beside the settings and its secret"


def unserved(deployment, found):
    """Names that lead nowhere, and a server that cannot come or go unnoticed."""
    pod = deployment["spec"]["template"]
    labels = pod["metadata"]["labels"]
    server = pod["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in server["ports"]}
    if not matches(deployment["spec"]["selector"]["matchLabels"], labels):
        yield "Deployment: does not find its own pods"
    services = {service["metadata"]["name"]: service["spec"] for service in found["Service"]}
    for name, service in services.items():
        if not matches(service["selector"], labels):
            yield f"Service {name}: finds no server"
        for port in service["ports"]:
            if port["targetPort"] not in ports:
                yield f"Service {name}: servers have no port {port['targetPort']}"
    for budget in found["PodDisruptionBudget"]:
        if not matches(budget["spec"]["selector"]["matchLabels"], labels):
            yield "PodDisruptionBudget: finds no server"
    for scaler in found["HorizontalPodAutoscaler"]:
        if scaler["spec"]["scaleTargetRef"]["name"] != deployment["metadata"]["name"]:
            yield "HorizontalPodAutoscaler: scales something else"
        if scaler["spec"]["minReplicas"] < 2:
            yield "HorizontalPodAutoscaler: leaves players without a server while one is exchanged"
        if "replicas" in deployment["spec"]:
            yield "Deployment: says how many, as the autoscaler does"
    for ingress in found["Ingress"]:
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                named = path["backend"]["service"]
                known = {port["name"] for port in services.get(named["name"], {"ports": []})["ports"]}
                if named["port"]["name"] not in known:
                    yield f"Ingress: there is no {named['name']} with {named['port']['name']}"
        if not ingress["spec"].get("tls"):
            yield "Ingress: serves players without TLS"
    for monitor in found["ServiceMonitor"]:
        headed = [service for service in found["Service"]
                  if matches(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"])]
        known = {port["name"] for service in headed for port in service["spec"]["ports"]}
        for end in monitor["spec"]["endpoints"]:
            if end["port"] not in known or end["path"] != "/metrics":
                yield "ServiceMonitor: finds no figures"
    asked = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for probe, path in asked.items():
        got = server.get(probe, {}).get("httpGet", {})
        if (got.get("path"), got.get("port")) != (path, "probes"):
            yield f"Deployment: its {probe} does not ask {path} where supervisors ask"
    pause = server.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    if not pause or pod["spec"].get("terminationGracePeriodSeconds", 30) < pause + 30:
        yield "Deployment: a server that goes is still sent players, or killed before it has ended"
    rolling = deployment["spec"]["strategy"].get("rollingUpdate", {})
    if rolling.get("maxUnavailable") != 0:
        yield "Deployment: takes a server away before another one is ready"
    spread = {one["topologyKey"] for one in pod["spec"].get("topologySpreadConstraints", [])}
    if not {"topology.kubernetes.io/zone", "kubernetes.io/hostname"} <= spread:
        yield "Deployment: may run in one zone or on one machine alone"


def unguarded(deployment, policies):
    """Ways in and out that nobody needs."""
    closed = [policy["spec"] for policy in policies
              if set(policy["spec"]) == {"podSelector", "policyTypes"}
              and set(policy["spec"]["policyTypes"]) == {"Ingress", "Egress"}]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    if not any(matches(policy["podSelector"]["matchLabels"], labels) for policy in closed):
        yield "NetworkPolicy: what is not named is not refused"
    for policy in policies:
        name = policy["metadata"]["name"]
        for way in policy["spec"].get("ingress", []):
            if not way.get("from") or not way.get("ports"):
                yield f"NetworkPolicy {name}: lets in anybody"
        for way in policy["spec"].get("egress", []):
            if not way.get("to") or not way.get("ports"):
                yield f"NetworkPolicy {name}: lets out to anywhere"
            for block in (end["ipBlock"] for end in way.get("to", []) if "ipBlock" in end):
                if block["cidr"] == "0.0.0.0/0" and not PRIVATE <= set(block.get("except", [])):
                    yield f"NetworkPolicy {name}: lets out to private networks"


def matches(selector, labels):
    return bool(selector) and selector.items() <= labels.items()


def spoiled(documents, sample):
    """What must be complained about, by what it is."""
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
    yield "servers that go first", without("Deployment", "spec", "strategy", "rollingUpdate")
    yield "players without TLS", without("Ingress", "spec", "tls")
    yield "nothing refused", without("NetworkPolicy", "spec", "policyTypes", name="bahay-nothing")
    yield "anybody let in", without("NetworkPolicy", "spec", "ingress", 0, "from", name="bahay-players")
    yield "any port let out to", without("NetworkPolicy", "spec", "egress", 0, "ports", name="bahay-data")
    block = ("spec", "egress", 0, "to", 0, "ipBlock", "except")
    yield "private networks let out to", without("NetworkPolicy", *block, name="bahay-issuers")
    for kind in ("PodDisruptionBudget", "HorizontalPodAutoscaler", "ServiceMonitor", "Namespace"):
        left = [document for document in documents if document["kind"] != kind]
        yield f"no {kind}", (left, sample)
    yield "a setting that is not explained", (documents, sample.replace("BAHAY_LISTEN=", "NOTHING="))
    astray = copy.deepcopy(documents)
    for document in astray:
        if document["kind"] == "Service":
            document["spec"]["selector"] = {"app.kubernetes.io/name": "bahay-server"}
    yield "a service that finds nobody", (astray, sample)
    wide = copy.deepcopy(documents)
    trusted = "BAHAY_TRUSTED_PROXIES"
    for document in wide:
        if document["kind"] == "ConfigMap" and trusted in document["data"]:
            document["data"][trusted] = "10.0.0.0/8"
        for generator in document.get("configMapGenerator", []):
            generator["literals"] = [f"{trusted}=10.0.0.0/8" if setting.startswith(trusted) else setting
                                     for setting in generator["literals"]]
    yield "a whole network that is believed", (wide, sample)
    by_version = copy.deepcopy(documents)
    for document in by_version:
        for image in document.get("images", []):
            image.pop("digest", None)
        if document["kind"] == "Deployment":
            container = document["spec"]["template"]["spec"]["containers"][0]
            container["image"] = "registry.example/bahay:0.1.0"
    yield "an image that is named by its version alone", (by_version, sample)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bahay-server"}}
    yield "a secret in a file", ([*documents, secret], sample)


def main():
    root = pathlib.Path(sys.argv[1])
    sample = (root / ".env.sample").read_text()
    documents = [document
                 for file in sys.argv[2:]
                 for document in yaml.safe_load_all(pathlib.Path(file).read_text())]
    found = [*misfits(documents), *complaints(documents, sample)]
    misspelt = copy.deepcopy([document for document in documents if document["kind"] == "Deployment"])
    misspelt[0]["spec"]["template"]["spec"]["containers"][0]["liveProbe"] = {}
    if not any(misfits(misspelt)):
        found.append("the check does not see: a word that Kubernetes does not know")
    for what, spoilt in spoiled(documents, sample):
        if not any(complaints(*spoilt)):
            found.append(f"the check does not see: {what}")
    for complaint in found:
        print(complaint)
    sys.exit(bool(found))


main()
