"""Which region's catalogue an input is planned with.

The user's word counts first. Else it is the region of the zones that the input's nodes, volumes and pools name; zones
that are not named the way AWS names them say nothing. An input that names two regions is refused, since half of it
could not be planned; one that names none is planned with a default, and that is said.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from baseload.catalog.ec2 import DEFAULT_REGION
from baseload.kube.manifests import Manifests
from baseload.kube.types.core import Node, NodeSelector, PersistentVolume
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.kube.types.meta import NodeSelectorRequirement
from baseload.kube.types.storage import StorageClass
from baseload.values.errors import BadInput, Fault
from baseload.values.label import REGION, ZONE, normalise

_ZONE: Final = re.compile(r"([a-z]{2}(?:-[a-z]+)+-\d+)(?:[a-z]|-[a-z]+-\d+[a-z])")
_REGION: Final = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d+")

Named = tuple[str, str]
"""(object that names a place, zone or region)"""


def choose(manifests: Manifests, given: str | None) -> tuple[str, tuple[str, ...]]:
    """The region, and what the user should know about the choice."""
    if given:
        return given, ()
    first: dict[str, Named] = {}
    for owner, place in _named(manifests):
        region = region_of(place)
        if region is not None:
            first.setdefault(region, (owner, place))
    if len(first) > 1:
        said = "; ".join(f"{region} by {owner} ({place})" for region, (owner, place) in first.items())
        fault = Fault(f"the input names {len(first)} regions: {said}", allowed="say which one by --region")
        raise BadInput([fault])
    if first:
        return next(iter(first)), ()
    return DEFAULT_REGION, (
        f"no zone is named in the input: planned with the catalogue of {DEFAULT_REGION} (--region)",
    )


def region_of(place: str) -> str | None:
    """The region that a zone lies in, or that a text names; None for a name that is not of AWS' kind."""
    zone = _ZONE.fullmatch(place)
    if zone is not None:
        return zone[1]
    return place if _REGION.fullmatch(place) else None


def _named(manifests: Manifests) -> Iterator[Named]:
    for node in manifests.of(Node):
        yield from _of_labels(f"Node {node.metadata.name}", node.metadata.labels)
    for claim in manifests.of(NodeClaim):
        owner = f"NodeClaim {claim.metadata.name}"
        yield from _of_labels(owner, claim.metadata.labels)
        yield from _of_requirements(owner, claim.spec.requirements)
    for volume in manifests.of(PersistentVolume):
        owner = f"PersistentVolume {volume.metadata.name}"
        yield from _of_labels(owner, volume.metadata.labels)
        affinity = volume.spec.node_affinity
        yield from _of_terms(owner, affinity.required if affinity else None)
    for storage_class in manifests.of(StorageClass):
        for term in storage_class.allowed_topologies:
            for expression in term.match_label_expressions:
                if normalise(expression.key) in (ZONE, REGION):
                    yield from ((f"StorageClass {storage_class.metadata.name}", v) for v in expression.values)
    for pool in manifests.of(NodePool):
        owner = f"NodePool {pool.metadata.name}"
        yield from _of_requirements(owner, pool.spec.template.spec.requirements)
        yield from _of_labels(owner, pool.spec.template.metadata.labels)
    for node_class in manifests.of(EC2NodeClass):
        owner = f"EC2NodeClass {node_class.metadata.name}"
        yield from ((owner, subnet.zone) for subnet in node_class.status.subnets)


def _of_labels(owner: str, labels: dict[str, str]) -> Iterator[Named]:
    return ((owner, value) for key, value in labels.items() if normalise(key) in (ZONE, REGION))


def _of_requirements(owner: str, requirements: Iterable[NodeSelectorRequirement]) -> Iterator[Named]:
    for requirement in requirements:
        if requirement.operator == "In" and normalise(requirement.key) in (ZONE, REGION):
            yield from ((owner, value) for value in requirement.values)


def _of_terms(owner: str, selector: NodeSelector | None) -> Iterator[Named]:
    for term in selector.node_selector_terms if selector else ():
        yield from _of_requirements(owner, term.match_expressions)
