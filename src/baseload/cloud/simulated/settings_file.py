"""The settings of the simulated cloud as users write them: a map, each fault named at its path.

Moments are durations from the start of the run. `docs/cloud.md` has a table of all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from baseload.cloud.simulated import forms
from baseload.cloud.simulated.account import ALIASES
from baseload.cloud.simulated.draws import WHOLE, Delays
from baseload.cloud.simulated.forms import BOOLEAN, DELAYS, DURATION, LENGTH, PERCENT, TAGS, TEXT, Form, Tree, whole
from baseload.cloud.simulated.quotas import CLASSES
from baseload.cloud.simulated.settings import (
    CALLS,
    ERRORS,
    FAILURES,
    LATENCIES,
    LIMITS,
    AccountSettings,
    Boot,
    Bucket,
    CapacityRule,
    CloudSettings,
    FailureRule,
    FaultScript,
    GroupSettings,
    ImageSettings,
    Outage,
    QueueSettings,
    Release,
    Spot,
    SubnetSettings,
    Where,
    Window,
)
from baseload.values.errors import BadInput, Fault

_CAPACITY_TYPES: Final = ("on-demand", "spot")
_OF_A_LAUNCH: Final = ("InsufficientCapacity", "QuotaExceeded")
_DEFAULT: Final = CloudSettings()


def read(tree: object, *, file: str = "", path: str = "cloud", zones: Sequence[str] = ()) -> CloudSettings:
    """The settings of a map; raises BadInput with all that is wrong in it. `zones`, where given, are all there are."""
    faults: list[Fault] = []
    root = Tree(tree, path, faults, file)
    settings = _Reader(forms.one_of(*zones) if zones else TEXT).settings(root)
    root.done()
    if faults:
        raise BadInput(faults)
    return settings


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the parts; a zone is of this form."""

    zone: Form[str]

    def settings(self, root: Tree) -> CloudSettings:
        volumes = root.map("volumes")
        settings = CloudSettings(
            boot=_part(root, "boot", _boot),
            spot=_part(root, "spot", _spot),
            account=self.account(root),
            queue=_part(root, "queue", _queue),
            capacity=tuple(map(self.capacity, root.each("capacity"))),
            outages=tuple(Outage(it.required("zone", self.zone, ""), _window(it)) for it in root.each("outages")),
            quotas=_part(root, "quotas", _quotas),
            limits={**LIMITS, **root.map("limits").entries((*CALLS, "RunInstances"), _BUCKET)},
            latencies={**LATENCIES, **root.map("latencies").entries(CALLS, DELAYS)},
            faults=tuple(map(self.fault, root.each("faults"))),
            failures=tuple(map(self.failure, root.each("failures"))),
            seen_after=root.value("seenAfter", DELAYS, _DEFAULT.seen_after),
            terminating=root.value("terminating", DELAYS, _DEFAULT.terminating),
            stopping=root.value("stopping", DELAYS, _DEFAULT.stopping),
            attaching=volumes.value("attaching", DELAYS, _DEFAULT.attaching),
            detaching=volumes.value("detaching", DELAYS, _DEFAULT.detaching),
        )
        volumes.done()
        return settings

    def account(self, root: Tree) -> AccountSettings:
        groups = (
            GroupSettings(it.required("id", TEXT, ""), it.value("name", TEXT, ""), it.value("tags", TAGS, {}))
            for it in root.each("securityGroups")
        )
        releases = (
            Release(
                it.required("family", forms.one_of(*ALIASES), ""),
                it.required("version", TEXT, ""),
                it.value("at", DURATION, 0),
            )
            for it in root.each("releases")
        )
        return AccountSettings(
            subnets=_distinct(root, "subnets", map(self.subnet, root.each("subnets"))),
            security_groups=_distinct(root, "securityGroups", groups),
            images=_distinct(root, "images", map(_image, root.each("images"))),
            releases=tuple(releases),
            roles=root.value("roles", forms.list_of(TEXT), ()),
            addresses_an_instance=root.value("addressesAnInstance", whole(1, 10_000), 1),
        )

    def subnet(self, it: Tree) -> SubnetSettings:
        return SubnetSettings(
            it.required("id", TEXT, ""),
            it.required("zone", self.zone, ""),
            it.value("addresses", whole(1, 65_531), 8187),
            it.value("tags", TAGS, {}),
        )

    def capacity(self, it: Tree) -> CapacityRule:
        least, most = it.required("instances", _RANGE, (0, 0))
        return CapacityRule(least, most, self.where(it), _window(it))

    def fault(self, it: Tree) -> FaultScript:
        call = it.required("call", forms.one_of(*CALLS), "")
        error: Any = it.value("error", forms.one_of(*ERRORS), None)
        where = self.where(it)
        is_launch = call == "CreateFleet" and error in _OF_A_LAUNCH
        if error in _OF_A_LAUNCH and not is_launch:
            it.note("error", f"{error} is an answer to CreateFleet alone")
        if where != Where() and not is_launch:
            it.note("", "types, zones and capacityTypes are of InsufficientCapacity and QuotaExceeded alone")
        lost = it.value("lost", BOOLEAN, False)
        if lost and error is not None and not is_launch:
            it.note("lost", "a call that fails with an error has no answer to lose", "leave one of them out")
        if not (lost or it.says("error") or it.says("delay")):
            it.note("", "does nothing", "give error, delay or lost")
        return FaultScript(
            call,
            error,
            where,
            _window(it),
            skip=it.value("skip", whole(0), 0),
            count=it.value("count", whole(1), None),
            share=it.value("percent", PERCENT, WHOLE),
            delay=it.value("delay", DURATION, 0),
            lost=lost,
        )

    def failure(self, it: Tree) -> FailureRule:
        kind: Any = it.required("kind", forms.one_of(*FAILURES), "Dies")
        return FailureRule(
            kind,
            it.value("percent", PERCENT, WHOLE),
            self.where(it),
            it.value("after", DELAYS, Delays.of(0)),
            it.value("lasts", DELAYS, None),
        )

    def where(self, it: Tree) -> Where:
        return Where(
            it.value("types", forms.list_of(TEXT), ()),
            it.value("zones", forms.list_of(self.zone), ()),
            it.value("capacityTypes", forms.list_of(forms.one_of(*_CAPACITY_TYPES)), ()),
        )


