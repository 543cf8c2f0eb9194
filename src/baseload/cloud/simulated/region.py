"""The simulated region as it is: what a call does when it arrives, and what is done to the region from outside.

Nothing here waits. Whatever is read or done, the agenda has first carried out what is due until now. `cloud` puts calls
over a network in front of it; whoever plays fate, a scenario or a test, acts on it directly.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.masks import bits
from baseload.catalog.nodeclass import DEFAULT, NodeClassSettings
from baseload.cloud import errors
from baseload.cloud.errors import Refusal
from baseload.cloud.port import CapacityType, Fleet, Instance, InstanceStatus, Launched, State
from baseload.cloud.simulated import refusals
from baseload.cloud.simulated.account import Selecting, carries, usual_subnets
from baseload.cloud.simulated.agenda import Agenda
from baseload.cloud.simulated.capacity import PLENTY, Capacity
from baseload.cloud.simulated.draws import Delays, Streams
from baseload.cloud.simulated.faults import Strike
from baseload.cloud.simulated.fleet import Pool, fingerprint, ranked
from baseload.cloud.simulated.inventory import BY_USER, Hooks, Inventory, Record
from baseload.cloud.simulated.market import Market
from baseload.cloud.simulated.network import Network
from baseload.cloud.simulated.queue import Queue
from baseload.cloud.simulated.quotas import Quotas
from baseload.cloud.simulated.settings import TOKENS, CloudSettings
from baseload.cloud.simulated.troubles import Troubles
from baseload.cloud.simulated.volumes import Devices
from baseload.values.clock import Clock
from baseload.values.label import ARCH, ZONE_ID
from baseload.values.quantity import UNIT

Types = Callable[[NodeClassSettings], InstanceTypes]
"""The catalogue, as a NodeClass with such settings gets it."""
What = State | Literal["interrupted"]
"""What befalls an instance: it gets into another state, or is told that it will be interrupted"""
_Asked = tuple[tuple[tuple[str, str], ...], frozenset[State]]
_HOME: Final = "us-east-1"
_NOTHING: Final = Strike()


@dataclass(frozen=True, slots=True)
class Known:
    """A launch that can be asked for again."""

    fingerprint: int  # of the request
    instance: Instance  # as it was launched
    refusals: tuple[Refusal, ...]
    until: int


class Region:
    """One region of one account."""

    def __init__(self, types: Types, clock: Clock, settings: CloudSettings, *, seed: int, start: int) -> None:
        self.settings, self.types, self.start = settings, types, start
        self.agenda = Agenda(clock)
        self.streams = streams = Streams(seed)
        table = types(DEFAULT)
        self.name = table.region or _HOME
        self.market = Market(table, settings.spot, streams, self.start)
        self._shapes = _Shapes(table)
        account = settings.account
        subnets = account.subnets or usual_subnets(self.market.zones)
        self.network = Network(subnets, self._shapes.zone_ids, account.addresses_an_instance)
        self._zones = {subnet.id: subnet.zone for subnet in subnets}
        self.selecting = Selecting(account, self.start)
        self.capacity = Capacity(settings.capacity, streams)
        self.quotas = Quotas(settings.quotas)
        self.queue = Queue(settings.queue, streams, clock)
        self.devices = Devices(self.agenda, streams, attaching=settings.attaching, detaching=settings.detaching)
        hooks = Hooks(self._changed, self._ending, self._ended)
        self.inventory = Inventory(
            self.agenda, streams, hooks, terminating=settings.terminating, stopping=settings.stopping
        )
        self.troubles = Troubles(self.agenda, streams, self.inventory, self.queue, self.name)
        self.tokens: dict[str, Known] = {}
        self._described: dict[_Asked, tuple[list[Instance], tuple[Instance, ...]]] = {}  # of what there was, what held
        self.told: Callable[[Record, What], None] = lambda record, what: None
        """Called with an instance and what befell it, in the moment; it may only take a note"""
        self.troubles.noticed = lambda record: self.told(record, "interrupted")

    def begin(self) -> None:
        """Plans what the settings say of the future."""
        for outage in self.settings.outages:
            self.troubles.arrange_outage(outage, self.start)

    def put_back(self, records: Iterable[Record], addresses: Mapping[str, int]) -> None:
        """Goes on with instances as they were, and what they occupy."""
        self.inventory.put_back(records)
        present = [record for record in self.inventory if record.state != "terminated"]
        self.network.put_back(addresses, ((it.instance.subnet, it.instance.private_address) for it in present))
        for record in present:
            instance = record.instance
            self.capacity.take((instance.instance_type, instance.zone, instance.capacity_type))
            if record.is_living:
                self.quotas.take(instance.instance_type, instance.capacity_type, record.vcpus)

    @property
    def moment(self) -> int:
        """Now, counted from the start of the run."""
        return self.agenda.now() - self.start

    def launch(self, fleet: Fleet, strike: Strike = _NOTHING) -> Launched:
        """A machine from the best pool that has one."""
        known = self._known(fleet)
        if known is not None:
            record = self.inventory.find(known.instance.id)
            return Launched(record.instance if record else known.instance, known.refusals)
        refused: list[Refusal] = []
        for pool in self._pools(fleet):
            said = self._refusal(pool, fleet, strike)
            if said is None:
                return self._started(pool, fleet, tuple(refused))
            refused.append(_refused(pool, fleet, *said))
        refused += self._without_subnet(fleet)
        raise refusals.failed(tuple(refused))

    def describe(self, id: str) -> Instance:
        record = self.inventory.get(id)
        if record.seen_from > self.agenda.now():
            message = f"The instance ID '{id}' does not exist"
            raise errors.NotFound(message, code="InvalidInstanceID.NotFound")
        return record.instance

    def described(self, tags: Mapping[str, str], states: frozenset[State]) -> tuple[Instance, ...]:
        """The very tuple of before, as long as all instances are as they were."""
        asked, seen = (tuple(tags.items()), states), [record.instance for record in self.inventory.seen()]
        known = self._described.get(asked)
        if known is None or known[0] != seen:
            found = tuple(it for it in seen if it.state in states and carries(it.tags, tags))
            known = self._described[asked] = seen, found
        return known[1]

    def terminate(self, id: str) -> None:
        self.inventory.terminate(self.inventory.get(id), BY_USER)

    def tag(self, id: str, tags: Mapping[str, str]) -> None:
        record = self.inventory.get(id)
        record.instance = replace(record.instance, tags={**record.instance.tags, **tags})

    def statuses(self) -> Iterator[InstanceStatus]:
        for record in self.inventory.seen():
            if (record.hangs or record.events) and record.state == "running":
                since = [record.hangs[cause] for cause in ("host", "zone") if cause in record.hangs]
                yield InstanceStatus(
                    record.instance.id,
                    min(record.hangs.values(), default=None),
                    min(since, default=None),
                    tuple(record.events),
                )

    def attach(self, volume: str, instance: str) -> None:
        record = self.inventory.get(instance)
        if record.state != "running":
            raise errors.Conflict(f"Instance '{instance}' is not 'running'.")
        self.devices.attach(volume, instance, record.instance.zone)

    def instance_types(self, settings: NodeClassSettings) -> InstanceTypes:
        return self.market.table(self.types(settings), self.agenda.now())

    def _known(self, fleet: Fleet) -> Known | None:
        now = self.agenda.now()
        while self.tokens:
            token, oldest = next(iter(self.tokens.items()))
            if oldest.until > now:
                break
            del self.tokens[token]
        known = self.tokens.get(fleet.token)
        if known is None or not fleet.token:
            return None
        if known.fingerprint != fingerprint(fleet):
            message = (
                "Arguments on this idempotent request are inconsistent with arguments used in previous request(s)."
            )
            raise errors.TokenReused(message)
        return known

    def _pools(self, fleet: Fleet) -> Iterator[Pool]:
        def left(instance_type: str, zone: str) -> int:
            return self._left(instance_type, zone, fleet.capacity_type)

        return ranked(fleet, self._zones, self.market, self.agenda.now(), left=left, plenty=PLENTY)

    def _refusal(self, pool: Pool, fleet: Fleet, strike: Strike) -> refusals.Said | None:
        """Why a pool gives no machine; None where it does."""
        name, zone, kind = pool.instance_type, pool.zone, fleet.capacity_type
        if pool.price is None:
            return self._unsold(name, zone, kind)
        image, own = self.selecting.architecture(pool.overrides.image), self._shapes.architecture(name)
        if image not in (None, own):
            return refusals.wrong_image(own, pool.overrides.image, image or "")
        code = strike.refusal(name, zone, kind)
        if code == errors.INSUFFICIENT_CAPACITY or not self._left(name, zone, kind):
            return refusals.no_machine(name, zone, kind)
        limit = self.quotas.exceeded(name, kind, self._shapes.vcpus(name))
        if code is not None or limit is not None:
            return refusals.beyond_quota(kind, limit)
        return None if self.network.has_room(pool.overrides.subnet) else refusals.no_address(pool.overrides.subnet)

    def _left(self, name: str, zone: str, kind: CapacityType) -> int:
        return 0 if self.troubles.is_down(zone) else self.capacity.left((name, zone, kind), self.moment)

    def _unsold(self, name: str, zone: str, kind: CapacityType) -> refusals.Said:
        if name not in self.market.position:
            return refusals.unknown_type(name)
        now = self.agenda.now()
        sellers = [other for other in self.market.zones if self.market.price(name, other, kind, now) is not None]
        return refusals.unsupported(name, zone, sellers)

    def _without_subnet(self, fleet: Fleet) -> Iterator[Refusal]:
        for group in fleet.overrides:
            if group.subnet not in self._zones:
                code, message = refusals.no_subnet(group.subnet)
                for name in group.types:
                    yield Refusal(code, message, name, "", fleet.capacity_type, group.subnet)

    def _started(self, pool: Pool, fleet: Fleet, refused: tuple[Refusal, ...]) -> Launched:
        settings, now = self.settings, self.agenda.now()
        name, zone, kind = pool.instance_type, pool.zone, fleet.capacity_type
        vcpus = self._shapes.vcpus(name)
        self.capacity.take((name, zone, kind))
        self.quotas.take(name, kind, vcpus)
        address = self.network.take(pool.overrides.subnet)
        instance = Instance(
            id=f"i-0{self.streams.word('instance'):016x}",
            instance_type=name,
            architecture=self._shapes.architecture(name),
            zone=zone,
            zone_id=self._shapes.zone_ids.get(zone, ""),
            capacity_type=kind,
            state="pending",
            image=pool.overrides.image,
            subnet=pool.overrides.subnet,
            private_address=address,
            private_dns=self._host_name(address),
            launched=now,
            security_groups=fleet.security_groups,
            instance_profile=fleet.instance_profile,
            tags=dict(fleet.tags),
        )
        boots_after = self._drawn(settings.boot.running, "running") or 0
        record = Record(
            instance,
            fleet.user_data,
            vcpus,
            now + (self._drawn(settings.seen_after, "seen") or 0),
            registers_after=self._drawn(settings.boot.registers, "registers"),
            ready_after=self._drawn(settings.boot.ready, "ready"),
        )
        if self.troubles.is_down(zone):
            record.hangs["zone"] = now
        self.inventory.add(record, boots_after)
        self.troubles.befall(record, settings.spot, settings.failures, boots_after)
        if fleet.token:
            self.tokens[fleet.token] = Known(fingerprint(fleet), instance, refused, now + TOKENS)
        return Launched(instance, refused)

    def _drawn(self, delays: Delays, stream: str) -> int | None:
        return delays.at(self.streams.share(stream))

    def _host_name(self, address: str) -> str:
        domain = "ec2.internal" if self.name == _HOME else f"{self.name}.compute.internal"
        return f"ip-{address.replace('.', '-')}.{domain}"

    def _changed(self, record: Record) -> None:
        self.troubles.say_state(record)
        self.told(record, record.state)

    def _ending(self, record: Record) -> None:
        self.quotas.give_back(record.instance.instance_type, record.instance.capacity_type, record.vcpus)

    def _ended(self, record: Record) -> None:
        instance = record.instance
        self.capacity.give_back((instance.instance_type, instance.zone, instance.capacity_type))
        self.network.give_back(instance.subnet, instance.private_address)
        self.devices.release(instance.id)


class _Shapes:
    """What of the instance types decides a launch."""

    def __init__(self, types: InstanceTypes) -> None:
        self._position = {name: position for position, name in enumerate(types.names)}
        self._vcpus = [-(-amount // UNIT) for amount in types.capacity["cpu"]]
        self._architectures = [""] * len(types)
        for requirement, mask in types.labels[ARCH].groups:
            for position in bits(mask):
                self._architectures[position] = min(requirement.values, default="")
        self.zone_ids = {column.zone: _zone_id(column) for column in types.offerings}

    def vcpus(self, name: str) -> int:
        return self._vcpus[self._position[name]]

    def architecture(self, name: str) -> str:
        return self._architectures[self._position[name]]


def _zone_id(column: OfferingColumn) -> str:
    requirement = column.requirements.get(ZONE_ID)
    return min(requirement.values, default="") if requirement is not None else ""


def _refused(pool: Pool, fleet: Fleet, code: str, message: str) -> Refusal:
    return Refusal(code, message, pool.instance_type, pool.zone, fleet.capacity_type, pool.overrides.subnet)
