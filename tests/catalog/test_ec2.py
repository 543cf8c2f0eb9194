"""The instance types of EC2, as Karpenter's AWS provider counts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.catalog import allocatable as amounts
from baseload.catalog.columns import InstanceTypes
from baseload.catalog.ec2_offerings import spot_price
from baseload.catalog.nodeclass import FAMILIES, NodeClassSettings
from baseload.values.errors import BadInput
from baseload.values.label import AWS_WELL_KNOWN, CAPACITY_TYPE, OS, ZONE
from baseload.values.quantity import MILLI, UNIT
from tests.catalog.ec2_catalogue import GI, MI, allocatable, capacity, catalogue, price, says, types_of

INSTANCE = "karpenter.k8s.aws/instance-"


@pytest.mark.parametrize(
    ("name", "vcpus", "gib", "pods", "dollars"),
    [
        ("t4g.medium", 2, 4, 17, 0.0336),
        ("t4g.large", 2, 8, 35, 0.0672),
        ("t4g.xlarge", 4, 16, 58, 0.1344),
        ("r6g.medium", 1, 8, 8, 0.0504),
        ("m5.large", 2, 8, 29, 0.096),
        ("m5.xlarge", 4, 16, 58, 0.192),
        ("m5.24xlarge", 96, 384, 737, 4.608),
        ("c5.large", 2, 4, 29, 0.085),
        ("c5.4xlarge", 16, 32, 234, 0.68),
        ("t3.medium", 2, 4, 17, 0.0416),
        ("t2.micro", 1, 1, 4, 0.0116),
        ("m6g.large", 2, 8, 29, 0.077),
        ("m7g.large", 2, 8, 29, 0.0816),
        ("c6g.large", 2, 4, 29, 0.068),
        ("p5.48xlarge", 192, 2048, 100, 55.04),
    ],
)
def test_what_a_type_has_and_costs(name: str, vcpus: int, gib: int, pods: int, dollars: float) -> None:
    types = types_of()
    assert says(types, name, f"{INSTANCE}cpu") == f"In [{vcpus}]"
    assert says(types, name, f"{INSTANCE}memory") == f"In [{gib * 1024}]"
    assert capacity(types, name, "pods") == pods * UNIT
    assert price(types, name) == dollars


@pytest.mark.parametrize(
    ("region", "name", "dollars"),
    [("eu-west-1", "m5.large", 0.107), ("eu-central-1", "m5.large", 0.115), ("ap-southeast-2", "m5.large", 0.12)],
)
def test_prices_are_those_of_the_region(region: str, name: str, dollars: float) -> None:
    assert price(types_of(region), name) == dollars


def test_m5_large_step_by_step() -> None:
    types = types_of()
    assert capacity(types, "m5.large", "memory") == 7577 * MI
    assert allocatable(types, "m5.large", "memory") == 6903 * MI
    assert allocatable(types, "m5.large", "cpu") == 1930 * MILLI
    assert allocatable(types, "m5.large", "ephemeral-storage") == 17 * GI


@pytest.mark.parametrize(
    ("name", "milli", "mib"),
    [
        ("t4g.medium", 1930, 3187),
        ("t4g.large", 1930, 6778),
        ("t4g.xlarge", 3920, 14103),
        ("r6g.medium", 940, 7075),
        ("m5.24xlarge", 95690, 355262),
    ],
)
def test_what_is_left_for_pods(name: str, milli: int, mib: int) -> None:
    assert allocatable(types_of(), name, "cpu") == milli * MILLI
    assert allocatable(types_of(), name, "memory") == mib * MI


def test_arm_machines_keep_64_mib_more() -> None:
    types = types_of()
    assert capacity(types, "m6g.large", "memory") == 7518 * MI
    assert capacity(types, "m5.large", "memory") == 7577 * MI


def test_the_share_of_the_hypervisor_is_an_option() -> None:
    assert capacity(types_of(vm_memory_overhead_percent="0"), "m5.large", "memory") == 8192 * MI


@pytest.mark.parametrize(
    ("vcpus", "milli"), [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (32, 150), (64, 230), (96, 310)]
)
def test_kube_reserved_cpu_shrinks_with_each_core(vcpus: int, milli: int) -> None:
    assert amounts.kube_reserved_cpu(vcpus) == milli * MILLI


def test_max_pods_overrides_the_interfaces_but_not_what_the_kubelet_keeps_by_them() -> None:
    types = types_of(settings=NodeClassSettings(max_pods=110))
    assert capacity(types, "r6g.medium", "pods") == 110 * UNIT
    assert allocatable(types, "r6g.medium", "memory") == allocatable(types_of(), "r6g.medium", "memory")


def test_bottlerocket_keeps_memory_by_the_pods_it_will_really_run() -> None:
    types = types_of(settings=NodeClassSettings(FAMILIES["Bottlerocket"], max_pods=110))
    assert allocatable(types, "m5.large", "memory") == (7577 - 11 * 110 - 255 - 100) * MI


def test_pods_per_core_lowers_the_number_of_pods_but_not_on_bottlerocket() -> None:
    assert capacity(types_of(settings=NodeClassSettings(pods_per_core=5)), "m5.large", "pods") == 10 * UNIT
    bottlerocket = NodeClassSettings(FAMILIES["Bottlerocket"], pods_per_core=5)
    assert capacity(types_of(settings=bottlerocket), "m5.large", "pods") == 29 * UNIT


def test_reserved_interfaces_carry_no_pods_and_do_not_change_what_the_kubelet_keeps() -> None:
    types = types_of(reserved_enis=1)
    assert capacity(types, "m5.large", "pods") == 20 * UNIT
    assert allocatable(types, "m5.large", "memory") == 6903 * MI
    assert capacity(types_of(reserved_enis=3), "m5.large", "pods") == 0


def test_efa_only_interfaces_of_the_default_card_carry_no_pods() -> None:
    types = types_of(settings=NodeClassSettings(efa_only=4, efa_only_default_card=1))
    assert capacity(types, "p5.48xlarge", "pods") == 51 * UNIT
    assert capacity(types, "p5.48xlarge", "vpc.amazonaws.com/efa") == 4 * UNIT


def test_a_node_class_that_names_interfaces_and_none_for_efa_alone_has_no_efa() -> None:
    types = types_of(settings=NodeClassSettings(efa_only=0))
    assert "vpc.amazonaws.com/efa" not in types.capacity


@pytest.mark.parametrize(
    ("name", "pods"), [("m5.large", 110), ("r6g.medium", 98), ("m5.24xlarge", 250), ("t2.micro", None)]
)
def test_prefix_delegation(name: str, pods: int | None) -> None:
    spec = catalogue().spec(name)
    assert spec is not None
    assert amounts.prefix_pods(spec) == pods


def test_the_kubelets_reservations_replace_the_usual_ones_by_resource() -> None:
    settings = NodeClassSettings(kube_reserved=(("cpu", 200 * MILLI),), system_reserved=(("memory", GI),))
    types = types_of(settings=settings)
    assert allocatable(types, "m5.large", "cpu") == 1800 * MILLI
    assert allocatable(types, "m5.large", "memory") == (6903 - 1024) * MI


@pytest.mark.parametrize(
    ("signal", "text", "resource", "left"),
    [
        ("memory.available", "500Mi", "memory", (7577 - 574 - 500) * MI),
        ("memory.available", "5%", "memory", 7003 * MI - 397253018 * UNIT),  # 5 % of 7577Mi, rounded up to a byte
        ("memory.available", "100%", "memory", 7003 * MI),
        ("nodefs.available", "15%", "ephemeral-storage", 16 * GI),
        ("nodefs.inodesFree", "50%", "ephemeral-storage", 17 * GI),
    ],
)
def test_eviction_thresholds(signal: str, text: str, resource: str, left: int) -> None:
    types = types_of(settings=NodeClassSettings(eviction_hard=((signal, text),)))
    assert allocatable(types, "m5.large", resource) == left


def test_local_disks_are_the_storage_when_the_node_class_joins_them() -> None:
    types = types_of(settings=NodeClassSettings(local_disks=True))
    assert capacity(types, "m5d.large", "ephemeral-storage") == 75 * 10**9 * UNIT
    assert capacity(types, "m5.large", "ephemeral-storage") == 20 * GI


@pytest.mark.parametrize(
    ("name", "resource", "count"),
    [
        ("g5.12xlarge", "nvidia.com/gpu", 4),
        ("g6f.large", "nvidia.com/gpu", 0),
        ("inf2.xlarge", "aws.amazon.com/neuron", 1),
        ("inf2.xlarge", "aws.amazon.com/neuroncore", 2),
        ("trn1.32xlarge", "aws.amazon.com/neuroncore", 32),
        ("p5.48xlarge", "vpc.amazonaws.com/efa", 32),
        ("m5.large", "vpc.amazonaws.com/pod-eni", 9),
        ("t3.medium", "vpc.amazonaws.com/pod-eni", 0),
    ],
)
def test_devices(name: str, resource: str, count: int) -> None:
    assert capacity(types_of(), name, resource) == count * UNIT


@pytest.mark.parametrize(
    ("name", "key", "said"),
    [
        ("m5.large", "category", "In [m]"),
        ("m5.large", "generation", "In [5]"),
        ("m7i-flex.xlarge", "family", "In [m7i-flex]"),
        ("m7i-flex.xlarge", "capability-flex", "In [true]"),
        ("m5.large", "capability-flex", "In [false]"),
        ("u-6tb1.56xlarge", "generation", "In [1]"),
        ("mac-m4.metal", "category", "DoesNotExist"),
        ("m5.metal", "size", "In [metal]"),
        ("m5.metal", "hypervisor", "DoesNotExist"),
        ("m5.large", "hypervisor", "In [nitro]"),
        ("m5.large", "local-nvme", "DoesNotExist"),
        ("m5d.large", "local-nvme", "In [75]"),
        ("d2.xlarge", "local-nvme", "DoesNotExist"),
        ("i4i.large", "network-bandwidth", "In [781]"),
        ("c1.medium", "ebs-bandwidth", "DoesNotExist"),
        ("m5.large", "ebs-bandwidth", "In [4750]"),
        ("g5.12xlarge", "gpu-name", "In [a10g]"),
        ("g5.12xlarge", "gpu-count", "In [4]"),
        ("g6f.large", "gpu-count", "In [0]"),
        ("g5.12xlarge", "accelerator-name", "DoesNotExist"),
        ("inf2.xlarge", "accelerator-name", "In [inferentia2]"),
        ("inf2.xlarge", "accelerator-manufacturer", "In [aws]"),
        ("f2.6xlarge", "accelerator-name", "DoesNotExist"),
        ("m5.large", "encryption-in-transit-supported", "In [false]"),
        ("m6g.large", "cpu-manufacturer", "In [aws]"),
        ("m5.large", "cpu-sustained-clock-speed-mhz", "In [3100]"),
        ("m5.large", "tenancy", "In [dedicated default]"),
    ],
)
def test_labels(name: str, key: str, said: str) -> None:
    assert says(types_of(), name, INSTANCE + key) == said


def test_whether_a_type_can_have_nitro_enclaves_is_a_label() -> None:
    assert says(types_of(), "m5.large", "karpenter.k8s.aws/nitro-sandbox") == "In [false]"
    assert says(types_of(), "m5.xlarge", "karpenter.k8s.aws/nitro-sandbox") == "In [true]"


def test_a_well_known_key_of_which_nothing_is_known_does_not_exist() -> None:
    types = types_of()
    assert types.well_known == AWS_WELL_KNOWN <= types.labels.keys()
    assert says(types, "m5.large", "karpenter.k8s.aws/placement-group-id") == "DoesNotExist"


def test_windows_runs_on_amd64_alone() -> None:
    types = types_of(settings=NodeClassSettings(FAMILIES["Windows2022"]))
    assert says(types, "m5.large", OS) == "In [windows]"
    assert says(types, "m6g.large", OS) == "DoesNotExist"
    assert says(types, "m5.large", "node.kubernetes.io/windows-build") == "In [10.0.20348]"
    assert capacity(types, "m5.large", "pods") == 110 * UNIT
    assert capacity(types, "m5.large", "vpc.amazonaws.com/PrivateIPv4Address") == 9 * UNIT


def test_a_spot_price_is_the_on_demand_price_less_the_usual_saving_and_an_estimate() -> None:
    types = types_of()
    position = types.names.index("m5.large")
    spot = [column for column in types.offerings if column.capacity_type == "spot"]
    assert price(types, "m5.large", "spot") == 0.03264  # 66 % off
    assert all(column.estimated >> position & 1 for column in spot if column.types >> position & 1)


@given(st.floats(0.001, 500), st.integers(-100, 100))
def test_spot_prices_lie_between_a_tenth_of_the_on_demand_price_and_all_of_it(on_demand: float, saving: int) -> None:
    assert on_demand * 0.1 - 1e-6 <= spot_price(on_demand, saving) <= on_demand + 1e-6


def test_an_on_demand_price_that_nobody_published_is_marked() -> None:
    types = types_of("us-west-2")
    column = types.offerings[0]
    assert column.estimated >> types.names.index("m8i.large") & 1
    assert not column.estimated >> types.names.index("m5.large") & 1
    assert "us-west-2: on-demand prices of 2025-04-04, 475 of 1354 estimated" in types.notes[0]


def test_a_type_without_a_known_price_is_listed_and_never_available() -> None:
    types = types_of()
    assert price(types, "r9g.large") is None
    r9g = types.names.index("r9g.large")
    assert any(column.types >> r9g & 1 for column in types.offerings)
    assert not any(column.available >> r9g & 1 for column in types.offerings)
    assert "35 types without a known price" in types.notes[0]


def test_retired_types_are_known_by_name_and_never_offered() -> None:
    spec = catalogue().spec("p3.2xlarge")
    assert spec is not None
    assert spec.retired
    assert "p3.2xlarge" not in types_of().names


def zones_of(types: InstanceTypes, name: str) -> set[str]:
    position = types.names.index(name)
    return {column.zone for column in types.offerings if column.available >> position & 1}


def test_a_type_is_offered_in_the_zones_that_have_it() -> None:
    types = types_of()
    assert zones_of(types, "m5.large") == {f"us-east-1{letter}" for letter in "abcdf"}
    assert says(types, "m5.large", ZONE) == "In [us-east-1a us-east-1b us-east-1c us-east-1d us-east-1f]"


def test_offerings_say_their_zone_id_and_deny_reservations() -> None:
    column = types_of().offerings[0]
    assert str(column.requirements["topology.k8s.aws/zone-id"]).endswith("In [use1-az2]")
    assert column.requirements["karpenter.k8s.aws/capacity-reservation-id"].operator == "DoesNotExist"
    assert column.requirements[CAPACITY_TYPE].values == {"on-demand"}


def test_only_zones_with_a_subnet_are_offered() -> None:
    types = types_of(settings=NodeClassSettings(zones=(("us-east-1a", ""), ("us-east-1e", ""))))
    assert zones_of(types, "m5.large") == {"us-east-1a"}
    assert says(types, "m5.large", ZONE) == "In [us-east-1a]"


def test_subnets_say_which_letter_a_zone_has_in_this_account() -> None:
    types = types_of(settings=NodeClassSettings(zones=(("us-east-1a", "use1-az3"),)))
    assert says(types, "m5.large", "topology.k8s.aws/zone-id") == "DoesNotExist"  # az3 has no m5


def test_a_region_whose_zones_are_unknown_needs_them_from_the_node_class() -> None:
    with pytest.raises(BadInput, match="does not know the zones of region us-gov-west-1"):
        types_of("us-gov-west-1")
    types = types_of("us-gov-west-1", NodeClassSettings(zones=(("us-gov-west-1a", "usgw1-az1"),)))
    assert price(types, "m5.large") == 0.121


def test_a_misspelt_region_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"unknown region 'us-eastt-1'.*did you mean us-east-1"):
        types_of("us-eastt-1")


def test_equal_settings_share_one_table() -> None:
    assert types_of(settings=NodeClassSettings(max_pods=50)) is types_of(settings=NodeClassSettings(max_pods=50))


def test_every_type_has_whole_figures() -> None:
    types = types_of()
    assert len(types) == 1375
    assert min(types.capacity["cpu"]) == UNIT
    assert all(amount > 0 for amount in types.allocatable["memory"])
    assert sum(amount == 0 for amount in types.capacity["pods"]) == 0