def _part(root: Tree, name: str, read_part: Callable[[Tree], Any]) -> Any:
    """A map of settings below, read by its own reader."""
    tree = root.map(name)
    part = read_part(tree)
    tree.done()
    return part


def _boot(it: Tree) -> Boot:
    usual = Boot()
    return Boot(
        it.value("running", DELAYS, usual.running),
        it.value("registers", DELAYS, usual.registers),
        it.value("ready", DELAYS, usual.ready),
    )


def _spot(it: Tree) -> Spot:
    usual = Spot()
    return Spot(
        it.value("step", LENGTH, usual.step),
        it.value("swing", PERCENT, usual.swing),
        it.value("reversion", PERCENT, usual.reversion),
        it.value("life", forms.or_never(DELAYS), usual.life),
        it.value("rebalanceAhead", forms.or_never(DURATION), usual.rebalance_ahead),
    )


def _queue(it: Tree) -> QueueSettings:
    usual = QueueSettings()
    return QueueSettings(
        it.value("exists", BOOLEAN, usual.exists),
        it.value("delay", DELAYS, usual.delay),
        it.value("visibility", LENGTH, usual.visibility),
        it.value("retention", LENGTH, usual.retention),
    )


def _quotas(it: Tree) -> dict[tuple[str, str], int]:
    return {
        (capacity_type, name): vcpus
        for capacity_type in _CAPACITY_TYPES
        for name, vcpus in it.map(capacity_type).entries(CLASSES, whole(0)).items()
    }


def _image(it: Tree) -> ImageSettings:
    return ImageSettings(
        it.required("id", TEXT, ""),
        it.value("name", TEXT, ""),
        it.value("architecture", forms.one_of("amd64", "arm64"), "amd64"),
        it.value("created", DURATION, 0),
        it.value("tags", TAGS, {}),
    )


def _window(it: Tree) -> Window:
    begins, ends = it.value("from", DURATION, 0), it.value("until", DURATION, None)
    if ends is not None and ends <= begins:
        it.note("until", "is not after from")
    return Window(begins, ends)


def _distinct(root: Tree, name: str, items: Iterator[Any]) -> tuple[Any, ...]:
    """All of a list, where no id comes twice."""
    found = tuple(items)
    seen: set[str] = set()
    for index, item in enumerate(found):
        if item.id in seen:
            root.note(f"{name}[{index}].id", f"Duplicate value: {forms.shown(item.id)}")
        seen.add(item.id)
    return found


def _range(given: object) -> tuple[int, int]:
    if isinstance(given, Mapping):
        if set(given) != {"least", "most"}:
            raise ValueError
        least, most = (whole(0).read(given[end]) for end in ("least", "most"))
        if least > most:
            raise ValueError
        return least, most
    number = whole(0).read(given)
    return number, number


def _bucket(given: object) -> Bucket:
    if given == "none":
        return Bucket(0, 0)
    if not isinstance(given, Mapping) or set(given) != {"size", "refill"}:
        raise ValueError
    return Bucket(whole(1, 10**6).read(given["size"]), whole(1, 10**6).read(given["refill"]))


_RANGE: Final = Form(_range, "a whole number, 0 or more, or a range, e.g. {least: 0, most: 20}")
_BUCKET: Final = Form(_bucket, "a bucket, e.g. {size: 50, refill: 5}, or none")
