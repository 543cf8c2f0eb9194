"""What is said of fields that are empty and must not be, word for word as kube-apiserver v1.37.2 says it."""

import copy
from typing import Any, Final

import pytest
import yaml

from tests.embedded.api.calling import MERGE
from tests.embedded.api.test_recorded_manifests import changed
from tests.embedded.api.test_recorded_objects import FOLDER, SENT, path, server

BASES: Final[dict[str, Any]] = {
    **yaml.safe_load((FOLDER / "manifests.yaml").read_text())["bases"],
    **{tree["metadata"]["name"]: tree for tree in SENT},
}
NAME: Final = (
    "name part must be non-empty",
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
)
CONDITION: Final = 'spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": '
ACTIONS: Final = 'Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]'
SOURCES: Final = '"ContainerResource", "External", "Object", "Pods", "Resource"'
TARGET: Final = "spec.metrics[0].resource.target"


@pytest.mark.parametrize(
    ("base", "field", "value", "said"),
    [
        (
            "daemonset",
            "spec.selector",
            None,
            'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
        ),
        (
            "cronjob",
            "spec",
            {},
            "[spec.jobTemplate.spec.template.spec.containers: Required value, "
            'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never", '
            "spec.schedule: Required value]",
        ),
        ("many", "spec.podFailurePolicy.rules.0.action", "", f"spec.podFailurePolicy.rules[0].action: {ACTIONS}"),
        (
            "many",
            "spec.podFailurePolicy.rules.0.onPodConditions.0.type",
            "",
            f"[{', '.join(CONDITION + why for why in NAME)}]",
        ),
        (
            "many",
            "spec.completionMode",
            "",
            'spec.completionMode: Unsupported value: "": supported values: "NonIndexed", "Indexed"',
        ),
        (
            "hpb",
            "spec.metrics.0.type",
            "",
            "[spec.metrics[0].type: Required value: must specify a metric source type, "
            f'spec.metrics[0].type: Unsupported value: "": supported values: {SOURCES}]',
        ),
        (
            "hpb",
            "spec.metrics.0.resource.target.type",
            "",
            f"[{TARGET}.type: Required value: must specify a metric target type, "
            f'{TARGET}.type: Invalid value: "": must be either Utilization, Value, or AverageValue]',
        ),
    ],
)
def test_an_empty_field_is_refused_as_by_a_real_server(base: str, field: str, value: object, said: str) -> None:
    tree = changed(copy.deepcopy(BASES[base]), {field: value})

    refused = server().call("POST", f"{path(tree)}?dryRun=All", tree)

    assert (refused.code, refused.message.partition(" is invalid: ")[2]) == (422, said)


@pytest.mark.parametrize(
    ("base", "field", "said"),
    [
        (
            "daemonset",
            "selector",
            "[spec.selector: Invalid value: null: field is immutable, spec.template.metadata.labels: Invalid value: "
            '{"app":"a"}: `selector` does not match template `labels`]',
        ),
        ("node", "providerID", "spec.providerID: Invalid value: null: field cannot be cleared once set"),
    ],
)
def test_a_field_that_is_taken_away_is_refused_as_by_a_real_server(base: str, field: str, said: str) -> None:
    cluster, tree = server(), BASES[base]
    assert cluster.call("POST", path(tree), tree).code == 201

    refused = cluster.call("PATCH", path(tree, tree["metadata"]["name"]), {"spec": {field: None}}, MERGE)

    assert (refused.code, refused.message.partition(" is invalid: ")[2]) == (422, said)
