"""Field paths are written as the API server writes them, read back, and change one field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.kube import fieldpath

STEPS = st.lists(st.text(max_size=4) | st.integers(0, 20), max_size=5).map(tuple)


@given(STEPS)
def test_what_is_written_reads_back(steps: tuple[fieldpath.Step, ...]) -> None:
    assert fieldpath.parse(fieldpath.text(steps)) == steps


def test_paths_look_as_the_api_server_writes_them() -> None:
    steps = ("spec", "containers", 0, "resources", "limits", "nvidia.com/gpu")
    assert fieldpath.text(steps) == 'spec.containers[0].resources.limits["nvidia.com/gpu"]'
    assert fieldpath.parse("spec.nodeSelector[topology.kubernetes.io/zone]")[-1] == "topology.kubernetes.io/zone"


def test_one_field_is_set_and_the_original_stays() -> None:
    tree = {"spec": {"replicas": 1, "list": [1, 2]}}
    assert fieldpath.changed(tree, "spec.replicas", 3) == {"spec": {"replicas": 3, "list": [1, 2]}}
    assert fieldpath.changed(tree, "spec.list[2]", 3) == {"spec": {"replicas": 1, "list": [1, 2, 3]}}
    assert tree == {"spec": {"replicas": 1, "list": [1, 2]}}


def test_a_field_is_removed_and_maps_on_the_way_are_made() -> None:
    assert fieldpath.changed({"a": {"b": 1}}, "a.b", None) == {"a": {}}
    assert fieldpath.changed({"a": [1, 2]}, "a[0]", None) == {"a": [2]}
    assert fieldpath.changed({}, 'spec.nodeSelector["a/b"]', "c") == {"spec": {"nodeSelector": {"a/b": "c"}}}
    assert fieldpath.changed({}, "tolerations[0].key", "k") == {"tolerations": [{"key": "k"}]}


@pytest.mark.parametrize("path", ["", "a..b", "a[", "a[5]", "a.b", "b[0].c[7]"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|nowhere"):
        fieldpath.changed({"a": [1], "b": [{}]}, path, 1)
