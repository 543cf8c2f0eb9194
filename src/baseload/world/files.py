"""From files to what is decided on: manifests, catalogue and options joined into one value.

Every NodePool gets the table of instance types that its NodeClass allows; pools whose NodeClasses say the same share
one table. A NodeClass that the input does not have counts as present, Ready and default, which is said. One that says
it is not Ready makes its pools not Ready, as it does on a cluster.

`Inputs.edited` gives the same inputs with one field changed, so that an explanation can be proved by planning again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from msgspec.structs import replace as with_fields

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.ec2 import Ec2Catalogue
from baseload.catalog.nodeclass import DEFAULT, NodeClassSettings, settings_of
from baseload.decide.provision import buffers
from baseload.decide.provision.options import Options
from baseload.kube import manifests as kube_manifests
from baseload.kube.bulk import paused_gc
from baseload.kube.manifests import Manifests
from baseload.kube.schema.check import Validate
from baseload.kube.schema.rules import MOST_PODS
from baseload.kube.types import apps, ec2, karpenter
from baseload.kube.types.batch import Job
from baseload.kube.types.meta import Condition
from baseload.model import real_use
from baseload.model.expand import Expansion, Workload, expand
from baseload.model.fold import FIELDS
from baseload.model.view import View, ref_of
from baseload.plan.provision import Expanded
from baseload.values.errors import BadInput, Fault
from baseload.world import catalogue, options
from baseload.world.options import Settings
from baseload.world.region import choose

if TYPE_CHECKING:
    from baseload.world.live import Live

Expand = Literal["auto", "never"]

LOOKED_AT: Final = frozenset((*FIELDS.values(), Job))
"""The kinds that a decision looks at"""

_WORKLOADS: Final = (apps.Deployment, apps.ReplicaSet, apps.StatefulSet, Job)
_TEMPLATE: Final = "spec.template"
T = TypeVar("T")
Tables = Callable[[NodeClassSettings], InstanceTypes]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a provisioning decision is made on."""

    view: View
    tables: Mapping[str, InstanceTypes]
    """NodePool -> what it can launch; a pool that is not usable is missing"""
    options: Options
    expanded: tuple[Expanded, ...]
    notes: tuple[str, ...]  # what the user should know, for stderr
    passed_over: tuple[str, ...]  # kinds of the input that the decision does not look at
    manifests: Manifests
    _tables_of: Tables
    _expand: Expand

    def edited(self, ref: str, path: str, value: object) -> "Inputs":
        """The same inputs with one field of one object set, or removed where the value is None.

        A pod that was made for a workload is changed in the workload's template, so all its pods change.
        Raises as `Manifests.edited` does.
        """
        ref, path = self.written_at(ref, path)
        return _joined(self.manifests.edited(ref, path, value), self._tables_of, self.options, self._expand)

    def written_at(self, ref: str, path: str) -> tuple[str, str]:
        """The object and the path where a field of an object stands in the input."""
        workload = self.workload_of(ref.removeprefix("Pod ")) if ref.startswith("Pod ") else None
        if workload is None or self.manifests.find(ref) is not None:
            return ref, path
        return workload, f"{_TEMPLATE}.{path}"

    @property
    def place_of(self) -> Mapping[str, tuple[str, str]]:
        """pod that was made for a workload -> the object and the path under which its fields are written"""
        return {pod: (expanded.workload, _TEMPLATE) for expanded in self.expanded for pod in expanded.pods}

    def tables_for(self, view: View) -> Mapping[str, InstanceTypes]:
        """What the pools of another view, with other NodeClasses maybe, can launch."""
        return _tables(_Classes(view), self._tables_of)

    def workload_of(self, pod: str) -> str | None:
        """The workload for which a pod was made, None for a pod of the input."""
        return next((expanded.workload for expanded in self.expanded if pod in expanded.pods), None)


