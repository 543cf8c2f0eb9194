"""The selector by which kube-scheduler spreads a pod that has no constraints of its own (provisioning spec 13.17)."""

from collections.abc import Iterable, Mapping

from baseload.values.selector import Selector


def deduced(
    labels: Mapping[str, str],
    services: Iterable[Mapping[str, str]],
    controller: Mapping[str, str],
    controllers: Selector | None,
) -> Selector | None:
    """What the services that select the pod and its controller have in common; None where nothing says anything.

    `controller` is a ReplicationController's selector, `controllers` that of a ReplicaSet or StatefulSet.
    """
    pairs: dict[str, str] = {}
    for wanted in services:
        if wanted and wanted.items() <= labels.items():
            pairs |= wanted
    pairs |= controller
    terms = controllers.terms if controllers is not None else ()
    if not pairs and not terms:
        return None
    selector = Selector.of(pairs, ())
    for term in terms:
        selector = selector.with_requirement(term.key, term.operator, term.values)
    return selector
