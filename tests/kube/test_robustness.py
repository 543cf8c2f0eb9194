"""Whatever comes in, loading answers with manifests or with the faults: nothing else is raised."""

import contextlib
import json

from hypothesis import given
from hypothesis import strategies as st

from baseload.kube import kinds, manifests
from baseload.kube.schema.check import Validate
from baseload.values.errors import BadInput

WORDS = [
    *("name", "namespace", "labels", "resourceVersion", "creationTimestamp", "containers", "resources", "requests"),
    *("limits", "cpu", "template", "requirements", "key", "operator", "values", "minValues", "nodeClassRef"),
    *("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
    *("matchExpressions", "tolerations", "topologySpreadConstraints", "maxSkew", "weight", "replicas", "taints"),
    *("effect", "ports", "volumes", "selector", "matchLabels", "disruption", "budgets", "kubelet", "tags", "ebs"),
    *("amiSelectorTerms", "blockDeviceMappings", "volumeSize", "minAvailable", "capacity", "conditions", "spec"),
]
TEXTS = st.text(max_size=5) | st.sampled_from(["In", "Gt", "100m", "-1", "1e999", "50%", "2026-01-01T00:00:00Z"])
PLAIN: st.SearchStrategy[object] = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
TREES: st.SearchStrategy[object] = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | TEXTS, inner, max_size=5),
    max_leaves=25,
)
YAML_TEXTS = st.text(alphabet="ab:-[]{}&*!|>#%@,?'\"\n 01.~<\\\t\u20ac", max_size=40)
MODES: st.SearchStrategy[Validate] = st.sampled_from(["auto", "strict", "warn", "ignore"])


@st.composite
def objects(draw: st.DrawFn) -> object:
    """An object of a known kind with anything in it."""
    api_version, kind = draw(st.sampled_from(sorted(kinds.KINDS)))
    metadata = draw(st.sampled_from([{"name": "a"}, {"name": "a", "resourceVersion": "1"}]) | TREES)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": draw(TREES), "status": draw(TREES)}


LISTS = st.lists(objects(), max_size=3).map(lambda items: {"apiVersion": "v1", "kind": "List", "items": items})


def load(data: bytes, validate: Validate = "auto") -> None:
    with contextlib.suppress(BadInput):
        manifests.load(["-"], stdin=lambda: data, validate=validate)


@given(TREES | objects() | LISTS, MODES)
def test_any_json_is_manifests_or_bad_input(value: object, validate: Validate) -> None:
    load(json.dumps(value).encode(), validate)


@given(YAML_TEXTS)
def test_any_yaml_is_manifests_or_bad_input(text: str) -> None:
    load(text.encode())


@given(st.binary(max_size=60))
def test_any_bytes_are_manifests_or_bad_input(data: bytes) -> None:
    load(data)
