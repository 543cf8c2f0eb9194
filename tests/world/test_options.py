"""The options file: settings under the tools' own names, and every mistake in it named at once."""

from pathlib import Path

import pytest

from baseload.decide.lifecycle.repair_policies import Policy
from baseload.decide.provision.options import Options
from baseload.kube.types.core import TopologySpreadConstraint
from baseload.values.errors import BadInput
from baseload.values.instant import SECOND
from baseload.world.options import Settings, read


@pytest.fixture
def written(tmp_path: Path) -> "Written":
    return Written(tmp_path / "options.yaml")


class Written:
    """An options file with a text in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, text: str) -> Settings:
        self.path.write_text(text, encoding="utf-8")
        return read(str(self.path))

    def faults(self, text: str) -> list[str]:
        with pytest.raises(BadInput) as caught:
            self(text)
        return [str(fault).removeprefix(f"{self.path}: ") for fault in caught.value.faults]


def test_an_empty_file_leaves_the_defaults(written: Written) -> None:
    assert written("") == written("{}") == Settings()


def test_karpenters_settings_are_taken(written: Written) -> None:
    settings = written(
        "preferencePolicy: Ignore\nminValuesPolicy: BestEffort\nignoreDraRequests: false\n"
        "featureGates: {NodeOverlay: true, ReservedCapacity: false}\nnow: '1970-01-01T00:00:01Z'\n"
        "vmMemoryOverheadPercent: 0.05\nreservedENIs: 1\n"
    )

    assert settings == Settings(
        Options(
            preference_policy="Ignore",
            min_values_policy="BestEffort",
            ignore_dra_requests=False,
            feature_gates={"NodeOverlay": True, "ReservedCapacity": False},
            now=10**9,
        ),
        vm_memory_overhead_percent="0.05",
        reserved_enis=1,
    )


@pytest.mark.parametrize("below", ["{defaultConstraints: [%s]}", "[%s]"])
def test_default_spread_comes_from_the_scheduler_configuration(written: Written, below: str) -> None:
    constraint = "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"
    settings = written(f"schedulerConfig: {{podTopologySpread: {below % constraint}}}")

    assert settings.options.default_spread == (
        TopologySpreadConstraint(max_skew=2, topology_key="zone", when_unsatisfiable="DoNotSchedule"),
    )


def test_settings_of_other_commands_are_passed_over(written: Written) -> None:
    text = "expander: priority\nunneededSince: {node-b: '2026-01-10T11:49:00Z'}\nadmissionConfig: {}\n"

    assert written(text + "batchIdleDuration: 1s\ncpuRequests: 1000m\nnewPodScaleUpDelay: 2m\n") == Settings()


def test_what_a_disruption_pass_is_told_of_the_world_is_read(written: Written) -> None:
    options = written(
        "repairPolicies: [{conditionType: Ready, conditionStatus: 'False', tolerationDuration: 30m}]\n"
        "interruptionMessages: [{version: '0', source: aws.ec2}, '{}']\n"
        "cloudInstances: [kwok://a]\n"
    ).options

    assert options.repair_policies == (Policy("Ready", "False", 1_800 * SECOND),)
    assert options.interruption_messages == ('{"version":"0","source":"aws.ec2"}', "{}")
    assert options.cloud_instances == frozenset({"kwok://a"})
    assert written("repairPolicies: []").options.repair_policies == ()  # nothing is repaired
    assert written("cloudInstances: []").options.cloud_instances == frozenset()


def test_what_is_wrong_with_it_is_named_by_its_place(written: Written) -> None:
    assert written.faults(
        "repairPolicies: [{conditionType: Ready, conditionStatus: bad, tolerationDuration: 1}, 7, {}]\n"
        "interruptionMessages: {}\ncloudInstances: [1]\n"
    ) == [
        'repairPolicies[0].conditionStatus: Invalid value: "bad" (one of True, False, Unknown)',
        "repairPolicies[0].tolerationDuration: Invalid value: 1 (a duration, e.g. 10s)",
        "repairPolicies[1]: Invalid value: 7 (a map with conditionType, conditionStatus, tolerationDuration)",
        "repairPolicies[2].conditionType: is required (a text, e.g. Ready)",
        "repairPolicies[2].conditionStatus: is required (one of True, False, Unknown)",
        "repairPolicies[2].tolerationDuration: is required (a duration, e.g. 10s)",
        "interruptionMessages: Invalid value: {} (a list of messages, each a map in EventBridge's form or its JSON)",
        "cloudInstances: Invalid value: [1] (a list of provider IDs, e.g. [aws:///us-east-1a/i-0abc])",
    ]


def test_a_misspelt_name_is_answered_with_the_nearest_and_all_that_are_allowed(written: Written) -> None:
    (fault,) = written.faults("preferencePolice: Ignore")

    assert fault.startswith("preferencePolice: is no known setting (did you mean preferencePolicy? allowed: preference")
    assert "reservedENIs" in fault


def test_every_fault_is_listed(written: Written) -> None:
    assert written.faults(
        "preferencePolicy: ignore\nminValuesPolicy: 1\nignoreDraRequests: 'no'\n"
        "featureGates: {NodeOverlays: true, NodeOverlay: 1}\n"
        "now: yesterday\nreservedENIs: -1\nvmMemoryOverheadPercent: 2\nbatchIdleDuration: 10\ncpuRequests: 0\n"
    ) == [
        'batchIdleDuration: Invalid value: 10 (a duration, e.g. 10s)',
        'cpuRequests: Invalid value: 0 (an amount above 0, e.g. 1000)',
        'preferencePolicy: Invalid value: "ignore" (one of Respect, Ignore)',
        'minValuesPolicy: Invalid value: 1 (one of Strict, BestEffort)',
        'ignoreDraRequests: Invalid value: "no" (true or false)',
        "featureGates.NodeOverlays: is no known setting (did you mean NodeOverlay? allowed: CapacityBuffer, "
        "NodeOverlay, NodeRepair, ReservedCapacity, SpotToSpotConsolidation, StaticCapacity)",
        "featureGates.NodeOverlay: Invalid value: 1 (true or false)",
        written.faults("now: yesterday")[0],
        "vmMemoryOverheadPercent: Invalid value: 2 (a share from 0 to below 1, e.g. 0.075)",
        "reservedENIs: Invalid value: -1 (a whole number, 0 or more)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("- a", "is no map of settings (e.g. preferencePolicy: Ignore)"),
        ("a: 1\n---\nb: 2", "holds more than one document (one map of settings)"),
        ("featureGates: []", "featureGates: Invalid value: [] (a map, e.g. {NodeOverlay: true})"),
        ("schedulerConfig: 1", "schedulerConfig: Invalid value: 1 (a map with podTopologySpread)"),
        (
            "schedulerConfig: {podTopologySpread: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}",
            "schedulerConfig.podTopologySpread[0].maxSkew: Invalid value: 0 (at least 1)",
        ),
        (
            "schedulerConfig: {podTopologySpread: [{maxSkew: x, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}",
            "schedulerConfig.podTopologySpread[0].maxSkew: Invalid value: expected integer, got string",
        ),
    ],
)
def test_what_has_another_form_is_refused(written: Written, text: str, fault: str) -> None:
    assert written.faults(text) == [fault]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read(str(tmp_path / "absent.yaml"))
