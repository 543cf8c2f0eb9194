"""`baseload explain pod`: one pod's whole story."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from baseload.cli.main import main
from tests.cli.inputs import POOL, WEB
from tests.conftest import Golden

Explain = Callable[..., tuple[int, str, str]]

NODE = """
apiVersion: v1
kind: Node
metadata:
  name: %s
  labels: {kubernetes.io/hostname: %s, topology.kubernetes.io/zone: us-east-1a, kubernetes.io/os: linux}
status: {allocatable: {cpu: "%s", memory: 8Gi, pods: "10"}, capacity: {cpu: "8", memory: 8Gi, pods: "10"}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s, labels: {app: web}}
spec:
  nodeName: %s
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}, ports: [{containerPort: 80, hostPort: 8080}]}]
"""
PICKY = """
apiVersion: v1
kind: Pod
metadata: {name: picky, namespace: default, labels: {app: picky}}
spec:
  nodeSelector: {kubernetes.io/arch: amd64}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: team, operator: In, values: [a, b]}]
        - matchExpressions: [{key: team, operator: DoesNotExist}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 10
        preference: {matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 5
        podAffinityTerm: {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {matchExpressions: [{key: app, operator: In, values: [picky]}]}
        namespaces: [default, shop]
  topologySpreadConstraints:
  - maxSkew: 1
    minDomains: 2
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: picky}}
  tolerations:
  - {key: team, operator: Equal, value: a, effect: NoSchedule}
  - {operator: Exists}
  containers:
  - {name: c, image: i, resources: {requests: {cpu: 100m}}, ports: [{containerPort: 80, hostPort: 80}]}
"""


@pytest.fixture
def explain(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Explain:
    """Runs `explain pod` on texts; what it ends with, prints and says."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the package's figures, whatever was refreshed on this machine

    def explains(name: str, *texts: str, flags: tuple[str, ...] = ()) -> tuple[int, str, str]:
        path = tmp_path / "cluster.yaml"
        path.write_text("\n---\n".join(texts), encoding="utf-8")
        status = main(["explain", "pod", name, "-f", str(path), *flags])
        return status, *capsys.readouterr()

    return explains


def test_everything_that_a_pod_asks_for_is_said_in_words(explain: Explain, golden: Golden) -> None:
    status, out, _ = explain("picky", POOL, PICKY)

    assert status == 0
    golden(Path(__file__).with_name("golden") / "explain-picky.txt", out)


def test_a_pod_for_which_a_node_is_launched_tells_why_no_other_took_it(explain: Explain) -> None:
    status, out, _ = explain("web-x1", POOL, WEB, NODE % ("small", "small", "500m"))

    assert status == 0
    assert "Pod default/web-x1 (Pending), made for Deployment default/web, which lacks it" in out
    assert "Goes to default-1, a node that NodePool default launches" in out
    assert "next best: " in out
    assert "node/small  InsufficientResources" in out
    assert "Without nodePool/default it would go nowhere" in out


def test_a_pod_that_fits_a_node_tells_where_else_it_could_go(explain: Explain) -> None:
    out = explain("web-x1", POOL, WEB, NODE % ("node-a", "node-a", "8"))[1]

    assert "Goes to node node-a, which is there" in out
    assert "Without node/node-a it would go to a node of NodePool default: " in out


def test_a_pod_without_a_place_tells_what_each_target_said(explain: Explain) -> None:
    status, out, _ = explain("web-x1", POOL, WEB.replace('cpu: "1"', "cpu: 5k"), NODE % ("a", "a", "8"))

    assert status == 0
    assert "tried     nodePool/default: InsufficientResources" in out
    assert "node/a: InsufficientResources" in out


def test_a_bound_pod_tells_where_it_runs(explain: Explain) -> None:
    out = explain("shop/api", POOL, NODE % ("a", "a", "8"), POD % ("api", "shop", "a"))[1]

    assert "Pod shop/api (Running)" in out
    assert "Runs on node a" in out
    assert "port 8080/TCP of the node" in out


def test_json_tells_the_same(explain: Explain) -> None:
    story = json.loads(explain("web-x1", POOL, WEB, NODE % ("small", "small", "500m"), flags=("-o", "json"))[1])

    assert (story["kind"], story["pod"], story["nodeClaim"]["name"]) == ("PodStory", "default/web-x1", "default-1")
    assert [rejection["target"] for rejection in story["rejections"]] == ["node/small"]
    assert story["alternative"]["without"] == "nodePool/default"


def test_a_pod_that_is_not_in_the_input_is_answered_with_the_nearest_names(explain: Explain) -> None:
    status, out, err = explain("api", POOL, WEB, POD % ("api", "shop", "a"))

    assert (status, out) == (2, "")
    assert 'there is no pod "default/api" in the input (the nearest: shop/api' in err
    assert "(the nearest: default/web-x1, " in explain("web-1", POOL, WEB)[2]
