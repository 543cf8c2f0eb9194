"""Records as the scheduler reads them: nodes, and pods by their kind, which is worked out once for equal ones."""

from collections.abc import Mapping
from typing import Any, Final

from baseload.decide.fit.constraints import selector_of, spread_of
from baseload.decide.fit.deduced import deduced
from baseload.decide.schedule import asks, nodes
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.kinds import Kind, Pod
from baseload.decide.schedule.nodes import Facts
from baseload.decide.schedule.profile import Profile
from baseload.embedded.actors import pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.record import Body, Owner, Record, Shared, section
from baseload.kube import reading as json_reading
from baseload.kube.types import apps, core
from baseload.values.selector import Selector

_KINDS: Final = 1 << 13  # kinds that are remembered by what their pods share
_CONTROLLERS: Final[Mapping[str, type[apps.ReplicaSetSpec] | type[apps.StatefulSetSpec]]] = {
    "ReplicaSet": apps.ReplicaSetSpec,
    "StatefulSet": apps.StatefulSetSpec,
}


class Readings:
    """What the records of one cluster say."""

    def __init__(self, client: ActorClient, cluster: Cluster, profiles: Mapping[str, Profile]) -> None:
        self._client: Final = client
        self._cluster: Final = cluster
        self._profiles: Final = profiles
        self._kinds: Final[dict[tuple[int, int, str], tuple[Body, Shared, Kind]]] = {}
        self._claiming: Final[dict[int, tuple[Body, bool]]] = {}  # whether pods of one spec have claims
        self._amounts: Final[dict[int, tuple[object, Mapping[str, int]]]] = {}
        self._namespaces: dict[str, dict[str, str]] | None = None
        self._services: dict[str, list[Mapping[str, str]]] | None = None
        self.reads_namespaces = False
        """Whether some pod selects namespaces by their labels"""

    def facts(self, record: Record) -> Facts:
        """What a Node says."""
        spec = record.body.spec(core.NodeSpec)
        read = nodes.facts(record.name, record.shared.labels, spec, core.NodeStatus())
        return Facts(read.name, read.labels, read.taints, read.is_unschedulable, self._allocatable(record))

    def pod(self, record: Record, node: str = "") -> Pod:
        """A pod; `node` is where it runs or is to run."""
        spec, told = record.body.spec(core.PodSpec), pods.status(record)
        claiming = bool(spec.volumes) and self._has_claims(record.body, spec)
        disrupted = told.condition("DisruptionTarget") if record.deletion is not None else None
        return Pod(
            uid=record.uid,
            namespace=record.namespace,
            name=record.name,
            kind=self.kind(record),
            priority=spec.priority or 0,
            started=told.start_time,
            is_terminating=record.deletion is not None,
            is_preempted=disrupted is not None and disrupted.reason == "PreemptionByScheduler",
            claims=claims(record, spec) if claiming else (),
            made_claims=made_claims(record, spec) if claiming else (),
            node=node,
        )

    def kind(self, record: Record) -> Kind:
        """The kind of a pod; pods of one template share body and labels, so this is one look-up for most."""
        place = id(record.body), id(record.shared), record.namespace
        known = self._kinds.get(place)
        if known is not None:
            return known[2]
        if len(self._kinds) > _KINDS:
            self._kinds.clear()
        kind = self._read(record)
        self._kinds[place] = record.body, record.shared, kind  # ids stand for what must live as long
        return kind

    def namespaces_changed(self) -> None:
        self._namespaces = None
        self._kinds.clear()

    def services_changed(self) -> None:
        self._services = None
        self._kinds.clear()

    def forget(self) -> None:
        self._kinds.clear()
        self._claiming.clear()
        self._amounts.clear()

    def _has_claims(self, body: Body, spec: core.PodSpec) -> bool:
        """Whether pods have claims, by a spec that many share: of most the one volume is a token."""
        known = self._claiming.get(id(body))
        if known is None:
            if len(self._claiming) > _KINDS:
                self._claiming.clear()
            named = any(volume.persistent_volume_claim or volume.ephemeral for volume in spec.volumes)
            known = self._claiming[id(body)] = body, named
        return known[1]

    def _read(self, record: Record) -> Kind:
        spec, labels = record.body.spec(core.PodSpec), record.shared.labels
        profile = self._profiles.get(spec.scheduler_name or "default-scheduler")
        self.reads_namespaces = self.reads_namespaces or _selects_namespaces(spec)
        default = None
        if profile is not None and not spec.topology_spread_constraints and profile.default_constraints:
            default = self._spread_by(record)
        spreads = () if default is None or profile is None else profile.default_constraints
        return self._cluster.kind(
            record.namespace,
            labels,
            spec,
            namespaces=self._labels_of_namespaces(),
            default_spread=tuple(spread_of(written, default) for written in spreads),
        )

    def _spread_by(self, record: Record) -> Selector | None:
        owner = next((held for held in record.shared.owners if held.controller), None)
        pairs: Mapping[str, str] = {}
        expressions: Selector | None = None
        if owner is not None:
            pairs, expressions = self._selector(owner, record.namespace)
        return deduced(record.shared.labels, self._service_selectors(record.namespace), pairs, expressions)

    def _selector(self, owner: Owner, namespace: str) -> tuple[Mapping[str, str], Selector | None]:
        """By what a controller selects its pods."""
        if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
            held = self._client.records("", owner.kind).get(f"{namespace}/{owner.name}")
            return ({} if held is None else held.body.spec(core.ReplicationControllerSpec).selector), None
        reading = _CONTROLLERS.get(owner.kind) if owner.api_version == "apps/v1" else None
        if reading is None:
            return {}, None
        held = self._client.records("apps", owner.kind).get(f"{namespace}/{owner.name}")
        if held is None:
            return {}, None
        return {}, selector_of(held.body.spec(reading).selector)

    def _service_selectors(self, namespace: str) -> list[Mapping[str, str]]:
        if self._services is None:
            self._services = {}
            for held in self._client.records("", "Service").values():
                selector = held.body.spec(core.ServiceSpec).selector
                if selector:
                    self._services.setdefault(held.namespace, []).append(selector)
        return self._services.get(namespace, [])

    def _labels_of_namespaces(self) -> Mapping[str, Mapping[str, str]]:
        if self._namespaces is None:
            records = self._client.records("", "Namespace").values()
            self._namespaces = {
                held.name: {"kubernetes.io/metadata.name": held.name, **held.shared.labels} for held in records
            }
        return self._namespaces

    def _allocatable(self, record: Record) -> Mapping[str, int]:
        """Kubelets write the same amounts again and again: those are read once."""
        status: Any = record.status
        written = getattr(status, "allocatable", None)
        if written is None:
            return asks.of_resources(json_reading.decoded(section(status) or b"{}", core.NodeStatus).allocatable)
        known = self._amounts.get(id(written))
        if known is None:
            if len(self._amounts) > _KINDS:
                self._amounts.clear()
            known = self._amounts[id(written)] = written, asks.of_resources(written)
        return known[1]


def claims(record: Record, spec: core.PodSpec) -> tuple[str, ...]:
    """The claims of a pod's volumes, those that are made with it included."""
    found = []
    for volume in spec.volumes:
        if volume.persistent_volume_claim is not None:
            found.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            found.append(f"{record.name}-{volume.name}")
    return tuple(found)


def made_claims(record: Record, spec: core.PodSpec) -> tuple[str, ...]:
    """Those of a pod's claims that are made with it."""
    return tuple(f"{record.name}-{volume.name}" for volume in spec.volumes if volume.ephemeral is not None)


def _selects_namespaces(spec: core.PodSpec) -> bool:
    affinity = spec.affinity or core.Affinity()
    for side in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if side is None:
            continue
        weighted = side.preferred_during_scheduling_ignored_during_execution
        terms = (
            *side.required_during_scheduling_ignored_during_execution,
            *(entry.pod_affinity_term for entry in weighted),
        )
        if any(term.namespace_selector is not None for term in terms):
            return True
    return False
