"""A node's status as actors write it, and what they read in one, whoever wrote it."""

from typing import Final

import msgspec

from baseload.embedded.actors.pods import Condition, Written, status_of
from baseload.embedded.store.record import Record
from baseload.kube.types.core import NodeSpec


class Address(Written, frozen=True):
    type: str
    address: str


class NodeInfo(Written, frozen=True, omit_defaults=False):
    machine_id: str = msgspec.field(name="machineID", default="")
    system_uuid: str = msgspec.field(name="systemUUID", default="")
    boot_id: str = msgspec.field(name="bootID", default="")
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    kubelet_version: str = ""
    kube_proxy_version: str = ""
    operating_system: str = "linux"
    architecture: str = "amd64"


class NodeStatus(Written, frozen=True):
    """All of a node's status that is looked into here; the rest is carried along as it is."""

    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    addresses: tuple[Address, ...] = ()
    daemon_endpoints: object = None
    node_info: NodeInfo = NodeInfo()
    images: object = None
    volumes_in_use: object = None
    volumes_attached: object = None
    config: object = None
    runtime_handlers: object = None
    features: object = None
    declared_features: object = None

    def condition(self, type: str) -> Condition | None:
        return next((held for held in self.conditions if held.type == type), None)

    def with_conditions(self, new: tuple[Condition, ...]) -> "NodeStatus":
        """The status with some conditions in place of those of their types."""
        types = {one.type: one for one in new}
        kept = [types.pop(held.type, held) for held in self.conditions]
        return msgspec.structs.replace(self, conditions=(*kept, *types.values()))


EMPTY: Final = NodeStatus()


def status(node: Record) -> NodeStatus:
    """A node's status; one that cannot be read is an empty one."""
    return status_of(node, NodeStatus, EMPTY)


def spec(node: Record) -> NodeSpec:
    """A node's spec as it is read here."""
    return node.body.spec(NodeSpec)


def ready(node: Record) -> str:
    """The status of its Ready condition; "" where it never had one."""
    found = status(node).condition("Ready")
    return "" if found is None else found.status
