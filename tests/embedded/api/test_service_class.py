"""Which service class a pod has; every row was asked of kube-apiserver 1.37.2."""

import pytest

from baseload.embedded.api.birth import service_class
from baseload.embedded.store.record import Json

Resources = dict[str, Json]

FULL: Json = {"cpu": "1", "memory": "1Gi"}
CPU: Json = {"cpu": "1"}
MEMORY: Json = {"memory": "1Gi"}
DISK: Json = {"ephemeral-storage": "1Gi"}
ZERO: Json = {"cpu": "0", "memory": "0"}


def both(amounts: Json) -> Resources:
    return {"requests": amounts, "limits": amounts}


@pytest.mark.parametrize(
    ("containers", "wanted"),
    [
        ([{}], "BestEffort"),
        ([both(FULL)], "Guaranteed"),
        ([both(FULL), both(FULL)], "Guaranteed"),
        ([both(FULL), {}], "Burstable"),
        ([{}, both(FULL)], "Burstable"),
        ([both(CPU)], "Burstable"),
        ([both(CPU), both(MEMORY)], "Burstable"),
        ([{"requests": CPU, "limits": FULL}], "Burstable"),
        ([both(DISK)], "BestEffort"),
        ([both(ZERO)], "BestEffort"),
        ([both(ZERO), both(FULL)], "Burstable"),
    ],
)
def test_the_class_is_that_of_all_containers_together(containers: list[Json], wanted: str) -> None:
    told: list[Json] = [{"name": f"c{index}", "resources": held} for index, held in enumerate(containers)]
    assert service_class({"containers": told}) == wanted


def test_init_containers_count_too() -> None:
    init: list[Json] = [{"name": "init"}]
    assert service_class({"containers": [{"resources": both(FULL)}], "initContainers": init}) == "Burstable"


def test_what_the_pod_asks_for_as_a_whole_counts_before_its_containers() -> None:
    assert service_class({"resources": both(FULL), "containers": [{}]}) == "Guaranteed"
    assert service_class({"resources": {"requests": FULL}, "containers": [{}]}) == "Burstable"
