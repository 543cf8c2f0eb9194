"""Random clusters in which every rule has a say: few labels, few values, tight nodes."""

from typing import Any

from hypothesis import strategies as st

from baseload.kube.types import core
from tests.decide.schedule.building import HOSTNAME, ZONE, node, pod

APPS = ("a", "b", "c")
KEYS = (ZONE, HOSTNAME, "rack")
TAINTS = st.builds(
    lambda key, value, effect: {"key": key, "value": value, "effect": effect},
    st.sampled_from(("t", "u")),
    st.sampled_from(("", "x")),
    st.sampled_from(("NoSchedule", "PreferNoSchedule", "NoExecute")),
)
TAINT_LISTS = st.lists(TAINTS, max_size=2, unique_by=lambda taint: (taint["key"], taint["effect"]))
TOLERATIONS = st.one_of(
    st.just({"operator": "Exists"}),
    st.builds(
        lambda key, effect: {"key": key, "operator": "Exists", "effect": effect},
        st.sampled_from(("t", "u")),
        st.sampled_from(("", "NoSchedule", "PreferNoSchedule")),
    ),
    st.builds(lambda key, value: {"key": key, "value": value}, st.sampled_from(("t", "u")), st.sampled_from(("", "x"))),
    st.just({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}),
)
EXPRESSIONS = st.one_of(
    st.builds(
        lambda operator, values: {"key": "rack", "operator": operator, "values": values},
        st.sampled_from(("In", "NotIn")),
        st.lists(st.sampled_from(("1", "2", "3")), min_size=1, max_size=2, unique=True),
    ),
    st.builds(lambda operator: {"key": "rack", "operator": operator}, st.sampled_from(("Exists", "DoesNotExist"))),
    st.builds(
        lambda operator, value: {"key": "rack", "operator": operator, "values": [value]},
        st.sampled_from(("Gt", "Lt")),
        st.sampled_from(("1", "2")),
    ),
)
NODE_TERMS = st.builds(lambda found: {"matchExpressions": found}, st.lists(EXPRESSIONS, min_size=1, max_size=2))
SELECTORS = st.one_of(
    st.builds(lambda app: {"matchLabels": {"app": app}}, st.sampled_from(APPS)),
    st.just({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}),
    st.just({"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
    st.just({}),
)


@st.composite
def spreads(draw: st.DrawFn) -> dict[str, Any]:
    constraint: dict[str, Any] = {
        "topologyKey": draw(st.sampled_from(KEYS)),
        "maxSkew": draw(st.integers(1, 3)),
        "whenUnsatisfiable": draw(st.sampled_from(("DoNotSchedule", "ScheduleAnyway"))),
        "labelSelector": draw(SELECTORS),
        "nodeAffinityPolicy": draw(st.sampled_from(("Honor", "Ignore"))),
        "nodeTaintsPolicy": draw(st.sampled_from(("Honor", "Ignore"))),
    }
    if constraint["whenUnsatisfiable"] == "DoNotSchedule" and draw(st.booleans()):
        constraint["minDomains"] = draw(st.integers(1, 4))
    return constraint


@st.composite
def near_terms(draw: st.DrawFn) -> dict[str, Any]:
    term: dict[str, Any] = {"topologyKey": draw(st.sampled_from(KEYS)), "labelSelector": draw(SELECTORS)}
    match draw(st.integers(0, 4)):
        case 0:
            term["namespaces"] = ["other"]
        case 1:
            term["namespaceSelector"] = {}
        case 2:
            term["namespaceSelector"] = {"matchLabels": {"team": "b"}}
    return term


@st.composite
def affinities(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw(st.booleans()):
        own: dict[str, Any] = {}
        if draw(st.booleans()):
            terms = draw(st.lists(NODE_TERMS, min_size=1, max_size=2))
            own["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        own["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw(st.integers(1, 100)), "preference": draw(NODE_TERMS)}
            for _ in range(draw(st.integers(0, 2)))
        ]
        found["nodeAffinity"] = own
    for name in ("podAffinity", "podAntiAffinity"):
        if draw(st.integers(0, 2)) == 0:
            found[name] = {
                "requiredDuringSchedulingIgnoredDuringExecution": draw(st.lists(near_terms(), max_size=2)),
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": draw(st.integers(1, 100)), "podAffinityTerm": draw(near_terms())}
                    for _ in range(draw(st.integers(0, 2)))
                ],
            }
    return found


@st.composite
def nodes(draw: st.DrawFn, name: str) -> core.Node:
    labels = {"rack": draw(st.sampled_from(("1", "2", "3")))} if draw(st.integers(0, 3)) else {}
    return node(
        name,
        zone=draw(st.sampled_from(("", "z1", "z2", "z3"))),
        labels=labels,
        taints=draw(TAINT_LISTS) if draw(st.integers(0, 2)) == 0 else (),
        unschedulable=draw(st.integers(0, 9)) == 0,
        cpu=draw(st.sampled_from(("1", "2", "4"))),
        memory=draw(st.sampled_from(("1Gi", "3000Mi", "8Gi"))),
        pods=draw(st.sampled_from(("2", "5", "110"))),
    )


@st.composite
def pods(draw: st.DrawFn, name: str, on: str = "", priorities: tuple[int, ...] = (0,)) -> core.Pod:
    spec: dict[str, Any] = {"priority": draw(st.sampled_from(priorities))}
    if draw(st.integers(0, 2)) == 0:
        spec["tolerations"] = draw(st.lists(TOLERATIONS, min_size=1, max_size=2))
    if draw(st.integers(0, 5)) == 0:
        spec["nodeSelector"] = {"rack": draw(st.sampled_from(("1", "2")))}
    if draw(st.booleans()):
        spec["affinity"] = draw(affinities())
    if draw(st.integers(0, 2)) == 0:
        spec["topologySpreadConstraints"] = draw(
            st.lists(spreads(), min_size=1, max_size=2, unique_by=lambda c: (c["topologyKey"], c["whenUnsatisfiable"]))
        )
    return pod(
        name,
        draw(st.sampled_from((None, "0", "50m", "300m", "1", "3"))),
        draw(st.sampled_from((None, "0", "64Mi", "500Mi", "2Gi"))),
        on=on,
        namespace=draw(st.sampled_from(("default", "default", "other"))),
        labels={"app": draw(st.sampled_from(APPS))} if draw(st.integers(0, 5)) else {},
        started=f"2026-11-30T10:00:0{name[1]}Z" if on else "",
        terminating=bool(on) and draw(st.integers(0, 5)) == 0,
        **spec,
    )


@st.composite
def clusters(draw: st.DrawFn, priorities: tuple[int, ...] = (0,)) -> tuple[list[core.Node], list[core.Pod], core.Pod]:
    """Nodes, pods that run on them, and one that looks for a place."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 6)))]
    made = [draw(nodes(name)) for name in names]
    running = [
        draw(pods(f"p{number}", draw(st.sampled_from(names)), priorities)) for number in range(draw(st.integers(0, 8)))
    ]
    return made, running, draw(pods("new", priorities=priorities))
