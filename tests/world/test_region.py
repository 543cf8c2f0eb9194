"""The region is the user's word, else that of the zones in the input, else us-east-1, said aloud."""

from pathlib import Path

import pytest

from baseload.kube.manifests import Manifests, load
from baseload.values.errors import BadInput
from baseload.world.region import choose, region_of

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n, labels: {topology.kubernetes.io/zone: %s}}}"
VOLUME = (
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], capacity: "
    "{storage: 1Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
    "topology.ebs.csi.aws.com/zone, operator: In, values: [%s]}]}]}}, csi: {driver: ebs.csi.aws.com, volumeHandle: h}}}"
)
POOL = (
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {template: {spec: {nodeClassRef: "
    "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, requirements: [{key: topology.kubernetes.io/zone, "
    "operator: In, values: [%s]}]}}}}"
)
CLASS = (
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: ebs.csi.aws.com, "
    "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [%s]}]}]}"
)


@pytest.fixture
def loaded(tmp_path: Path) -> "Loaded":
    return Loaded(tmp_path / "cluster.yaml")


class Loaded:
    """Manifests of some texts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *texts: str) -> Manifests:
        self.path.write_text("\n---\n".join(texts), encoding="utf-8")
        return load([str(self.path)])


@pytest.mark.parametrize("text", [NODE, VOLUME, POOL, CLASS])
def test_zones_of_nodes_volumes_and_pools_name_the_region(loaded: Loaded, text: str) -> None:
    assert choose(loaded(text % "eu-central-1b"), None) == ("eu-central-1", ())


def test_the_users_word_counts_first(loaded: Loaded) -> None:
    assert choose(loaded(NODE % "eu-central-1b"), "us-west-2") == ("us-west-2", ())


def test_two_regions_are_refused_with_who_names_them(loaded: Loaded) -> None:
    with pytest.raises(BadInput, match=r"eu-central-1 by Node n \(eu-central-1b\); us-east-2 by NodePool p \(us-east-"):
        choose(loaded(NODE % "eu-central-1b", POOL % "us-east-2a"), None)


@pytest.mark.parametrize("zone", ["zone-1", "test-zone-a", "europe-west1-b"])
def test_without_a_zone_of_aws_the_default_is_taken_and_said(loaded: Loaded, zone: str) -> None:
    region, notes = choose(loaded(NODE % zone), None)

    assert region == "us-east-1"
    assert "us-east-1 (--region)" in notes[0]


@pytest.mark.parametrize(
    ("place", "region"),
    [
        ("us-gov-west-1a", "us-gov-west-1"),
        ("us-west-2-lax-1a", "us-west-2"),
        ("us-east-1-wl1-bos-wlz-1", None),
        ("ap-southeast-2", "ap-southeast-2"),
        ("use1-az1", None),
    ],
)
def test_local_zones_lie_in_their_parent_region(place: str, region: str | None) -> None:
    assert region_of(place) == region
