"""What a server decides about an object that is created or changed, by what else there is in the cluster.

The words were recorded from kube-apiserver v1.37.2.
"""

from ipaddress import IPv4Network
from typing import Any, Final

import pytest

from baseload.embedded.api.admission import addresses
from tests.embedded.api.calling import MERGE, PODS, Answered, Server, pod

CLASSES: Final = "/apis/scheduling.k8s.io/v1/priorityclasses"
SERVICES: Final = "/api/v1/namespaces/default/services"
CLAIMS: Final = "/api/v1/namespaces/default/persistentvolumeclaims"
STORAGE: Final = "/apis/storage.k8s.io/v1/storageclasses"
INGRESSES: Final = "/apis/networking.k8s.io/v1"
RUNTIMES: Final = "/apis/node.k8s.io/v1/runtimeclasses"


def pod_with(name: str = "a", **spec: Any) -> dict[str, Any]:
    made: dict[str, Any] = pod(name)
    made["spec"].update(spec)
    return made


def forbidden(answer: Answered, message: str) -> None:
    assert (answer.code, answer.reason, answer.message) == (403, "Forbidden", message)


def test_a_pod_takes_the_priority_of_the_class_that_it_names() -> None:
    server = Server()
    server.call("POST", CLASSES, {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})

    spec = server.call("POST", PODS, pod_with(priorityClassName="high")).tree["spec"]

    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")


def test_a_pod_without_a_class_takes_the_default_one() -> None:
    server = Server()
    server.call("POST", CLASSES, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})

    spec = server.call("POST", PODS, pod("a")).tree["spec"]

    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 7)


def test_a_pod_names_no_class_that_is_not_there_and_no_priority_of_its_own() -> None:
    server = Server()

    unknown = server.call("POST", PODS, pod_with(priorityClassName="none"))
    own = server.call("POST", PODS, pod_with(priority=5))
    policy = server.call("POST", PODS, pod_with(preemptionPolicy="Never"))

    forbidden(unknown, 'pods "a" is forbidden: no PriorityClass with name none was found')
    computed = "must not be provided in pod spec; priority admission controller computed"
    given = "from the given PriorityClass name"
    forbidden(own, f'pods "a" is forbidden: the integer value of priority (5) {computed} 0 {given}')
    words = f"the string value of PreemptionPolicy (Never) {computed} PreemptLowerPriority {given}"
    forbidden(policy, f'pods "a" is forbidden: {words}')


def test_one_priority_class_is_the_default() -> None:
    server = Server()
    server.call("POST", CLASSES, {"metadata": {"name": "one"}, "value": 1, "globalDefault": True})

    answer = server.call("POST", CLASSES, {"metadata": {"name": "two"}, "value": 2, "globalDefault": True})

    words = "PriorityClass one is already marked as default. Only one default can exist"
    forbidden(answer, f'priorityclasses.scheduling.k8s.io "two" is forbidden: {words}')


def test_a_pod_runs_as_an_account_that_is_there() -> None:
    answer = Server().call("POST", PODS, pod_with(serviceAccountName="none"))

    words = 'error looking up service account default/none: serviceaccount "none" not found'
    forbidden(answer, f'pods "a" is forbidden: {words}')


def test_a_token_is_mounted_unless_the_pod_or_its_account_says_no() -> None:
    server = Server()
    account = {"metadata": {"name": "shy"}, "automountServiceAccountToken": False, "imagePullSecrets": [{"name": "s"}]}
    server.call("POST", "/api/v1/namespaces/default/serviceaccounts", account)

    first = server.call("POST", PODS, pod("a")).tree["spec"]
    second = server.call("POST", PODS, pod("b")).tree["spec"]
    off = server.call("POST", PODS, pod_with("c", automountServiceAccountToken=False)).tree["spec"]
    shy = server.call("POST", PODS, pod_with("d", serviceAccountName="shy")).tree["spec"]
    asked = server.call("POST", PODS, pod_with("e", serviceAccountName="shy", automountServiceAccountToken=True))

    assert first["volumes"][0]["name"].startswith("kube-api-access-")
    assert first["volumes"] == second["volumes"]
    assert "volumes" not in off
    assert "volumes" not in shy
    assert shy["imagePullSecrets"] == [{"name": "s"}]
    assert len(asked.tree["spec"]["volumes"]) == 1


def test_nothing_is_created_in_a_namespace_that_is_not_there_whatever_else_is_wrong() -> None:
    answer = Server().call("POST", "/api/v1/namespaces/absent/pods", {"metadata": {"name": "a"}})

    assert (answer.code, answer.message) == (404, 'namespaces "absent" not found')


