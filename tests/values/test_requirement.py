"""The requirement algebra: what users of nodeSelector, node affinity and NodePool requirements may count on."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.values.errors import BadInput
from baseload.values.label import AWS_WELL_KNOWN, CORE_WELL_KNOWN, normalise
from baseload.values.requirement import EMPTY, Requirement, Requirements, exists, invalid
from tests.values import strategies

ZONE = "topology.kubernetes.io/zone"


def req(operator: str, *values: str, key: str = "k", min_values: int | None = None) -> Requirement:
    return Requirement.of(key, operator, values, min_values)


def both(*requirements: Requirement) -> Requirement:
    return Requirements.of(requirements)["k"]


SAME_KEY = strategies.requirements_on("k")

# One requirement


@pytest.mark.parametrize(
    ("operator", "values", "reads_back"),
    [
        ("In", ["a"], "In"),
        ("In", [], "DoesNotExist"),
        ("NotIn", ["a"], "NotIn"),
        ("NotIn", [], "Exists"),
        ("Exists", [], "Exists"),
        ("DoesNotExist", [], "DoesNotExist"),
        ("Gt", ["4"], "Exists"),
        ("Lt", ["4"], "Exists"),
        ("Gte", ["4"], "Exists"),
        ("Lte", ["4"], "Exists"),
    ],
)
def test_operator_reads_back(operator: str, values: list[str], reads_back: str) -> None:
    assert req(operator, *values).operator == reads_back


def test_comparisons_are_inclusive_bounds() -> None:
    assert [(r.gte, r.lte) for r in map(req, ("Gt", "Lt", "Gte", "Lte"), "4444")] == [
        (5, None),
        (None, 3),
        (4, None),
        (None, 4),
    ]


def test_in_of_nothing_is_does_not_exist() -> None:
    assert req("In") == req("DoesNotExist")


def test_greater_than_the_largest_integer_does_not_exist() -> None:
    assert req("Gt", str(2**63 - 1), min_values=2) == req("DoesNotExist")
    assert req("Gte", str(2**63 - 1)).operator == "Exists"


def test_an_unchecked_operand_counts_as_zero_or_as_the_limit() -> None:
    assert req("Gt", "many") == req("Gt", "0")
    assert req("Gte") == req("Gte", "0")
    assert req("Lt", "1" * 30) == req("Lt", str(2**63 - 1))
    assert req("Gte", "-" + "1" * 30).gte == -(2**63)


def test_an_unknown_operator_is_bad_input() -> None:
    with pytest.raises(BadInput, match='"Equals"'):
        req("Equals", "a")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("failure-domain.beta.kubernetes.io/zone", ZONE),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
        ("topology.ebs.csi.aws.com/zone", ZONE),
        ("team", "team"),
    ],
)
def test_old_names_of_a_key_mean_the_new_one(written: str, meant: str) -> None:
    assert normalise(written) == Requirement.of(written, "Exists").key == exists(written).key == meant
    assert list(Requirements.of_labels({written: "x"})) == [meant]


def test_has_looks_at_values_and_bounds() -> None:
    assert req("In", "a").has("a")
    assert not req("In", "a").has("b")
    assert req("NotIn", "a").has("b")
    assert not req("NotIn", "a").has("a")
    assert req("Gt", "4").has("5")
    assert not req("Gt", "4").has("4")
    assert req("Gt", "4").has("+005")
    assert not req("Gt", "4").has("many")
    assert not req("Gt", "4").has(str(2**63))
    assert not req("DoesNotExist").has("")


# Intersection


@given(SAME_KEY, SAME_KEY)
def test_intersection_is_commutative(a: Requirement, b: Requirement) -> None:
    assert a.intersect(b) == b.intersect(a)


@given(SAME_KEY, SAME_KEY, SAME_KEY)
def test_intersection_is_associative(a: Requirement, b: Requirement, c: Requirement) -> None:
    assert a.intersect(b).intersect(c) == a.intersect(b.intersect(c))


@given(SAME_KEY, SAME_KEY)
def test_intersecting_what_is_already_demanded_gives_the_same_object(a: Requirement, b: Requirement) -> None:
    met = a.intersect(b)
    assert met.intersect(a) is met
    assert met.intersect(b) is met


@given(SAME_KEY, SAME_KEY, strategies.values)
def test_an_intersection_has_what_both_have(a: Requirement, b: Requirement, value: str) -> None:
    assert a.intersect(b).has(value) == (a.has(value) and b.has(value))


@given(SAME_KEY, SAME_KEY)
def test_requirements_overlap_unless_their_intersection_is_does_not_exist(a: Requirement, b: Requirement) -> None:
    assert a.overlaps(b) == b.overlaps(a) == (a.intersect(b).operator != "DoesNotExist")


@given(SAME_KEY, SAME_KEY)
def test_min_values_of_an_intersection_is_the_greater_one(a: Requirement, b: Requirement) -> None:
    given_ones = [r.min_values for r in (a, b) if r.min_values is not None]
    assert a.intersect(b).min_values == max(given_ones, default=None)


def test_crossed_bounds_leave_does_not_exist_with_min_values() -> None:
    assert both(req("Gt", "5", min_values=2), req("Lt", "6")) == req("DoesNotExist", min_values=2)
    assert both(req("Gte", "5"), req("Lte", "5")).operator == "Exists"


def test_bounds_drop_values_outside_and_values_that_are_no_integers() -> None:
    assert both(req("In", "1", "5", "007", "many"), req("Gt", "4")) == req("In", "5", "007")


def test_a_concrete_result_forgets_the_bounds() -> None:
    met = both(req("Gt", "4"), req("In", "5"))
    assert (met.gte, met.lte) == (None, None)
    assert both(req("Gt", "4"), req("In", "3")) == req("DoesNotExist")


def test_bounds_trim_the_excluded_values() -> None:
    met = both(req("NotIn", "1", "7", "many"), req("Gt", "4"))
    assert met.values == {"7"}
    assert met.operator == "NotIn"
    assert both(req("NotIn", "1", "many"), req("Gt", "4")).operator == "Exists"


def test_does_not_exist_overlaps_nothing_not_even_itself() -> None:
    absent = req("DoesNotExist")
    assert not any(absent.overlaps(r) for r in (absent, req("NotIn", "a"), req("Exists"), req("In", "a")))


def test_exclusions_and_exists_always_overlap() -> None:
    assert req("Exists").overlaps(req("NotIn", "a"))
    assert req("NotIn", "a").overlaps(req("NotIn", "b"))
    assert req("Gt", "4").overlaps(req("NotIn", "5"))


# Writing back


def test_a_range_is_written_as_two_entries() -> None:
    assert both(req("Gt", "1", min_values=3), req("Lt", "9")).selectors() == [
        {"key": "k", "operator": "Gte", "values": ["2"], "minValues": 3},
        {"key": "k", "operator": "Lte", "values": ["8"], "minValues": 3},
    ]


def test_values_are_written_sorted() -> None:
    assert req("NotIn", "b", "a", "c").selectors() == [{"key": "k", "operator": "NotIn", "values": ["a", "b", "c"]}]
    assert req("Exists").selectors() == [{"key": "k", "operator": "Exists", "values": []}]


def test_excluded_values_beside_bounds_are_lost_on_writing() -> None:
    met = both(req("NotIn", "7"), req("Lte", "9"))
    assert met.selectors() == [{"key": "k", "operator": "Lte", "values": ["9"]}]


@given(SAME_KEY)
def test_what_is_written_reads_back_but_for_exclusions_beside_bounds(r: Requirement) -> None:
    entries = [Requirement.of(e["key"], e["operator"], e["values"], e.get("minValues")) for e in r.selectors()]
    bounded = r.gte is not None or r.lte is not None
    expected = Requirement(r.key, True, frozenset(), r.gte, r.lte, r.min_values) if bounded else r
    assert Requirements.of(entries) == Requirements.of([expected])


def test_a_long_list_is_shown_in_part() -> None:
    assert str(req("In", *"gfedcba")) == "k In [a b c d e and 2 others]"
    assert str(both(req("Gt", "1", min_values=2), req("Lt", "9"))) == "k Exists >=2 <=8 minValues 2"


# Sets of requirements


@given(st.lists(strategies.requirements, max_size=4))
def test_the_order_of_writing_does_not_matter(requirements: list[Requirement]) -> None:
    sets = [Requirements.of(order) for order in itertools.permutations(requirements)]
    assert len(set(sets)) == 1
    assert len({tuple(s.items()) for s in sets}) == 1


@given(strategies.requirement_sets, strategies.requirement_sets)
def test_adding_what_is_there_changes_nothing(a: Requirements, b: Requirements) -> None:
    together = a.add(b)
    assert together.add(a, b) is together
    assert together.add(*b.values()) is together
    assert a.add(EMPTY) is a
    assert set(together) == set(a) | set(b)


def test_adding_a_present_key_intersects() -> None:
    assert EMPTY.add(req("In", "a", "b"), req("NotIn", "a")) == Requirements.of([req("In", "b")])


def test_an_absent_key_may_be_anything() -> None:
    assert EMPTY.get_or_exists("k") == req("Exists")
    assert Requirements.of([req("In", "a")]).get_or_exists("k") == req("In", "a")


@given(strategies.requirement_sets, strategies.requirement_sets)
def test_intersects_is_symmetric(a: Requirements, b: Requirements) -> None:
    assert a.intersects(b) == b.intersects(a)


@given(strategies.requirement_sets, strategies.requirement_sets, st.sets(strategies.keys))
def test_compatible_exactly_when_no_conflict(a: Requirements, b: Requirements, open_keys: set[str]) -> None:
    assert a.compatible(b, open_keys) == (a.conflict(b, open_keys) is None)
    if a.compatible(b, open_keys):
        assert a.intersects(b)


@given(strategies.labels, strategies.requirement_sets)
def test_a_labelled_node_meets_exactly_what_its_labels_satisfy(labels: dict[str, str], pod: Requirements) -> None:
    satisfied = all(r.has(labels[key]) if key in labels else r.tolerates_absence for key, r in pod.items())
    assert Requirements.of_labels(labels).compatible(pod) == satisfied


def test_two_ways_of_doing_without_a_label_go_together() -> None:
    absent, excluded = Requirements.of([req("DoesNotExist")]), Requirements.of([req("NotIn", "a")])
    assert absent.intersects(absent)
    assert absent.intersects(excluded)
    assert not absent.intersects(Requirements.of([req("Exists")]))
    assert not absent.intersects(Requirements.of([req("In", "a")]))
    crossed = [Requirements.of([req("NotIn", "3"), req(operator, "3")]) for operator in ("Gte", "Lte")]
    assert crossed[0].add(req("NotIn", "4")).intersects(crossed[1].add(req("Lt", "3"), req("NotIn", "2")))


def test_compatibility_is_one_way() -> None:
    pod = Requirements.of([req("In", "a")])
    assert not EMPTY.compatible(pod)
    assert pod.compatible(EMPTY)


def test_an_undefined_key_fails_unless_it_may_stay_open_or_the_pod_can_do_without() -> None:
    for operator, values in (("In", "a"), ("Exists", ""), ("Gt", "1")):
        pod = Requirements.of([Requirement.of(ZONE, operator, values)])
        assert not EMPTY.compatible(pod)
        assert EMPTY.compatible(pod, CORE_WELL_KNOWN)
    for operator in ("NotIn", "DoesNotExist"):
        assert EMPTY.compatible(Requirements.of([req(operator, "a")]))


def test_a_conflict_names_both_sides() -> None:
    node, pod = Requirements.of([req("In", "a")]), Requirements.of([req("In", "b")])
    assert node.conflict(pod) == ("k", "key k, k In [b] not in k In [a]")


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("capacity", ' (typo of "karpenter.sh/capacity-type"?)'),
        ("zone", f' (typo of "{ZONE}"?)'),
        ("beta.example.com/instance-type", ' (typo of "node.kubernetes.io/instance-type"?)'),
        ("tier", ' (typo of "example.com/tier"?)'),
        ("colour", ""),
    ],
)
def test_an_unknown_key_comes_with_the_known_one_that_was_meant(key: str, hint: str) -> None:
    node = Requirements.of_labels({"example.com/tier": "gold"})
    pod = Requirements.of_labels({key: "x"})
    assert node.conflict(pod, CORE_WELL_KNOWN) == (key, f'label "{key}" does not have known values{hint}')


def test_an_unknown_key_is_told_before_a_clash_of_values() -> None:
    node = Requirements.of_labels({"a": "1"})
    pod = Requirements.of_labels({"a": "2", "colour": "red"})
    conflict = node.conflict(pod)
    assert conflict is not None
    assert conflict[0] == "colour"


# Validity of what users write


def fault(key: str, operator: str, *values: str, min_values: int | None = None) -> str | None:
    return invalid(
        key,
        operator,
        values,
        min_values,
        well_known=CORE_WELL_KNOWN | AWS_WELL_KNOWN,
        reserved_domains=("karpenter.k8s.aws",),
    )


@pytest.mark.parametrize(
    ("key", "operator", "values"),
    [
        ("team", "In", ["a", ""]),
        ("example.com/team", "NotIn", []),
        ("team", "Exists", []),
        ("team", "DoesNotExist", []),
        ("karpenter.k8s.aws/instance-cpu", "Gt", ["4"]),
        ("karpenter.k8s.aws/instance-cpu", "Lte", ["0"]),
        ("karpenter.sh/capacity-type", "In", ["spot", "cheap"]),
        ("karpenter.sh/capacity-type", "NotIn", ["cheap"]),
        ("karpenter.k8s.aws/instance-tenancy", "In", ["dedicated"]),
        ("beta.kubernetes.io/arch", "In", ["amd64"]),
        ("mykarpenter.sh/x", "In", ["a"]),
    ],
)
def test_valid_requirements_have_no_fault(key: str, operator: str, values: list[str]) -> None:
    assert fault(key, operator, *values) is None


@pytest.mark.parametrize(
    ("key", "operator", "values", "says"),
    [
        ("team", "Equals", ["a"], "none of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte"),
        ("karpenter.sh/registered", "In", ["true"], 'reserved domain "karpenter.sh"'),
        ("a.karpenter.sh/x", "Exists", [], 'reserved domain "karpenter.sh"'),
        ("karpenter.k8s.aws/instance-colour", "In", ["a"], 'reserved domain "karpenter.k8s.aws"'),
        ("b.karpenter.k8s.aws/x", "Exists", [], 'reserved domain "karpenter.k8s.aws"'),
        ("kubernetes.io/hostname", "In", ["node-1"], "every node has its own"),
        ("karpenter.sh/capacity-type", "In", ["cheap"], "known values on-demand, reserved, spot"),
        ("karpenter.k8s.aws/instance-tenancy", "In", ["host"], "known values dedicated, default"),
        ("-team", "Exists", [], "not a qualified name"),
        ("Example.com/team", "Exists", [], "not a qualified name"),
        ("a/b/c", "Exists", [], "not a qualified name"),
        ("/team", "Exists", [], "not a qualified name"),
        ("x" * 64, "Exists", [], "not a qualified name"),
        ("", "Exists", [], "not a qualified name"),
        ("team", "In", ["a b"], '"a b" of key "team" is not a label value'),
        ("team", "NotIn", ["x" * 64], "is not a label value"),
        ("team", "In", [], "at least one value"),
        ("team", "Gt", [], "one integer"),
        ("team", "Lt", ["1", "2"], "one integer"),
        ("team", "Gte", ["-1"], "one integer"),
        ("team", "Lte", ["many"], "one integer"),
        ("team", "Gt", [str(2**63)], "one integer"),
    ],
)
def test_a_fault_says_what_is_wrong(key: str, operator: str, values: list[str], says: str) -> None:
    assert says in (fault(key, operator, *values) or "")


def test_min_values_needs_as_many_values() -> None:
    assert "at least minValues 2 values, not 1" in (fault("team", "In", "a", min_values=2) or "")
    assert fault("team", "In", "a", "b", min_values=2) is None
    assert fault("team", "Exists", min_values=5) is None


def test_min_values_needs_as_many_known_values() -> None:
    assert "at least 2 of the known values" in (
        fault("karpenter.sh/capacity-type", "In", "spot", "cheap", min_values=2) or ""
    )


def test_every_fault_is_told() -> None:
    assert (fault("-team", "In", "a b", min_values=2) or "").count("; ") == 2


@given(strategies.written_requirements())
def test_what_is_valid_can_be_built(written: tuple[str, str, tuple[str, ...], int | None]) -> None:
    key, operator, values, min_values = written
    if fault(key, operator, *values, min_values=min_values) is None:
        assert Requirement.of(*written).key == normalise(key)
