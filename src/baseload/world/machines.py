"""The simulated cloud's instances as the kubelets' machines: how large they are, and what they register with.

A machine's size is the catalogue's for its type, under the kubelet settings of the EC2NodeClass that it was launched
from; its taints and labels are those of its user data, and of Karpenter's part in it.
"""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.nodeclass import settings_of
from baseload.cloud import machines as clouds
from baseload.cloud.port import Instance
from baseload.cloud.simulated.cloud import SimulatedCloud
from baseload.decide.lifecycle.launch import CLAIM_TAG, CLASS_LABEL
from baseload.decide.lifecycle.names import UNREGISTERED
from baseload.embedded.actors.kubelet.machines import Change, Machine
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store.record import encode
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.values.label import ARCH, HOSTNAME, INSTANCE_TYPE, OS, REGION, ZONE, ZONE_ID
from baseload.values.taint import Taint
from baseload.world import node_config

_KIND: Final = ("karpenter.k8s.aws", "EC2NodeClass")


class _Ring:
    """What a follower of the cloud's rings: whoever follows here."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self.ring = ring

    async def wait(self, seconds: float) -> bool:
        raise AssertionError("kubelets wait for a bell of their own")


class CloudMachines:
    """The machines of a simulated cloud, for the kubelets of one cluster."""

    def __init__(self, cloud: SimulatedCloud, cluster: Cluster) -> None:
        self._cloud, self._cluster, self._types = cloud, cluster, cloud.region.types
        self._places: dict[int, dict[str, int]] = {}  # id of a table -> name of a type -> where it stands

    def machines(self) -> tuple[Machine, ...]:
        return tuple(self._machine(machine) for machine in self._cloud.machines())

    def follow(self, ring: Callable[[], None]) -> Callable[[], tuple[Change, ...]]:
        follower = self._cloud.follow(_Ring(ring))

        def take() -> tuple[Change, ...]:
            return tuple(Change(change.what, self._machine(change.machine)) for change in follower.take())

        return take

    def knows(self, provider_id: str) -> bool:
        """Whether a Node of this provider ID is, or was, an instance of the cloud's."""
        return self._cloud.region.inventory.find(provider_id.rpartition("/")[2]) is not None

    def _machine(self, machine: clouds.Machine) -> Machine:
        instance = machine.instance
        table = self._types(settings_of(self._node_class(instance)))
        place = self._place(table, instance.instance_type)
        config = node_config.read(machine.user_data)
        registers = None if machine.registers_after is None else machine.booted + machine.registers_after
        ready = None if registers is None or machine.ready_after is None else registers + machine.ready_after
        return Machine(
            instance.private_dns,
            {name: column[place] for name, column in table.capacity.items() if column[place]},
            {name: column[place] for name, column in table.allocatable.items() if column[place]},
            provider_id=instance.provider_id,
            labels={**config.labels, **_labels(instance, table.region)},
            taints=tuple(dict.fromkeys((*_own_taints(instance), *config.taints))),
            address=instance.private_address,
            architecture=instance.architecture,
            registers_at=registers,
            ready_at=ready,
        )

    def _place(self, table: InstanceTypes, name: str) -> int:
        places = self._places.get(id(table))
        if places is None:
            places = self._places[id(table)] = {name: place for place, name in enumerate(table.names)}
        return places[name]

    def _node_class(self, instance: Instance) -> EC2NodeClass | None:
        name = instance.tags.get(CLASS_LABEL)
        resource = self._cluster.store.resource_of(*_KIND)
        held = self._cluster.store.find(resource, "", name) if name and resource is not None else None
        return None if held is None else msgspec.json.decode(encode(held), type=EC2NodeClass)


def _labels(instance: Instance, region: str) -> dict[str, str]:
    """What the cloud's controller and the kubelet tell of the machine."""
    return {
        ARCH: instance.architecture,
        OS: "linux",
        HOSTNAME: instance.private_dns,
        INSTANCE_TYPE: instance.instance_type,
        "beta.kubernetes.io/instance-type": instance.instance_type,
        ZONE: instance.zone,
        REGION: region or instance.zone[:-1],
        **({ZONE_ID: instance.zone_id} if instance.zone_id else {}),
    }


def _own_taints(instance: Instance) -> Iterator[Taint]:
    if CLAIM_TAG in instance.tags:
        yield Taint(UNREGISTERED.key, UNREGISTERED.value, UNREGISTERED.effect)
