"""Which machine a claim asks the cloud for: pools of types, zones and images, and the capacity type.

Rules: provisioning spec 27. Reserved capacity is not launched: the port of a cloud has no reservations.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from baseload.catalog import single_labels
from baseload.catalog.columns import InstanceTypes
from baseload.catalog.masks import bits, mask_of
from baseload.decide.fit.constraints import requirements_of
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.types import TypeIndex
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import READY
from baseload.kube.types.ec2 import AMI, EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.meta import NodeSelectorRequirement
from baseload.model.requests import amounts
from baseload.plan.lifecycle import Launch, LaunchPool
from baseload.values.label import CAPACITY_TYPE, CORE_WELL_KNOWN, NODEPOOL, ZONE
from baseload.values.requirement import Requirements
from baseload.values.resource import written

MOST_TYPES: Final = 60
"""instance types in one request, the cheapest"""
_EXOTIC: Final = ("nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "habana.ai/gaudi")
_SPOT: Final = "spot"
_ON_DEMAND: Final = "on-demand"
_LAUNCHED: Final = (_SPOT, _ON_DEMAND)
CLASS_LABEL: Final = "karpenter.k8s.aws/ec2nodeclass"
UID_TAG: Final = "baseload.dev/nodeclaim-uid"
CLAIM_TAG: Final = "karpenter.sh/nodeclaim"
CLUSTER_TAG: Final = "eks:eks-cluster-name"

Why = Literal["insufficient_capacity", "nodeclass_not_ready", "later"]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing is launched; `later` alone is tried again."""

    why: Why
    message: str


@dataclass(frozen=True, slots=True)
class _Offer:
    price: float
    place: int  # of the type in its table
    zone: str
    capacity_type: str


class Choice:
    """What can be launched from one table of types, into other subnets than those that are full."""

    def __init__(self, table: InstanceTypes, full: Collection[str] = ()) -> None:
        self.table: Final = table
        self._full = full
        self._sets: Final = Sets(CORE_WELL_KNOWN | table.well_known)
        self._index: Final = TypeIndex(table, self._sets)
        self._of_amis: tuple[tuple[AMI, ...], dict[int, str]] = (), {}  # the last images, and what goes with them
        self._labels: Final[dict[tuple[str, str, str], dict[str, str]]] = {}
        self._resources: Final[dict[str, tuple[dict[str, str], dict[str, str]]]] = {}

    def launch(
        self, claim: NodeClaim, node_class: EC2NodeClass | None, cluster: str, *, strict: bool = True
    ) -> Launch | Refused:
        """The request for a claim's machine; `strict`: minValues must hold after the cut to 60 types."""
        if (refused := not_launchable(node_class, claim.spec.node_class_ref.name)) is not None:
            return refused
        assert node_class is not None
        final = requirements_of(claim.spec.requirements)
        offers = self._affordable(final, amounts(claim.spec.resources.requests))
        types = _cheapest(offers)[:MOST_TYPES]
        if strict and self._index.short_of_variety(mask_of(types), self._sets.number(final)):
            return Refused("insufficient_capacity", "the cheapest instance types do not reach the minValues")
        kept = [offer for offer in offers if offer.place in types]
        capacity_type: Literal["on-demand", "spot"] = (
            "spot" if any(offer.capacity_type == _SPOT for offer in kept) else "on-demand"
        )
        pools = tuple(self._pools([offer for offer in kept if offer.capacity_type == capacity_type], node_class))
        if not pools:
            return Refused("insufficient_capacity", "all requested instance types were unavailable during launch")
        return Launch(
            capacity_type=capacity_type,
            pools=pools,
            security_groups=tuple(group.id for group in node_class.status.security_groups),
            instance_profile=node_class.status.instance_profile or node_class.spec.instance_profile,
            user_data=node_class.spec.user_data,
            tags=_tags(claim, node_class, cluster),
        )

    def labels(self, type: str, zone: str, capacity_type: str) -> dict[str, str]:
        """What a launched machine is known to be."""
        known = self._labels.get((type, zone, capacity_type))
        if known is None:
            known = self._labels[type, zone, capacity_type] = self._known(type, zone, capacity_type)
        return dict(known)

    def _known(self, type: str, zone: str, capacity_type: str) -> dict[str, str]:
        place = self.table.names.index(type)
        labels = dict(single_labels.of_type(self.table, place))
        for offering in self.table.offerings:
            if (offering.zone, offering.capacity_type) == (zone, capacity_type) and offering.types >> place & 1:
                labels.update(single_labels.of_offering(offering))
        return dict(sorted({**labels, ZONE: zone, CAPACITY_TYPE: capacity_type}.items()))

    def images(self, amis: tuple[AMI, ...]) -> dict[str, str]:
        """type -> the image that it is started from; without the types that none goes with"""
        return {self.table.names[place]: image for place, image in self._images(amis).items()}

    def resources(self, type: str) -> tuple[dict[str, str], dict[str, str]]:
        """The capacity of a type and what a node of it can allocate, as quantities."""
        known = self._resources.get(type)
        if known is None:
            place = self.table.names.index(type)
            known = _written(self.table.capacity, place), _written(self.table.allocatable, place)
            self._resources[type] = known
        return dict(known[0]), dict(known[1])

    def _affordable(self, final: Requirements, requests: dict[str, int]) -> list[_Offer]:
        """The offers that a launch may take, in the order of price."""
        mask = self._index.mask(self._sets.number(final))
        mask = self._index.holding(mask, requests)
        is_flexible = any(requirement.min_values for requirement in final.values())
        if not is_flexible:
            mask = self._plain(mask) or mask
        offers = sorted(self._offers(final, mask), key=_order)
        on_demand = next((offer.price for offer in offers if offer.capacity_type == _ON_DEMAND), None)
        if is_flexible or on_demand is None:
            return offers
        return [offer for offer in offers if offer.capacity_type != _SPOT or offer.price <= on_demand]

    def _offers(self, final: Requirements, mask: int) -> Iterator[_Offer]:
        for column in self._index.offerings(final):
            if column.capacity_type in _LAUNCHED:
                for place in bits(column.available & mask):
                    price = column.prices[place]
                    yield _Offer(float("inf") if price is None else price, place, column.zone, column.capacity_type)

    def _plain(self, mask: int) -> int:
        """The types without accelerators that are no bare metal."""
        names, capacity = self.table.names, self.table.capacity
        exotic = [amounts for resource, amounts in capacity.items() if resource.startswith(_EXOTIC)]
        return mask_of(
            place for place in bits(mask) if ".metal" not in names[place] and not any(a[place] for a in exotic)
        )

    def _pools(self, offers: Sequence[_Offer], node_class: EC2NodeClass) -> Iterator[LaunchPool]:
        """The first subnet of each zone with the types that it offers, by the image that they start from."""
        subnets: dict[str, str] = {}
        for subnet in node_class.status.subnets:
            if subnet.id not in self._full:
                subnets.setdefault(subnet.zone, subnet.id)
        by_pool: dict[tuple[str, str], list[str]] = {}
        images = self._images(node_class.status.amis)
        for offer in offers:
            image, subnet_id = images.get(offer.place), subnets.get(offer.zone)
            if image and subnet_id:
                by_pool.setdefault((subnet_id, image), []).append(self.table.names[offer.place])
        for (subnet_id, image), types in sorted(by_pool.items()):
            yield LaunchPool(subnet_id, image, tuple(types))

    def _images(self, amis: tuple[AMI, ...]) -> dict[int, str]:
        """place of a type -> the first image that goes with it"""
        if self._of_amis[0] != amis:
            found: dict[int, str] = {}
            for ami in amis:
                for place in bits(self._index.agreeing(requirements_of(_expressions(ami)))):
                    found.setdefault(place, ami.id)
            self._of_amis = amis, found
        return self._of_amis[1]