def test_a_pod_takes_overhead_and_place_from_its_runtime_class() -> None:
    server = Server()
    runtime = {
        "metadata": {"name": "vm"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
    }
    server.call("POST", RUNTIMES, runtime)

    spec = server.call("POST", PODS, pod_with(runtimeClassName="vm")).tree["spec"]
    none = server.call("POST", PODS, pod_with("b", runtimeClassName="none"))
    own = server.call("POST", PODS, pod_with("b", overhead={"cpu": "1"}))
    other = server.call("POST", PODS, pod_with("b", runtimeClassName="vm", overhead={"cpu": "1"}))
    clash = server.call("POST", PODS, pod_with("b", runtimeClassName="vm", nodeSelector={"kata": "no"}))

    assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "250m"}, {"kata": "yes"})
    assert {"key": "kata", "operator": "Exists"} in spec["tolerations"]
    forbidden(none, 'pods "b" is forbidden: pod rejected: RuntimeClass "none" not found')
    wrong = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    forbidden(own, f'pods "b" is forbidden: {wrong}')
    wrong = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    forbidden(other, f'pods "b" is forbidden: {wrong}')
    wrong = "conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; pod.spec.nodeSelector[kata] = no"
    forbidden(clash, f'pods "b" is forbidden: {wrong}')


def claim(name: str, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"storage": "1Gi"}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}}


def test_a_claim_takes_the_default_storage_class_unless_it_wants_none() -> None:
    server = Server()
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    server.call("POST", STORAGE, {"metadata": {"name": "usual", "annotations": marked}, "provisioner": "example.com/p"})

    taken = server.call("POST", CLAIMS, claim("a")).tree
    none = server.call("POST", CLAIMS, claim("b", storageClassName="")).tree

    assert taken["spec"]["storageClassName"] == "usual"
    assert none["spec"]["storageClassName"] == ""
    assert taken["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


def test_a_claim_grows_when_it_is_bound_and_its_class_lets_it() -> None:
    server = Server()
    server.call("POST", STORAGE, {"metadata": {"name": "fixed"}, "provisioner": "example.com/p"})
    server.call("POST", CLAIMS, claim("a", storageClassName="fixed"))
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}

    pending = server.call("PATCH", f"{CLAIMS}/a", more, MERGE)
    server.call("PATCH", f"{CLAIMS}/a/status", {"status": {"phase": "Bound"}}, MERGE)
    fixed = server.call("PATCH", f"{CLAIMS}/a", more, MERGE)
    server.call("PATCH", f"{STORAGE}/fixed", {"allowVolumeExpansion": True}, MERGE)
    grown = server.call("PATCH", f"{CLAIMS}/a", more, MERGE)

    immutable = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound"
    assert pending.message.startswith(f'PersistentVolumeClaim "a" is invalid: spec: Forbidden: {immutable} claims\n')
    why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must"
    forbidden(fixed, f'persistentvolumeclaims "a" is forbidden: {why} support resize')
    assert grown.tree["spec"]["resources"]["requests"]["storage"] == "2Gi"


def test_an_ingress_takes_the_default_class() -> None:
    server = Server()
    marked = {"ingressclass.kubernetes.io/is-default-class": "true"}
    ingress_class = {"metadata": {"name": "usual", "annotations": marked}, "spec": {"controller": "example.com/c"}}
    server.call("POST", f"{INGRESSES}/ingressclasses", ingress_class)
    backend = {"service": {"name": "s", "port": {"number": 80}}}

    made = server.call(
        "POST",
        f"{INGRESSES}/namespaces/default/ingresses",
        {"metadata": {"name": "a"}, "spec": {"defaultBackend": backend}},
    )

    assert made.tree["spec"]["ingressClassName"] == "usual"


def service(name: str, *ports: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"ports": list(ports) or [{"port": 80}], **spec}}


def test_services_get_addresses_and_node_ports_of_their_own() -> None:
    server = Server()
    dns = ({"name": "t", "port": 53}, {"name": "u", "port": 53, "protocol": "UDP"})

    made = [server.call("POST", SERVICES, service(name, *dns, type="NodePort")).tree["spec"] for name in "ab"]

    assert len({spec["clusterIP"] for spec in made}) == 2
    assert [[port["nodePort"] for port in spec["ports"]] for spec in made] == [[30000, 30000], [30001, 30001]]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"clusterIP": "10.96.0.9"},
            "spec.clusterIPs",
            'Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated',
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 31000}]},
            "spec.ports[0].nodePort",
            "Invalid value: 31000: provided port is already allocated",
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
            "spec.ports[0].nodePort",
            "Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
        ),
    ],
)
def test_a_service_is_refused_what_it_cannot_have(spec: dict[str, Any], field: str, message: str) -> None:
    server = Server()
    held = service("held", {"port": 80, "nodePort": 31000}, type="NodePort", clusterIP="10.96.0.9")
    assert server.call("POST", SERVICES, held).code == 201

    answer = server.call("POST", SERVICES, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}], **spec}})

    assert (answer.code, answer.message) == (422, f'Service "a" is invalid: {field}: {message}')
    assert answer.tree["details"]["causes"][0]["field"] == field


