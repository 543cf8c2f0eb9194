"""Manifests, catalogue and options become one value, which can be edited and planned with again."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from baseload.values.errors import BadInput
from baseload.world import files, planning
from baseload.world.files import Inputs

Read = Callable[..., Inputs]

CATALOG = [
    {
        "name": name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
        "offerings": [
            {
                "Price": price,
                "Available": True,
                "Requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-1"]},
                ],
            }
        ],
    }
    for name, cpu, price in (("small", "2", 0.1), ("large", "8", 0.4))
]

POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  template:
    spec:
      requirements: []
      nodeClassRef: {group: %s, kind: %s, name: %s}
"""
EC2 = ("karpenter.k8s.aws", "EC2NodeClass")
NODE_CLASS = """
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: %s}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  role: r
  subnetSelectorTerms: [{id: subnet-0123456789abcdef0}]
  securityGroupSelectorTerms: [{id: sg-0123456789abcdef0}]
  kubelet: {maxPods: %d}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]
"""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads texts as manifests; `own` adds a small catalogue of one's own."""
    catalog = tmp_path / "catalog.json"
    catalog.write_text(json.dumps(CATALOG), encoding="utf-8")

    def reads(*texts: str, own: bool = True, **flags: str) -> Inputs:
        path = tmp_path / "cluster.yaml"
        path.write_text("\n---\n".join(texts), encoding="utf-8")
        return files.read([str(path)], catalog=str(catalog) if own else None, **flags)  # type: ignore[arg-type]

    return reads


def test_workloads_are_expanded_unless_that_is_refused(read: Read) -> None:
    expanded = read(POOL % ("a", *EC2, "c"), WEB)

    assert expanded.expanded[0].workload == "Deployment default/web"
    assert len(expanded.view.pods) == 2
    assert read(POOL % ("a", *EC2, "c"), WEB, expand="never").view.pods == ()


def test_a_node_class_that_is_not_in_the_input_is_said_once(read: Read) -> None:
    inputs = read(
        POOL % ("a", *EC2, "c"), POOL % ("b", *EC2, "c"), POOL % ("k", "karpenter.kwok.sh", "KWOKNodeClass", "w")
    )

    assert inputs.notes == (
        "not in the input, taken as present, Ready and with default settings: EC2NodeClass c, KWOKNodeClass w",
    )
    assert set(inputs.tables) == {"a", "b", "k"}


def test_a_node_class_of_another_kind_in_the_input_is_there(read: Read) -> None:
    kwok = "{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, metadata: {name: w}}"

    assert read(POOL % ("k", "karpenter.kwok.sh", "KWOKNodeClass", "w"), kwok).notes == ()


def test_a_pool_whose_node_class_is_not_ready_launches_nothing(read: Read) -> None:
    broken = NODE_CLASS % ("c", 10) + "status: {conditions: [{type: Ready, status: 'False', reason: SubnetsNotFound}]}"
    inputs = read(POOL % ("a", *EC2, "c"), WEB, broken)

    assert inputs.tables == {}
    assert inputs.notes == ("NodePool a launches nothing: its EC2NodeClass c is not Ready (SubnetsNotFound)",)
    assert {u.reason for u in planning.provision(inputs).unschedulable} == {"NoNodePool"}


def test_pools_with_equal_node_classes_share_a_table(read: Read) -> None:
    inputs = read(
        POOL % ("a", *EC2, "c"), POOL % ("b", *EC2, "d"), POOL % ("e", *EC2, "f"),
        NODE_CLASS % ("c", 20), NODE_CLASS % ("d", 20), NODE_CLASS % ("f", 30), own=False,
    )  # fmt: skip

    assert inputs.tables["a"] is inputs.tables["b"]
    assert inputs.tables["a"].capacity["pods"][0] == 20 * 10**9
    assert inputs.tables["e"].capacity["pods"][0] == 30 * 10**9


def test_a_region_beside_a_catalogue_of_ones_own_is_said_to_be_unused(read: Read) -> None:
    assert "--region eu-west-1 is not used" in read(WEB, region="eu-west-1").notes[0]


def test_kinds_that_no_decision_looks_at_are_counted(read: Read) -> None:
    config = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: default}}"

    assert read(WEB, config % "a", config % "b").passed_over == ("2 ConfigMap",)


def test_faults_of_all_files_are_seen_at_once(read: Read, tmp_path: Path) -> None:
    (tmp_path / "options.yaml").write_text("nonsense: 1", encoding="utf-8")
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")

    with pytest.raises(BadInput) as caught:
        files.read(
            [str(tmp_path / "absent.yaml")],
            catalog=str(tmp_path / "broken.json"),
            options_file=str(tmp_path / "options.yaml"),
        )

    assert [Path(fault.file).name for fault in caught.value.faults] == ["options.yaml", "broken.json", "absent.yaml"]


