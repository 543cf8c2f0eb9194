"""What daemons say of their memory is read as a quantity, or refused."""

import msgspec

from baseload.kube.types.apps import DaemonSet
from baseload.model.real_use import ANNOTATION, unreadable
from baseload.model.view import View


def daemon(use: str | None) -> DaemonSet:
    annotations = {} if use is None else {ANNOTATION: use}
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "c"}]}}
    return msgspec.convert({"metadata": {"name": "d", "namespace": "n"}, "spec": {"template": template}}, DaemonSet)


def test_a_figure_that_is_no_quantity_is_named_with_its_daemon() -> None:
    (found,) = unreadable(View(daemon_sets=(daemon(None), daemon("300Mi"), daemon("much"))))

    assert found[0] == "DaemonSet n/d"
    assert '"much" is not a quantity' in found[1]