def test_a_service_that_leaves_the_nodes_gives_its_ports_back() -> None:
    server = Server()
    server.call("POST", SERVICES, service("a", type="NodePort"))

    inside = server.call("PATCH", f"{SERVICES}/a", {"spec": {"type": "ClusterIP"}}, MERGE).tree["spec"]
    other = server.call("POST", SERVICES, service("b", type="NodePort")).tree["spec"]

    assert "nodePort" not in inside["ports"][0]
    assert "externalTrafficPolicy" not in inside
    assert other["ports"][0]["nodePort"] == 30000


def test_a_job_with_a_generated_name_labels_its_pods_with_it() -> None:
    server = Server()
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}
    body = {"metadata": {"generateName": "run-"}, "spec": {"template": template}}

    made = server.call("POST", "/apis/batch/v1/namespaces/default/jobs", body).tree

    labels = made["spec"]["template"]["metadata"]["labels"]
    assert labels["job-name"] == labels["batch.kubernetes.io/job-name"] == made["metadata"]["name"]
    assert made["spec"]["selector"]["matchLabels"] == {"batch.kubernetes.io/controller-uid": made["metadata"]["uid"]}


def test_a_pod_that_spreads_by_the_keys_of_its_labels_selects_its_own_kind() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}},
        "matchLabelKeys": ["hash"],
    }
    body = pod_with(topologySpreadConstraints=[spread])
    body["metadata"]["labels"] = {"app": "a", "hash": "1"}

    spec = Server().call("POST", PODS, body).tree["spec"]

    selector = spec["topologySpreadConstraints"][0]["labelSelector"]
    assert selector["matchExpressions"] == [{"key": "hash", "operator": "In", "values": ["1"]}]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("replicas", "x", "string into Go struct field DeploymentSpec.spec.replicas of type int32"),
        ("replicas", 1.5, "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32"),
        ("replicas", 2**40, "number 1099511627776 into Go struct field DeploymentSpec.spec.replicas of type int32"),
        (
            "template",
            {"spec": {"containers": [{"image": 5}]}},
            "number into Go struct field Container.spec.template.spec.containers.image of type string",
        ),
        (
            "template",
            {"spec": {"containers": {}}},
            "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            "template",
            {"metadata": {"labels": []}},
            "array into Go struct field ObjectMeta.spec.template.metadata.labels of type map[string]string",
        ),
    ],
)
def test_what_cannot_be_decoded_is_refused_in_the_words_of_the_decoder(path: str, value: object, words: str) -> None:
    body = {"metadata": {"name": "a"}, "spec": {path: value}}

    answer = Server().call("POST", "/apis/apps/v1/namespaces/default/deployments", body)

    head = 'Deployment in version "v1" cannot be handled as a Deployment: '
    words = f"{head}json: cannot unmarshal {words}"
    assert (answer.code, answer.reason, answer.message) == (400, "BadRequest", words)


def test_an_amount_that_is_none_is_refused_in_the_words_of_the_decoder() -> None:
    answer = Server().call("POST", PODS, pod_with(overhead={"cpu": "1x"}))

    words = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    assert (answer.code, answer.message) == (400, f'Pod in version "v1" cannot be handled as a Pod: {words}')


def test_a_service_for_which_no_number_is_left_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "NODE_PORTS", range(30000, 30001))
    monkeypatch.setattr(addresses, "RANGE", IPv4Network("10.96.0.0/29"))
    server = Server()

    def made(name: str, kind: str) -> tuple[int, str, str]:
        body = {"metadata": {"name": name}, "spec": {"type": kind, "ports": [{"port": 80}]}}
        answer = server.call("POST", "/api/v1/namespaces/default/services", body)
        return answer.code, answer.reason, answer.message

    assert made("a", "NodePort") == (201, "", "")
    full = "Internal error occurred: failed to allocate a nodePort: range is full"
    assert made("b", "NodePort") == (500, "InternalError", full)
    taken = next(number for number in range(9) if made(f"c{number}", "ClusterIP")[0] != 201)
    full = f'Internal error occurred: failed to allocate a serviceIP for Service "c{taken}": range is full'
    assert made(f"c{taken}", "ClusterIP") == (500, "InternalError", full)
