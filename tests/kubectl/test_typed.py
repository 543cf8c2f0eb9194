"""The commands that build an object themselves and send it as protobuf, and what is then in the cluster.

The golden files hold what a real server keeps of them (kube-apiserver v1.37.2); what a server chooses is left open.
"""

import base64
import datetime as dt
import json
import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.conftest import Golden
from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

GOLDEN: Final = Path(__file__).with_name("golden") / "typed"
CHOSEN: Final = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "clusterIP", "clusterIPs", "nodePort"}
    | {"controller-uid", "batch.kubernetes.io/controller-uid"}
)
"""What a server chooses"""

# golden file -> (command after `kubectl create`, the object that comes of it)
CREATED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "configuration": (
        ("namespace team-a", "namespace/team-a"),
        ("configmap settings --from-literal=level=debug --from-literal=empty=", "configmap/settings"),
        ("secret generic login --from-literal=user=a --from-literal=word=p%q --type=example.com/login", "secret/login"),
        (
            "secret docker-registry pull --docker-server=reg.io --docker-username=u --docker-password=p",
            "secret/pull",
        ),
        ("serviceaccount robot", "serviceaccount/robot"),
        ("priorityclass urgent --value=1000 --description='goes first' --preemption-policy=Never", "pc/urgent"),
        ("priorityclass nought --value=0", "priorityclass/nought"),
    ),
    "workloads": (
        ("deployment web --image=nginx:1 --replicas=3 --port=80", "deployment/web"),
        ("deployment asleep --image=nginx:1 --image=envoy:1 --replicas=0", "deployment/asleep"),
        ("job once --image=busybox:1 -- sleep 5", "job/once"),
        ("cronjob nightly --image=busybox:1 --schedule='0 3 * * *' --restart=OnFailure -- date", "cronjob/nightly"),
        ("job tonight --from=cronjob/nightly", "job/tonight"),
    ),
    "network": (
        ("service clusterip inside --tcp=80:8080 --tcp=9090", "service/inside"),
        ("service clusterip headless --clusterip=None", "service/headless"),
        ("service nodeport outside --tcp=80:http", "service/outside"),
        ("service loadbalancer front --tcp=443", "service/front"),
        ("service externalname alias --external-name=db.example.com", "service/alias"),
        (
            "ingress web --rule=example.com/shop*=shop:80,tls=cert --rule=/=web:http --class=nginx "
            "--annotation=a=b --default-backend=web:8080",
            "ingress/web",
        ),
    ),
    "policy": (
        ("poddisruptionbudget half --selector=app=web --min-available=50%", "pdb/half"),
        ("poddisruptionbudget none --selector='app in (a,b),!old' --max-unavailable=0", "pdb/none"),
        ("quota small --hard=cpu=1500m,memory=1Gi,pods=2,requests.storage=0", "quota/small"),
        ("quota besteffort --hard=pods=0 --scopes=BestEffort", "quota/besteffort"),
    ),
    "access": (
        ("role reader --verb=get,list --resource=pods,deployments.apps/scale --resource-name=x", "role/reader"),
        ("rolebinding read --role=reader --serviceaccount=default:robot --user=u --group=g", "rolebinding/read"),
        ("clusterrole nodes --verb=get --resource=nodes", "clusterrole/nodes"),
        ("clusterrole metrics --verb=get --non-resource-url=/metrics", "clusterrole/metrics"),
        ("clusterrolebinding nodes --clusterrole=nodes --user=u", "clusterrolebinding/nodes"),
    ),
}
CLUSTER_ROLE: Final = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: lister}
rules: [{apiGroups: [""], resources: [pods], verbs: [%s]}]
"""


def read(kubectl: Kubectl, name: str) -> dict[str, Any]:
    """An object, with what a server chooses left open."""
    kept: dict[str, Any] = open_(json.loads(kubectl("get", name, "-o", "json")))
    return kept


def shown(kubectl: Kubectl, name: str) -> str:
    """An object as golden files have it."""
    return yaml.safe_dump(read(kubectl, name), allow_unicode=True, default_flow_style=None, width=110)


def open_(value: Any) -> Any:
    """A value without what a server chooses; that a service has no address is the client's choice."""
    if isinstance(value, list):
        return [open_(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: "…" if key in CHOSEN and held != "None" else open_(held) for key, held in value.items()}


def pair(folder: Path) -> tuple[Path, Path]:
    """A certificate and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example.com")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now)
    files = folder / "tls.crt", folder / "tls.key"
    files[0].write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    traditional = serialization.PrivateFormat.TraditionalOpenSSL
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, traditional, plain))
    return files


@pytest.mark.parametrize("group", CREATED)
def test_what_kubectl_builds_is_kept_as_a_real_server_keeps_it(kubectl: Kubectl, golden: Golden, group: str) -> None:
    printed = []
    for command, name in CREATED[group]:
        told = kubectl("create", *shlex.split(command))
        printed.append(f"$ kubectl create {command}\n{told}{shown(kubectl, name)}\n")

    golden(GOLDEN / f"{group}.txt", "".join(printed))


@pytest.mark.new_kubectl  # the elder one has no --cpu
def test_an_autoscaler_is_kept_as_a_real_server_keeps_it(kubectl: Kubectl, golden: Golden) -> None:
    kubectl("create", "deployment", "web", "--image=nginx:1")

    told = kubectl("autoscale", "deployment", "web", "--min=2", "--max=5", "--cpu=80%")

    golden(GOLDEN / "autoscaler.txt", told + shown(kubectl, "hpa/web"))


def test_a_tls_secret_holds_the_files_it_was_made_of(kubectl: Kubectl, tmp_path: Path) -> None:
    certificate, key = pair(tmp_path)

    told = kubectl("create", "secret", "tls", "cert", f"--cert={certificate}", f"--key={key}")

    assert told == "secret/cert created\n"
    assert read(kubectl, "secret/cert") == {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {
            "name": "cert",
            "namespace": "default",
            **dict.fromkeys(("creationTimestamp", "resourceVersion", "uid"), "…"),
        },
        "data": {file.name: base64.b64encode(file.read_bytes()).decode() for file in (certificate, key)},
    }


def test_files_that_are_no_text_are_kept_byte_for_byte(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "text").write_text("straße\n", encoding="utf-8")

    kubectl("create", "configmap", "files", f"--from-file={tmp_path / 'binary'}", f"--from-file={tmp_path / 'text'}")

    kept = read(kubectl, "configmap/files")
    assert kept["data"] == {"text": "straße\n"}
    assert kept["binaryData"] == {"binary": base64.b64encode(bytes(range(256))).decode()}


def test_an_aggregated_cluster_role_keeps_its_selector(kubectl: Kubectl) -> None:
    kubectl("create", "clusterrole", "all-views", "--aggregation-rule=view=true")

    kept = read(kubectl, "clusterrole/all-views")
    assert kept["aggregationRule"] == {"clusterRoleSelectors": [{"matchLabels": {"view": "true"}}]}


def test_what_is_there_already_is_not_created_again(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")

    assert kubectl.refused("create", "serviceaccount", "robot") == (
        'error: failed to create serviceaccount: serviceaccounts "robot" already exists\n'
    )
    assert kubectl.refused("create", "configmap", "Not_A_Name").startswith(
        'error: failed to create configmap: ConfigMap "Not_A_Name" is invalid: metadata.name: Invalid value: '
    )


def test_a_server_side_dry_run_creates_nothing(kubectl: Kubectl) -> None:
    told = kubectl("create", "deployment", "web", "--image=nginx:1", "--dry-run=server")

    assert told == "deployment.apps/web created (server dry run)\n"
    assert kubectl("get", "deployments", "-o", "name") == ""


def test_cluster_roles_are_reconciled(kubectl: Kubectl) -> None:
    for verb in ("get", "list"):
        told = kubectl("auth", "reconcile", "-f", "-", stdin=CLUSTER_ROLE % verb)
        assert told.startswith("clusterrole.rbac.authorization.k8s.io/lister reconciled\n")

    verbs = [rule["verbs"] for rule in read(kubectl, "clusterrole/lister")["rules"]]
    assert verbs == [["get"], ["list"]]


def test_a_token_is_for_the_account_and_the_audience_that_were_asked(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")

    token = kubectl("create", "token", "robot", "--audience=https://vault", "--duration=20m").strip()

    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert (claims["sub"], claims["aud"]) == ("system:serviceaccount:default:robot", ["https://vault"])
    assert claims["exp"] - claims["iat"] == 20 * 60


def test_who_may_is_asked_and_answered(kubectl: Kubectl) -> None:
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods")
    kubectl("create", "rolebinding", "read", "--role=reader", "--user=bob")

    def may(*question: str) -> tuple[str, int]:
        outcome = kubectl.run("auth", "can-i", *question, "--as=bob")
        return outcome.out, outcome.code

    assert may("get", "pods") == ("yes\n", 0)
    assert may("get", "pods", "--namespace=kube-system") == ("no\n", 1)
    assert may("delete", "pods") == ("no\n", 1)
    assert re.search(r"^pods +\[] +\[] +\[get list]$", may("--list")[0], re.MULTILINE)
    assert "bob" in kubectl("auth", "whoami", "--as=bob")


def test_a_node_is_debugged_in_a_pod_on_it(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.node("n1"))

    told = kubectl("debug", "node/n1", "--image=busybox:1", "--profile=general")

    pod = re.search(r"node-debugger-n1-\w+", told)
    assert pod is not None, told
    spec = read(kubectl, f"pod/{pod[0]}")["spec"]
    assert (spec["nodeName"], spec["hostPID"], spec["hostNetwork"]) == ("n1", True, True)
    assert spec["tolerations"][0] == {"operator": "Exists"}
    assert {"name": "host-root", "hostPath": {"path": "/", "type": ""}} in spec["volumes"]


def test_a_drain_that_may_not_evict_deletes(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.node('n1')}---{manifests.pod('web', 'n1')}")

    told = kubectl("drain", "n1", "--disable-eviction", "--force", "--grace-period=0")

    assert told == "node/n1 cordoned\npod/web deleted\nnode/n1 drained\n"
    assert kubectl("get", "pods", "-o", "name") == ""
