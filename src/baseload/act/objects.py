"""Writes objects as decisions want them: what differs from what was read, on condition that nobody wrote in between.

A decision returns an object as it should be. Its metadata and spec are one patch, its status another; what is equal is
not written. Both name the version that was decided on, so a decision on an old state is refused as a Conflict.
"""

from typing import Any, Final, TypeVar

import msgspec

from baseload.kube import kinds
from baseload.kube.client.client import Client
from baseload.kube.client.errors import NotFound
from baseload.kube.client.port import Resource
from baseload.kube.client.requests import Deletion
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool

T = TypeVar("T", Node, NodeClaim, NodePool, EC2NodeClass)
Tree = dict[str, Any]
_CONDITION: Final = {"reason": "", "message": ""}


def _resource(api_version: str, kind: str) -> Resource:
    found = kinds.find(api_version, kind)
    assert found is not None
    return Resource.of(found)


RESOURCES: Final[dict[type, Resource]] = {
    Node: _resource("v1", "Node"),
    Pod: _resource("v1", "Pod"),
    NodeClaim: _resource("karpenter.sh/v1", "NodeClaim"),
    NodePool: _resource("karpenter.sh/v1", "NodePool"),
    EC2NodeClass: _resource("karpenter.k8s.aws/v1", "EC2NodeClass"),
}


class Objects:
    """The objects of a cluster, as their controllers write them."""

    def __init__(self, client: Client) -> None:
        self.client: Final = client

    async def write(self, before: T, after: T) -> T:
        """The object as it is after that. Raises Conflict where it is another by now, NotFound where it is gone."""
        if after == before:
            return before
        resource, name = RESOURCES[type(before)], before.metadata.name
        old, new = _tree(before), _tree(after)
        change = difference(_without_status(old), _without_status(new))
        told = difference(old.get("status", {}), new.get("status", {}))
        held = before
        if change:
            body = {**change, "metadata": {**change.get("metadata", {}), **_identity(held)}}
            held = (await self.client.patch(resource, name, body, kind="merge")).read(type(before))
        if told:
            body = {"metadata": _identity(held), "status": told}
            written = await self.client.patch(resource, name, body, kind="merge", subresource="status")
            held = written.read(type(before))
        return held

    async def create(self, reading: type, tree: Tree) -> str:
        """The name of a new object."""
        return (await self.client.create(RESOURCES[reading], tree)).metadata.name

    async def delete(self, held: Node | NodeClaim | Pod, *, grace_seconds: int | None = None) -> None:
        """Deletes that very object; one that is gone is gone."""
        options = Deletion(grace_seconds=grace_seconds, uid=held.metadata.uid)
        metadata = held.metadata
        try:
            resource = RESOURCES[type(held)]
            await self.client.delete(resource, metadata.name, namespace=metadata.namespace, options=options)
        except NotFound:
            return


def difference(before: Tree, after: Tree) -> Tree:
    """The merge patch that makes one tree of the other; lists are replaced as a whole."""
    change: Tree = {key: None for key in before if key not in after}
    for key, value in after.items():
        held = before.get(key)
        if isinstance(value, dict) and isinstance(held, dict):
            if below := difference(held, value):
                change[key] = below
        elif key not in before or held != value:
            change[key] = value
    return change


def _tree(held: msgspec.Struct) -> Tree:
    tree: Tree = msgspec.json.decode(msgspec.json.encode(held))
    status = tree.get("status")
    if isinstance(status, dict) and "conditions" in status:
        status["conditions"] = [{**_CONDITION, **one} for one in status["conditions"]]
    return tree


def _without_status(tree: Tree) -> Tree:
    return {key: value for key, value in tree.items() if key != "status"}


def _identity(held: Node | NodeClaim | NodePool | EC2NodeClass) -> Tree:
    return {"uid": held.metadata.uid, "resourceVersion": held.metadata.resource_version}