def test_an_edit_gives_other_inputs_and_leaves_these(read: Read) -> None:
    inputs = read(POOL % ("a", *EC2, "c"), WEB)
    edited = inputs.edited("Deployment default/web", "spec.replicas", 5)

    assert len(planning.provision(edited).placements) == 5
    assert len(planning.provision(inputs).placements) == 2
    assert edited.tables["a"] is inputs.tables["a"]


def test_editing_a_made_pod_edits_the_template_of_its_workload(read: Read) -> None:
    inputs = read(POOL % ("a", *EC2, "c"), WEB)
    edited = inputs.edited("Pod default/web-x1", "spec.nodeSelector", {"team": "a"})

    assert [pod.spec.node_selector for pod in edited.view.pods] == [{"team": "a"}] * 2
    assert inputs.written_at("Pod default/web-x2", "spec.priority") == (
        "Deployment default/web",
        "spec.template.spec.priority",
    )
    assert inputs.written_at("NodePool a", "spec.limits") == ("NodePool a", "spec.limits")


def test_tables_follow_a_changed_node_class(read: Read) -> None:
    inputs = read(POOL % ("a", *EC2, "c"), NODE_CLASS % ("c", 20), own=False)
    more = read(POOL % ("a", *EC2, "c"), NODE_CLASS % ("c", 40), own=False)

    assert inputs.tables_for(inputs.view)["a"] is inputs.tables["a"]
    assert inputs.tables_for(more.view)["a"].capacity["pods"][0] == 40 * 10**9


def test_fields_of_made_pods_are_written_in_their_workload(read: Read) -> None:
    where = ("Deployment default/web", "spec.template")

    assert read(WEB).place_of == {"default/web-x1": where, "default/web-x2": where}


def test_an_edit_of_an_unknown_object_or_path_is_refused(read: Read) -> None:
    inputs = read(POOL % ("a", *EC2, "c"))

    with pytest.raises(KeyError):
        inputs.edited("NodePool b", "spec.weight", 1)
    with pytest.raises(ValueError, match="leads nowhere"):
        inputs.edited("NodePool a", "spec.template.spec.requirements[7].key", "a")


def test_the_keys_of_the_users_own_catalogue_are_known(tmp_path: Path) -> None:
    key = "karpenter.kwok.sh/instance-size"
    catalog = tmp_path / "types.json"
    offering = {
        "Price": 0.1,
        "Available": True,
        "Requirements": [
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z"]},
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        ],
    }
    type_ = {
        "name": "a",
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": "1", "memory": "1Gi"},
        "labels": {key: "s"},
        "offerings": [offering],
    }
    catalog.write_text(json.dumps([type_]))
    requirement = {"key": key, "operator": "In", "values": ["s"]}
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    pool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "p"},
        "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": [requirement]}}},
    }
    (tmp_path / "pool.json").write_text(json.dumps(pool))

    assert files.read([str(tmp_path / "pool.json")], catalog=str(catalog)).view.node_pools
    with pytest.raises(BadInput, match="is restricted"):
        files.read([str(tmp_path / "pool.json")])


def test_workloads_together_ask_for_no_more_pods_than_a_cluster_can_hold(tmp_path: Path) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 200_000, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    items = [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec} for name in "ab"]
    (tmp_path / "a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    with pytest.raises(BadInput, match="400000 pods together"):
        files.read([str(tmp_path)])
    assert files.read([str(tmp_path)], expand="never").expanded == ()


def test_a_buffer_stands_for_no_more_pods_than_a_cluster_can_hold(tmp_path: Path) -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1m"}}}
    meta = {"name": "big", "namespace": "default"}
    objects = [
        {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": meta,
            "template": {"spec": {"containers": [container]}},
        },
        {
            "apiVersion": "autoscaling.x-k8s.io/v1beta1",
            "kind": "CapacityBuffer",
            "metadata": meta,
            "spec": {"podTemplateRef": {"name": "big"}, "limits": {"cpu": "9E"}},
        },
    ]
    data = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects})
    settings = tmp_path / "options.yaml"
    settings.write_text("featureGates: {CapacityBuffer: true}")

    with pytest.raises(BadInput, match=r"CapacityBuffer default/big: spec: .* no cluster holds over 250000"):
        files.read(["-"], stdin=lambda: data, options_file=str(settings), region="us-east-1")
