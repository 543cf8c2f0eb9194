"""The DaemonSets' pods: what every node has to carry, and what a running node must still keep for them (spec 9)."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from baseload.decide.fit.constraints import read
from baseload.decide.fit.taints import tolerated
from baseload.decide.fit.template import Daemon
from baseload.kube.types.apps import DaemonSet
from baseload.kube.types.core import Affinity, NodeAffinity, Pod, PodSpec
from baseload.model import requests
from baseload.model.requests import Amounts
from baseload.model.view import View, is_terminal
from baseload.values.requirement import Requirements
from baseload.values.taint import Taint


def daemons(view: View, *, ignore_dra: bool, among: Iterable[Pod] | None = None) -> tuple[Daemon, ...]:
    """One pod for each DaemonSet: the newest that runs, else what its template makes.

    `ignore_dra`: those whose pods use ResourceClaims are passed over. `among`: the pods that may be of a DaemonSet,
    where these are known.
    """
    if not view.daemon_sets:
        return ()
    newest: dict[tuple[str, str], list[Pod]] = {}
    for pod in view.pods if among is None else among:
        for owner in pod.metadata.owner_references:
            if owner.kind == "DaemonSet" and owner.api_version == "apps/v1" and not is_terminal(pod):
                held = newest.setdefault((pod.metadata.namespace, owner.name), [])
                if held and pod.metadata.creation_timestamp > held[0].metadata.creation_timestamp:
                    held.clear()
                if not held or pod.metadata.creation_timestamp == held[0].metadata.creation_timestamp:
                    held.append(pod)
    of_sets = ((d, newest.get((d.metadata.namespace, d.metadata.name), ())) for d in view.daemon_sets)
    found = (_daemon(daemon_set, _first(pods, view), view) for daemon_set, pods in of_sets)
    return tuple(daemon for daemon, uses_claims in found if not (ignore_dra and uses_claims))


def _first(pods: Sequence[Pod], view: View) -> Pod | None:
    """The first of them in the view."""
    if len(pods) <= 1:
        return pods[0] if pods else None
    ids = set(map(id, pods))
    return next(pod for pod in view.pods if id(pod) in ids)


def _daemon(owner: DaemonSet, live: Pod | None, view: View) -> tuple[Daemon, bool]:
    """The pod of a DaemonSet, and whether it uses ResourceClaims."""
    template = owner.spec.template
    spec = template.spec if live is None else _with_affinity_of(live.spec, template.spec)
    namespace = owner.metadata.namespace
    labels = template.metadata.labels if live is None else live.metadata.labels
    amounts = requests.of_spec(spec, limits_fill=True) if live is None else requests.of_pod(live)
    demands = read(spec, namespace=namespace, labels=labels, namespaces=view.namespace_labels)
    return Daemon(f"{namespace}/{owner.metadata.name}", demands, amounts), bool(spec.resource_claims)


def _with_affinity_of(live: PodSpec, template: PodSpec) -> PodSpec:
    """A running daemon's node affinity names its node; where the template demands something, that stands instead."""
    wanted = template.affinity.node_affinity if template.affinity else None
    required = wanted.required_during_scheduling_ignored_during_execution if wanted else None
    if required is None:
        return live
    affinity = live.affinity or Affinity()
    node = affinity.node_affinity or NodeAffinity()
    node = msgspec.structs.replace(node, required_during_scheduling_ignored_during_execution=required)
    return msgspec.structs.replace(live, affinity=msgspec.structs.replace(affinity, node_affinity=node))


def expected_on(daemons: Sequence[Daemon], taints: tuple[Taint, ...], labels: Requirements) -> Amounts:
    """What the daemons ask that belong on an existing node."""
    expected: Amounts = {}
    for daemon in daemons:
        if tolerated(taints, daemon.constraints.tolerations) and labels.compatible(daemon.constraints.strict):
            requests.add(expected, daemon.requests)
    return expected


def still_to_come(expected: Mapping[str, int], running: Mapping[str, int]) -> Amounts:
    """What an existing node must keep free: what is expected, less what the daemons that run there ask (9.7)."""
    return {resource: max(0, amount - running.get(resource, 0)) for resource, amount in expected.items()}
