"""A scenario: the kind, read from a file with everything that is wrong in it named at once.

What can be known to be wrong before the run is a fault: unknown fields, events, series and workloads, moments after
the end, expectations that nothing can meet, manifests that are not there or do not validate.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeVar

from baseload.catalog.ec2 import DEFAULT_REGION
from baseload.cloud.simulated import forms, settings_file
from baseload.cloud.simulated.forms import Form, Tree
from baseload.decide.node import behaviour
from baseload.embedded.actors.kubelet.script import Rule, Script
from baseload.kube import kinds, manifests, one_map, sources
from baseload.kube.manifests import Manifests
from baseload.kube.sources import Source
from baseload.replay import controllers, expecting, fields, happenings
from baseload.replay.expecting import Known
from baseload.replay.happenings import Happening
from baseload.replay.judge import Expectation
from baseload.values import duration, instant
from baseload.values.duration import HOUR
from baseload.values.errors import BadInput, Fault
from baseload.world.living import LifeSettings

API_VERSION: Final = "baseload.dev/v1alpha1"
KIND: Final = "Scenario"
START: Final = "2026-01-01T00:00:00Z"
LONGEST: Final = 366 * 24 * HOUR
WORKLOADS: Final = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod")
_NAMESPACES: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
T = TypeVar("T")

START_FORM: Final = Form(
    lambda given: instant.parse(given) if isinstance(given, str) else _refuse(), f"an instant, e.g. {START}"
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """All of a scenario, ready to be lived through."""

    name: str
    file: str
    start: int  # an instant
    duration: int
    life: LifeSettings
    manifests: Manifests | None
    happenings: tuple[Happening, ...]
    applied: Mapping[str, Manifests]  # path of an event -> what it applies
    expectations: tuple[Expectation, ...]
    check_every: int | None

    @property
    def seed(self) -> int:
        return self.life.seed

    def checked(self, every: int) -> "Scenario":
        """The same with recounts."""
        return replace(self, check_every=every)

    def seeded(self, seed: int) -> "Scenario":
        return replace(self, life=replace(self.life, seed=seed))


def read(path: str, *, stdin: Callable[[], bytes] | None = None) -> Scenario:
    """The scenario of a file, or of standard input (`-`), whose paths are relative to where one is.

    Raises BadInput with all that is wrong in it.
    """
    is_stdin = path == sources.STDIN and stdin is not None
    return of_tree(one_map.read(path, stdin=stdin), sources.STDIN_FILE if is_stdin else path)


def of_tree(tree: object, file: str) -> Scenario:
    """The scenario of a decoded file; its paths are relative to that."""
    faults: list[Fault] = []
    scenario = _Reader(file, faults).scenario(tree)
    if faults:
        raise BadInput(faults)
    assert scenario is not None
    return scenario


class _Reader:
    """One file under reading."""

    def __init__(self, file: str, faults: list[Fault]) -> None:
        self.file, self.faults = file, faults
        self.folder = Path(file).parent

    def scenario(self, tree: object) -> Scenario | None:
        root = Tree(tree, "", self.faults, self.file)
        if not isinstance(tree, Mapping):
            return None
        root.required("apiVersion", forms.one_of(API_VERSION), API_VERSION)
        root.required("kind", forms.one_of(KIND), KIND)
        metadata = root.map("metadata")
        name = metadata.required("name", forms.TEXT, "")
        for other in ("labels", "annotations"):
            metadata.value(other, fields.MAP.form, None)
        metadata.done()
        spec = root.map("spec")
        root.done()
        found = self.spec(spec, name)
        spec.done()
        return found

    def spec(self, spec: Tree, name: str) -> Scenario:
        start = spec.value("start", START_FORM, instant.parse(START))
        length = spec.required("duration", forms.LENGTH, LONGEST)
        if length > LONGEST:
            spec.note("duration", f"is longer than a year: {duration.format(length)}", "at most 8784h")
            length = LONGEST
        seed = spec.value("seed", forms.whole(0), 0)
        region = spec.value("region", forms.TEXT, DEFAULT_REGION)
        zones, types = self.region(spec, region)
        there = self.manifests(spec.value("manifests", fields.LIST.form, []), "spec.manifests")
        cloud = self.cloud(spec.value("cloud", fields.MAP.form, {}), zones)
        chosen = controllers.read(spec.each("controllers"), self.file)
        rules = tuple(self.rules(spec.each("workloads")))
        check_every = spec.value("checkEvery", forms.LENGTH, None)
        applied: dict[str, Manifests] = {}
        events: list[Happening] = []
        notes: list[tuple[Happening, Tree]] = []
        for happening, tree in happenings.read(spec.each("events"), "spec.events", start=start, length=length):
            events.append(happening)
            notes.append((happening, tree))
            if happening.do == "apply" and happening.fields["manifests"] is not None:
                found = self.manifests(happening.fields["manifests"], f"{happening.path}.manifests")
                if found is not None:
                    applied[happening.path] = found
        known = _known([*([there] if there else []), *applied.values()], zones, types)
        for happening, tree in notes:
            self.named(tree, happening, known)
        expectations = expecting.read(spec.each("expect"), "spec.expect", length=length, known=known)
        life = LifeSettings(region=region, seed=seed, script=Script(rules), cloud=cloud)
        return Scenario(
            name=name,
            file=self.file,
            start=start,
            duration=length,
            life=chosen.applied(life),
            manifests=there,
            happenings=tuple(events),
            applied=applied,
            expectations=expectations,
            check_every=check_every,
        )

    def region(self, spec: Tree, region: str) -> tuple[tuple[str, ...], frozenset[str] | None]:
        """The zones and instance types of the region, none where it is unknown."""
        from baseload.world import catalogue

        found = catalogue.open_ec2(region).catalogue
        if region not in found.regions:
            near = kinds.most_similar(region, found.regions)
            hint = f"did you mean {near}? " if near else ""
            spec.note("region", f"unknown: {region}", f"{hint}one of {', '.join(found.regions)}")
            return (), None
        held = found.figures.region(region)
        types = (spec.name for spec, mask in zip(found.figures.specs, held.offered, strict=True) if mask)
        return tuple(held.names[id] for id in held.zones), frozenset(types) or None

    def cloud(self, given: object, zones: Sequence[str]) -> Any:
        try:
            return settings_file.read(given, file=self.file, path="spec.cloud", zones=zones)
        except BadInput as error:
            self.faults += error.faults
            return settings_file.read({})

    def rules(self, trees: Iterator[Tree]) -> Iterator[Rule]:
        for tree in trees:
            name = tree.value("name", forms.TEXT, "*")
            namespace = tree.value("namespace", forms.TEXT, "*")
            said = tree.rest()
            try:
                yield Rule(behaviour.read(said), name, namespace)
            except BadInput as error:
                for fault in error.faults:
                    tree.note(fault.path, fault.message, fault.allowed)

    def manifests(self, given: list[object], path: str) -> Manifests | None:
        """Files by their names, and objects; None where there is nothing or something is wrong."""
        names: list[str] = []
        texts: list[Source] = []
        for index, item in enumerate(given):
            at = f"{path}[{index}]"
            if isinstance(item, str) and item:
                place = self.folder / item
                if _exists(place):
                    names.append(str(place))
                else:
                    self.faults.append(
                        Fault(
                            f"there is no file {_cut(item)}",
                            file=self.file,
                            path=at,
                        )
                    )
            elif isinstance(item, Mapping):
                texts.append(Source(f"{self.file}: {at}", json.dumps(item).encode()))
            else:
                allowed = "a file, relative to the scenario, or an object"
                self.faults.append(Fault(f"Invalid value: {forms.shown(item)}", self.file, path=at, allowed=allowed))
        if not names and not texts:
            return None
        try:
            found = manifests.load(names) if names else Manifests((), ())
            return found.overlaid(manifests.of_texts(texts)) if texts else found
        except BadInput as error:
            self.faults += error.faults
            return None

    def named(self, tree: Tree, happening: Happening, known: Known) -> None:
        """Notes what an event names and no manifest has."""
        given = happening.fields
        expecting.note_unknown(tree, given, known)
        if given.get("namespace") is None:
            expecting.note_misplaced(tree, {**given, "namespace": "default"}, known)
        for index, zone in enumerate(given.get("zones") or ()):
            if known.zones is not None and zone not in known.zones:
                tree.note(
                    f"zones[{index}]", f"unknown: {forms.shown(zone)}", f"one of {', '.join(sorted(known.zones))}"
                )
        for index, pattern in enumerate(given.get("types") or ()):
            if known.types is not None and not any(fnmatchcase(name, pattern) for name in known.types):
                tree.note(f"types[{index}]", f"no instance type of the region is meant by {forms.shown(pattern)}")
        kind = given.get("kind")
        if kind is not None and not any(name == kind for _, name in kinds.KINDS):
            near = kinds.most_similar(kind, sorted({name for _, name in kinds.KINDS}))
            tree.note("kind", f"unknown: {forms.shown(kind)}", f"did you mean {near}?" if near else "e.g. Deployment")


def _known(all_: Sequence[Manifests], zones: Sequence[str], types: frozenset[str] | None) -> Known:
    found = [one for held in all_ for one in held.found]
    spaces = (one.name if one.kind == "Namespace" else one.namespace for one in found)
    return Known(
        frozenset(one.name for one in found if one.kind in WORKLOADS),
        frozenset((one.namespace or "default", one.name) for one in found if one.kind in WORKLOADS),
        frozenset(one.name for one in found if one.kind == "NodePool"),
        frozenset((*_NAMESPACES, *filter(None, spaces))),
        frozenset(one.name for one in found if one.kind == "Node"),
        frozenset(zones) if zones else None,
        types,
    )


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that no file can have
        return False


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."


def _refuse() -> int:
    raise ValueError
