"""Configurations and objects for property tests: small ones with everything that merging tells apart."""

from typing import Any

from hypothesis import strategies as st

Tree = dict[str, Any]
NAMES = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.sampled_from(["x", "y"])


def some(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Tree]:
    """Maps with any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def items(key: str, keys: st.SearchStrategy[Any], fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Lists of maps that a key tells apart."""
    item = st.fixed_dictionaries({key: keys}, optional=fields)
    return st.lists(item, max_size=3, unique_by=lambda held: held[key])


PORTS = items("containerPort", st.sampled_from([80, 443]), {"protocol": st.just("TCP"), "name": TEXTS})
CONTAINERS = items(
    "name",
    NAMES,
    {
        "image": TEXTS,
        "args": st.lists(TEXTS, max_size=2),
        "ports": PORTS,
        "env": items("name", NAMES, {"value": TEXTS}),
        "resources": some({"limits": some({"cpu": st.sampled_from(["1", 2])})}),
    },
)
VOLUMES = items("name", NAMES, {"emptyDir": some({"medium": TEXTS})})
METADATA = some(
    {
        "labels": st.dictionaries(NAMES, TEXTS, max_size=3),
        "finalizers": st.lists(st.sampled_from(["x/a", "x/b", "x/c"]), max_size=3, unique=True),
    }
)
SPEC = some(
    {
        "containers": CONTAINERS,
        "volumes": VOLUMES,
        "nodeSelector": st.dictionaries(NAMES, TEXTS, max_size=2),
        "tolerations": st.lists(some({"key": TEXTS}), max_size=2),
        "hostNetwork": st.booleans(),
        "priority": st.integers(0, 2),
        "securityContext": some({"runAsUser": st.integers(0, 1)}),
    }
)


def pods(metadata: st.SearchStrategy[Tree] = METADATA, spec: st.SearchStrategy[Tree] = SPEC) -> st.SearchStrategy[Tree]:
    """Pods that share a name and nothing else."""
    head = {"apiVersion": st.just("v1"), "kind": st.just("Pod")}
    named = metadata.map(lambda held: {"name": "p", **held})
    return st.fixed_dictionaries({**head, "metadata": named}, optional={"spec": spec})