def not_launchable(node_class: EC2NodeClass | None, name: str) -> Refused | None:
    """What a NodeClass says against launching from it."""
    if node_class is None or node_class.metadata.deletion_timestamp:
        return Refused("insufficient_capacity", f"the EC2NodeClass {name} is not there, or is being deleted")
    ready = conditions.find(node_class.status.conditions, READY)
    status = ready.status if ready else "Unknown"
    observed = ready.observed_generation if ready else None
    if status == "False":
        message = f"EC2NodeClass {name} is not ready: {ready.message or ready.reason}" if ready else ""
        return Refused("nodeclass_not_ready", message)
    if status == "Unknown":
        return Refused("later", f"it is not known whether EC2NodeClass {name} is ready")
    if observed is not None and observed != node_class.metadata.generation:
        return Refused("nodeclass_not_ready", f"EC2NodeClass {name} has not been reconciled since its last change")
    return None


def _expressions(ami: AMI) -> Iterator[NodeSelectorRequirement]:
    return (NodeSelectorRequirement(key=r.key, operator=r.operator, values=r.values) for r in ami.requirements)


def _order(offer: _Offer) -> tuple[float, int, str, str]:
    return offer.price, offer.place, offer.zone, offer.capacity_type


def _cheapest(offers: Iterable[_Offer]) -> list[int]:
    """The places of the types by their cheapest offer."""
    return list(dict.fromkeys(offer.place for offer in offers))


def _written(columns: dict[str, tuple[int, ...]], place: int) -> dict[str, str]:
    return {name: written(name, held[place]) for name, held in sorted(columns.items()) if held[place]}


def _tags(claim: NodeClaim, node_class: EC2NodeClass, cluster: str) -> dict[str, str]:
    own = {
        CLUSTER_TAG: cluster,
        f"kubernetes.io/cluster/{cluster}": "owned",
        NODEPOOL: claim.metadata.labels.get(NODEPOOL, ""),
        CLASS_LABEL: node_class.metadata.name,
        CLAIM_TAG: claim.metadata.name,
        UID_TAG: claim.metadata.uid,
    }
    return dict(sorted({**node_class.spec.tags, **own}.items()))
