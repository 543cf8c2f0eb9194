"""What daemons use beyond their requests is read from their manifests."""

import msgspec
import pytest

from baseload.kube.types.apps import DaemonSet
from baseload.model.real_use import ANNOTATION, DaemonMemory, daemon_memory
from baseload.model.view import View
from baseload.values.errors import BadInput
from baseload.values.quantity import UNIT

MI = 2**20 * UNIT


def daemon(request: str, use: str | None) -> DaemonSet:
    annotations = {} if use is None else {ANNOTATION: use}
    containers = [{"name": "c", "resources": {"requests": {"memory": request}}}]
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": containers}}
    return msgspec.convert({"metadata": {"name": "d", "namespace": "n"}, "spec": {"template": template}}, DaemonSet)


def test_the_gap_is_what_annotated_daemons_use_less_what_they_request() -> None:
    view = View(daemon_sets=(daemon("100Mi", "300Mi"), daemon("50Mi", "60Mi"), daemon("1Gi", None)))

    assert daemon_memory(view) == DaemonMemory(150 * MI, 360 * MI)
    assert daemon_memory(view).gap == 210 * MI


def test_an_annotation_that_is_no_quantity_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r'DaemonSet n/d: spec\.template\.metadata\.annotations\["baseload'):
        daemon_memory(View(daemon_sets=(daemon("1Mi", "much"),)))
