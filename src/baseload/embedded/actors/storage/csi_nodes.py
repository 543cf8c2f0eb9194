"""CSINodes: what the disk driver on each node says of it, and how many disks it takes."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from baseload.embedded.actors import nodes
from baseload.embedded.actors.storage.disks import Disks
from baseload.embedded.actors.storage.objects import GROUP, Objects
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.record import Record
from baseload.values.label import INSTANCE_TYPE, ZONE

DRIVER: Final = "ebs.csi.aws.com"
_KEYS: Final = ("kubernetes.io/os", "topology.ebs.csi.aws.com/zone", ZONE)


class CsiNodes:
    """Keeps a CSINode for each Node; the Node owns it, so that it goes with it."""

    def __init__(self, objects: Objects, disks: Disks, ring: Callable[[], None]) -> None:
        self._objects, self._client, self._disks = objects, objects.client, disks
        self._nodes = objects.client.subscribe("", "Node", ("added",), ring)

    def begin(self) -> None:
        """Looks at all there is."""
        for record in list(self._client.records("", "Node").values()):
            self._register(record)

    def work(self) -> None:
        """Hears of new nodes."""
        for event in self._nodes.take():
            held = self._objects.record("", "Node", "", event.record.name)
            if held is not None:
                self._register(held)

    def _register(self, node: Record) -> None:
        if self._objects.record(GROUP, "CSINode", "", node.name) is not None:
            return
        most = self._disks.most(node.shared.labels.get(INSTANCE_TYPE, ""))
        machine = nodes.spec(node).provider_id.rpartition("/")[2]
        driver: dict[str, Any] = {"name": DRIVER, "nodeID": machine or node.name, "topologyKeys": list(_KEYS)}
        if most is not None:
            driver["allocatable"] = {"count": most}
        owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
        tree = {
            "apiVersion": f"{GROUP}/v1",
            "kind": "CSINode",
            "metadata": {"name": node.name, "ownerReferences": [owner]},
            "spec": {"drivers": [driver]},
        }
        try:
            self._client.create(self._client.kind(GROUP, "CSINode"), "", msgspec.json.encode(tree))
        except StatusError:
            return  # somebody made it
