"""Tiny clusters at random, and every end that the rules allow them, by trying every set of nodes again and again."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from hypothesis import strategies as st

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.carried_out import marked
from baseload.decide.disrupt.decide import graceful
from baseload.decide.disrupt.emptiness import emptiness
from baseload.decide.disrupt.moves import Move, Outcome
from baseload.decide.disrupt.optimal.exchange import Exchange
from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.until_stable import Run, Shape, Tables, shape
from baseload.decide.provision.options import Options
from baseload.model.view import View
from baseload.plan.disrupt import Method
from tests.decide.disrupt import stage
from tests.decide.disrupt.stage import Object

TAINT: Object = {"key": "shut", "effect": "NoSchedule"}
DAEMONS: Object = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent", "namespace": "default"},
    "spec": {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {
            "metadata": {"labels": {"app": "agent"}},
            "spec": stage.pod("agent", cpu="500m")["spec"] | {"nodeSelector": {stage.ZONE: "zone-1"}},
        },
    },
}
SMALL = ["small", "medium", "large", "xlarge"]
Inputs = tuple[View, Tables, Options]


@st.composite
def clusters(draw: st.DrawFn) -> Inputs:
    """Two to four nodes of two pools with up to three pods each; some pods protected, guarded, tied or apart.

    Daemons run in one zone; a pool may take spot nodes, or keep others' pods away.
    """
    made: list[Object] = [stage.budget(labels={"app": "guarded"}), *draw(st.sampled_from(([], [DAEMONS])))]
    kinds = draw(st.sampled_from((("on-demand",), ("on-demand", "spot"))))
    taints = draw(st.sampled_from(((), (TAINT,))))
    made += [_pool("default", kinds, ()), _pool("other", ("on-demand",), taints)]
    for number in range(draw(st.integers(2, 4))):
        zone = draw(st.sampled_from(stage.ZONES))
        type_ = draw(st.sampled_from(SMALL))
        pool = draw(st.sampled_from(("default", "default", "other")))
        kind = draw(st.sampled_from(kinds)) if pool == "default" else "on-demand"
        room = stage.STEPS[type_] * 10
        shut = taints if pool == "other" else ()
        made += stage.node(f"n{number}", type_, zone=zone, pool=pool, capacity_type=kind, taints=shut)
        for place in range(draw(st.integers(0, 3))):
            tenths = draw(st.sampled_from((5, 10, 15, 20)))
            if tenths <= room:
                room -= tenths
                made.append(_pod(draw, f"p{number}{place}", f"n{number}", tenths, zone))
    return stage.inputs(*made)


def _pool(name: str, kinds: tuple[str, ...], taints: tuple[Object, ...]) -> Object:
    allowed = {"key": stage.CAPACITY_TYPE, "operator": "In", "values": list(kinds)}
    made = stage.pool(name, after="0s", requirements=[allowed])
    return stage.changed(made, "spec.template.spec.taints", list(taints))


def _pod(draw: st.DrawFn, name: str, node: str, tenths: int, zone: str) -> Object:
    apart = {"topologyKey": stage.HOSTNAME, "labelSelector": {"matchLabels": {"app": f"{name[-1]}-apart"}}}
    kinds: dict[str, Object] = {
        "plain": {},
        "tied": {"nodeSelector": {stage.ZONE: zone}},
        "apart": {
            "labels": {"app": f"{name[-1]}-apart"},
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
        },
        "worthless": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-2147483647"}},
        "tolerant": {"tolerations": [{"key": "shut", "operator": "Exists"}]},
        "protected": {"annotations": stage.PROTECTED},
        "guarded": {"labels": {"app": "guarded"}},
    }
    kind = draw(st.sampled_from(("plain", "plain", "plain", "plain", *kinds)))
    return stage.pod(name, node, f"{tenths * 100}m", **kinds[kind])


def ends(view: View, tables: Tables, options: Options) -> Iterator[float]:
    """The price of every cluster that can be come to, this one included."""
    seen: set[Shape] = set()
    waiting = [view]
    while waiting:
        at = waiting.pop()
        if shape(at) in seen:
            continue
        seen.add(shape(at))
        yield Run(at, tables, options).price()
        situation = Situation(at, tables, options)
        for outcome in _outcomes(situation):
            run = Run(at, tables, options)
            run.carry_out(graceful(situation, run.names, {Method.MULTI_NODE: partial(_always, outcome)}))
            waiting.append(marked(run.view, run.now))


def _always(outcome: Outcome, _: Situation) -> Outcome:
    return outcome


def _outcomes(situation: Situation) -> Iterator[Outcome]:
    empty = emptiness(situation)
    if empty.moves:
        yield empty
        return
    candidates = situation.candidates(lambda c: filters.pods_forbid(c) or filters.consolidation(c))
    for count in range(1, len(candidates) + 1):
        for chosen in combinations(candidates, count):
            found = Exchange(situation).of(chosen)
            if isinstance(found, Move):
                yield Outcome((found,))