def read(
    names: Sequence[str],
    *,
    live: "Live | None" = None,
    stdin: Callable[[], bytes] | None = None,
    catalog: str | None = None,
    region: str | None = None,
    options_file: str | None = None,
    expand: Expand = "auto",
    validate: Validate = "auto",
) -> Inputs:
    """Read all that a provisioning decision needs; raises BadInput with everything that is wrong in it.

    What a cluster holds comes first; an object that is also in the files is as they have it.
    """
    faults: list[Fault] = []
    settings = _read(lambda: options.read(options_file) if options_file else Settings(), faults)
    own = _read(lambda: catalogue.from_file(catalog) if catalog else None, faults)
    known = own.well_known if own else frozenset[str]()
    of_files, of_cluster = Manifests((), ()), None
    if names or live is None:
        load = partial(kube_manifests.load, names, stdin=stdin, validate=validate, well_known=known)
        of_files = _read(load, faults) or of_files
    if live is not None:
        take = partial(kube_manifests.of_texts, live.texts, validate=validate, well_known=known)
        of_cluster = _read(take, faults)
    if faults or settings is None:
        raise BadInput(faults)
    manifests = of_files if of_cluster is None else of_cluster.overlaid(of_files)
    notes = [] if live is None or of_cluster is None else [*live.notes, *_replaced(of_cluster, of_files)]
    notes += [f"warning: {warning}" for warning in manifests.warnings]
    if own and region:
        notes.append(f"--region {region} is not used: the instance types are those of {catalog}")
    with paused_gc():
        tables_of = (lambda _: own) if own else _ec2_types(manifests, region, settings, notes)
        return _joined(manifests, tables_of, settings.options, expand, notes)


def _replaced(of_cluster: Manifests, of_files: Manifests) -> Iterator[str]:
    there = {found.ref for found in of_cluster.found}
    refs = [found.ref for found in of_files.found if found.ref in there]
    if refs:
        yield f"in place of the cluster's own: {', '.join(refs)}"


def _read(file: Callable[[], T], faults: list[Fault]) -> T | None:
    """What a file holds; its faults join those of the others, so that all are seen at once."""
    try:
        return file()
    except BadInput as error:
        faults.extend(error.faults)
        return None


def _ec2_types(manifests: Manifests, region: str | None, settings: Settings, notes: list[str]) -> Tables:
    chosen, note = choose(manifests, region)
    opened = catalogue.open_ec2(chosen)
    notes += [*note, *opened.notes]
    tables = _Ec2Tables(opened.catalogue, chosen, settings)
    if chosen not in opened.catalogue.regions:
        tables.of(DEFAULT)  # refuses, and says which there are, even when no pool asks for a table
    return tables.of


@dataclass(frozen=True, slots=True)
class _Ec2Tables:
    catalogue: Ec2Catalogue
    region: str
    settings: Settings

    def of(self, node_class: NodeClassSettings) -> InstanceTypes:
        return self.catalogue.instance_types(
            self.region,
            settings=node_class,
            vm_memory_overhead_percent=self.settings.vm_memory_overhead_percent,
            reserved_enis=self.settings.reserved_enis,
        )


def _joined(
    manifests: Manifests, tables_of: Tables, chosen: Options, expand_: Expand, notes: Sequence[str] = ()
) -> Inputs:
    view = view_of(manifests)
    if expand_ == "auto":
        _refuse_too_many(manifests)
    faults = [_fault(manifests, ref, real_use.PATH, why) for ref, why in real_use.unreadable(view)]
    if chosen.gate("CapacityBuffer"):
        faults += _of_absurd_buffers(manifests, view)
    if faults:
        raise BadInput(faults)
    classes = _Classes(view)
    tables = _tables(classes, tables_of)
    view = classes.with_their_pools(view)
    expansions: tuple[Expansion, ...] = ()
    if expand_ == "auto":
        view, expansions = expand(view, _workloads(manifests))
    return Inputs(
        view=view,
        tables=tables,
        options=chosen,
        expanded=tuple(Expanded(expansion.workload, expansion.pods) for expansion in expansions),
        notes=(*notes, *dict.fromkeys(note for table in tables.values() for note in table.notes), *classes.notes()),
        passed_over=tuple(_passed_over(manifests)),
        manifests=manifests,
        _tables_of=tables_of,
        _expand=expand_,
    )


def _refuse_too_many(manifests: Manifests) -> None:
    """Refuses workloads that each may pass but make more pods together than a cluster can hold."""
    asked = sum(map(_asked, _workloads(manifests)))
    if asked > MOST_PODS:
        fault = Fault(f"the workloads ask for {asked} pods together", allowed=f"at most {MOST_PODS}; or --expand never")
        raise BadInput([fault])


def _of_absurd_buffers(manifests: Manifests, view: View) -> Iterator[Fault]:
    for buffer, size in buffers.sizes(view):
        if size > MOST_PODS:
            yield _fault(
                manifests, ref_of(buffer), "spec", f"it stands for {size} pods, and no cluster holds over {MOST_PODS}"
            )


