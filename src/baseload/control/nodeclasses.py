"""What an EC2NodeClass resolves to: subnets, security groups, images and the instance profile (spec 27.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace as with_fields

from baseload.act.objects import Objects
from baseload.cloud import port
from baseload.cloud.errors import InvalidLaunch, NotFound
from baseload.cloud.port import Cloud, Image
from baseload.control.controller import Controller
from baseload.control.informer import Transition
from baseload.control.observed import CLASS, Observed
from baseload.decide.lifecycle import class_hash, conditions
from baseload.decide.lifecycle.conditions import Said
from baseload.kube.client import errors
from baseload.kube.types.ec2 import AMI, AMIRequirement, EC2NodeClass, EC2NodeClassStatus, SecurityGroup, Subnet
from baseload.values.label import ARCH

FOUND_AGAIN: Final = 60.0  # seconds until subnets are looked up again, and whatever was not found
_ACCELERATED: Final = {
    "nvidia": ("karpenter.k8s.aws/instance-gpu-count", "karpenter.k8s.aws/instance-accelerator-count"),
    "neuron": ("karpenter.k8s.aws/instance-accelerator-count", "karpenter.k8s.aws/instance-gpu-count"),
}
"""variant of an image -> (the label that its types have, one that they lack)"""
AMIS: Final = "AMIsReady"
SUBNETS: Final = "SubnetsReady"
GROUPS: Final = "SecurityGroupsReady"
PROFILE: Final = "InstanceProfileReady"
VALID: Final = "ValidationSucceeded"
STANDS_ON: Final = (AMIS, PROFILE, GROUPS, SUBNETS, VALID)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the cloud has of what a NodeClass names, and what is wrong with the names."""

    subnets: tuple[port.Subnet, ...]
    groups: tuple[port.SecurityGroup, ...]
    images: tuple[Image, ...]
    alias_fault: str
    profile: str
    profile_fault: str


class NodeClasses:
    """The controller of EC2NodeClasses."""

    def __init__(self, observed: Observed, objects: Objects, cloud: Cloud) -> None:
        self._observed, self._objects, self._cloud = observed, objects, cloud
        self._clock = objects.client.clock
        self.controller: Final = Controller(self._clock, self.reconcile)
        self._settled: dict[str, tuple[EC2NodeClass, _Found]] = {}  # name -> the class that says what was found
        observed.informer.listen(self._note, CLASS)

    async def reconcile(self, name: str) -> float | None:
        """Looks up what a NodeClass names, and writes what was found."""
        node_class = self._observed.node_class(name)
        if node_class is None or node_class.metadata.deletion_timestamp:
            return None
        found = await self._find(node_class)
        known = self._settled.get(name)
        if known is not None and known[0] is node_class and known[1] == found:
            return FOUND_AGAIN
        status, said = _resolved(node_class, found)
        generation = node_class.metadata.generation
        held = node_class.status.conditions
        for one in said:
            held = conditions.with_condition(held, one, self._clock.now(), generation=generation)
        held = conditions.with_ready(held, STANDS_ON, self._clock.now(), generation=generation)
        wanted = with_fields(class_hash.hashed(node_class), status=with_fields(status, conditions=held))
        try:
            await self._rehash(node_class)
            written = await self._objects.write(node_class, wanted)
        except errors.NotFound:
            return None
        if written is node_class:
            self._settled[name] = node_class, found
        return FOUND_AGAIN

    async def _rehash(self, node_class: EC2NodeClass) -> None:
        """Brings claims that carry another version of the hash up to date before the class itself is."""
        name = node_class.metadata.name
        claims = {it.metadata.name: it for it in self._observed.claims() if it.spec.node_class_ref.name == name}
        for changed in class_hash.rehashed(node_class, claims.values()):
            await self._objects.write(claims[changed.metadata.name], changed)

    async def _find(self, node_class: EC2NodeClass) -> _Found:
        spec = node_class.spec
        subnets = await self._cloud.subnets(spec.subnet_selector_terms)
        groups = await self._cloud.security_groups(spec.security_group_selector_terms)
        images, alias_fault = await self._images(node_class)
        profile, profile_fault = await self._profile(node_class)
        return _Found(tuple(subnets), tuple(groups), tuple(images), alias_fault, profile, profile_fault)

    async def _images(self, node_class: EC2NodeClass) -> tuple[Sequence[Image], str]:
        try:
            return await self._cloud.images(node_class.spec.ami_selector_terms), ""
        except InvalidLaunch as error:
            return (), str(error)

    async def _profile(self, node_class: EC2NodeClass) -> tuple[str, str]:
        if node_class.spec.instance_profile:
            return node_class.spec.instance_profile, ""
        try:
            return await self._cloud.instance_profile(node_class.spec.role), ""
        except NotFound as error:
            return "", str(error)

    def _note(self, change: Transition) -> None:
        if change.kind is CLASS and change.after is not None:
            before = change.before.metadata.generation if change.before else None
            if before != change.after.metadata.generation:
                self.controller.queue.add(change.after.metadata.name)


def _resolved(node_class: EC2NodeClass, found: _Found) -> tuple[EC2NodeClassStatus, list[Said]]:
    """The status that says what was found, and what its conditions say."""
    ordered = sorted(found.subnets, key=lambda it: (-it.free_addresses, it.id))
    status = with_fields(
        node_class.status,
        subnets=tuple(Subnet(it.id, it.zone, it.zone_id) for it in ordered),
        security_groups=tuple(SecurityGroup(it.id, it.name) for it in sorted(found.groups, key=lambda it: it.id)),
        amis=tuple(_ami(image) for image in found.images),
        instance_profile=found.profile,
    )
    missing, no_profile = "UnsupportedAlias" if found.alias_fault else "AMINotFound", found.profile_fault
    said = [
        _found(AMIS, found.images, missing, found.alias_fault or "AMISelector did not match any AMIs"),
        _found(SUBNETS, found.subnets, "SubnetsNotFound", "SubnetSelector did not match any Subnets"),
        _found(
            GROUPS, found.groups, "SecurityGroupsNotFound", "SecurityGroupSelector did not match any SecurityGroups"
        ),
        Said(PROFILE, "False", "InstanceProfileNotFound", no_profile) if no_profile else Said(PROFILE),
    ]
    unready = [one.type for one in said if one.status != "True"]
    waits = "Awaiting AMI, Instance Profile, Security Group, and Subnet resolution"
    said.append(Said(VALID, "False", "DependenciesNotReady", waits) if unready else Said(VALID))
    return status, said


def _found(type: str, found: Sequence[object], reason: str, message: str) -> Said:
    return Said(type) if found else Said(type, "False", reason, message)


def _ami(image: Image) -> AMI:
    requirements = [AMIRequirement(ARCH, "In", (image.architecture,))]
    if image.variant == "standard":
        keys = sorted({key for pair in _ACCELERATED.values() for key in pair})
        requirements += (AMIRequirement(key, "DoesNotExist") for key in keys)
    else:
        has, lacks = _ACCELERATED[image.variant]
        requirements += [AMIRequirement(has, "Exists"), AMIRequirement(lacks, "DoesNotExist")]
    return AMI(image.id, image.name, tuple(requirements))
