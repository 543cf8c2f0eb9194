"""What the volumes of pods, and the volumes behind claims, take where a client leaves a field out."""

from typing import Final

from baseload.embedded.api.admission.amounts import settle, settle_all
from baseload.embedded.api.admission.images import pull_policy
from baseload.embedded.api.admission.tree import Tree, child, fill, fill_empty, held, maps
from baseload.embedded.store.record import Json

_MODE: Final[dict[str, Json]] = {"defaultMode": 420}
# source -> (what stands for an absent field, what stands for an absent or empty one)
_BY_SOURCE: Final[dict[str, tuple[dict[str, Json], dict[str, Json]]]] = {
    "configMap": (_MODE, {}),
    "secret": (_MODE, {}),
    "downwardAPI": (_MODE, {}),
    "projected": (_MODE, {}),
    "hostPath": ({"type": ""}, {}),
    "iscsi": ({}, {"iscsiInterface": "default"}),
    "rbd": ({}, {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
    "azureDisk": ({"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False}, {}),
    "scaleIO": ({}, {"storageMode": "ThinProvisioned", "fsType": "xfs"}),
}


def volume(tree: Tree) -> None:
    """A volume of a pod."""
    if not any(value is not None for name, value in tree.items() if name != "name"):
        tree["emptyDir"] = {}
    source(tree)
    settle(held(tree, "emptyDir"), "sizeLimit")
    for item in maps(held(tree, "downwardAPI"), "items"):
        field_reference(item)
    for projection in maps(held(tree, "projected"), "sources"):
        if isinstance(token := projection.get("serviceAccountToken"), dict):
            fill(token, {"expirationSeconds": 3600})
        for item in maps(held(projection, "downwardAPI"), "items"):
            field_reference(item)
    if isinstance(template := held(tree, "ephemeral").get("volumeClaimTemplate"), dict):
        fill(template, {"metadata": {}})
        claim_spec(child(template, "spec"))
    if isinstance(image := tree.get("image"), dict):
        fill_empty(image, {"pullPolicy": pull_policy(str(image.get("reference") or ""))})


def source(tree: Tree) -> None:
    """What holds the data, of a pod's volume or of a persistent one."""
    for name, value in tree.items():
        if isinstance(value, dict) and (defaults := _BY_SOURCE.get(name)) is not None:
            fill(value, defaults[0])
            fill_empty(value, defaults[1])


def field_reference(tree: Tree) -> None:
    """Where a field of the pod itself, or of its resources, is meant."""
    if isinstance(found := tree.get("fieldRef"), dict):
        fill_empty(found, {"apiVersion": "v1"})
    if isinstance(found := tree.get("resourceFieldRef"), dict):
        fill(found, {"divisor": "0"})
        settle(found, "divisor")


def claim_spec(spec: Tree) -> None:
    """The spec of a claim, or of a template of one."""
    fill(spec, {"volumeMode": "Filesystem", "resources": {}})
    settle_all(held(spec, "resources"), "requests", "limits")