def _asked(workload: Workload) -> int:
    """How many pods a workload asks for at most."""
    if isinstance(workload, Job):
        return 1 if workload.spec.parallelism is None else workload.spec.parallelism
    owned = isinstance(workload, apps.ReplicaSet) and workload.metadata.owner_references
    return 0 if owned else workload.spec.replicas or 1


def _fault(manifests: Manifests, ref: str, path: str, why: str) -> Fault:
    found = manifests.find(ref)
    assert found is not None, ref
    return found.fault(f"Invalid value: {why}", path=path)


def _tables(classes: "_Classes", tables_of: Tables) -> dict[str, InstanceTypes]:
    usable = (pool for pool in classes.view.node_pools if classes.not_ready(pool) is None)
    return {pool.metadata.name: tables_of(classes.settings(pool)) for pool in usable}


def view_of(manifests: Manifests) -> View:
    """The objects of an input as decisions read them."""
    refs = (
        (found.api_version.partition("/")[0], found.kind, found.name)
        for found in manifests.found
        if found.kind.endswith("NodeClass")
    )
    return View(
        **{name: manifests.of(kind) for name, kind in FIELDS.items()},  # type: ignore[arg-type]
        node_class_refs=frozenset(refs),
    )


def _workloads(manifests: Manifests) -> Iterator[Workload]:
    """The workloads that get pods, in the order of the input."""
    return (reading for reading in manifests.readings if isinstance(reading, _WORKLOADS))


def _passed_over(manifests: Manifests) -> Iterator[str]:
    counts: dict[str, int] = {}
    for found, reading in zip(manifests.found, manifests.readings, strict=True):
        if type(reading) not in LOOKED_AT and not found.kind.endswith("NodeClass"):
            counts[found.kind] = counts.get(found.kind, 0) + 1
    return (f"{count} {kind}" for kind, count in counts.items())


class _Classes:
    """The NodeClasses that the pools of a view name."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.of_ec2 = {node_class.metadata.name: node_class for node_class in view.node_classes}

    def settings(self, pool: karpenter.NodePool) -> NodeClassSettings:
        return settings_of(self._ec2(pool))

    def not_ready(self, pool: karpenter.NodePool) -> str | None:
        """What a pool's NodeClass says of not being Ready."""
        node_class = self._ec2(pool)
        for condition in node_class.status.conditions if node_class else ():
            if condition.type == "Ready" and condition.status == "False":
                return ": ".join(said for said in (condition.reason, condition.message) if said)
        return None

    def _ec2(self, pool: karpenter.NodePool) -> ec2.EC2NodeClass | None:
        ref = pool.spec.template.spec.node_class_ref
        return self.of_ec2.get(ref.name) if (ref.group, ref.kind) == ("karpenter.k8s.aws", "EC2NodeClass") else None

    def with_their_pools(self, view: View) -> View:
        """The view in which a pool is not Ready when its NodeClass is not."""
        if all(self.not_ready(pool) is None for pool in view.node_pools):
            return view
        pools = tuple(pool if self.not_ready(pool) is None else _not_ready(pool) for pool in view.node_pools)
        return replace(view, node_pools=pools)

    def notes(self) -> Iterator[str]:
        refs = {pool.metadata.name: pool.spec.template.spec.node_class_ref for pool in self.view.node_pools}
        absent = [r for r in refs.values() if (r.group, r.kind, r.name) not in self.view.node_class_refs]
        if absent:
            names = ", ".join(dict.fromkeys(f"{ref.kind} {ref.name}" for ref in absent))
            yield f"not in the input, taken as present, Ready and with default settings: {names}"
        for pool in self.view.node_pools:
            if (said := self.not_ready(pool)) is not None:
                ref = refs[pool.metadata.name]
                why = f" ({said})" if said else ""
                yield f"NodePool {pool.metadata.name} launches nothing: its {ref.kind} {ref.name} is not Ready{why}"


def _not_ready(pool: karpenter.NodePool) -> karpenter.NodePool:
    others = tuple(condition for condition in pool.status.conditions if condition.type != "Ready")
    ready = Condition(type="Ready", status="False", reason="NodeClassNotReady")
    return with_fields(pool, status=with_fields(pool.status, conditions=(*others, ready)))
