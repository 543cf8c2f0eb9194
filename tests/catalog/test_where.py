"""Requirements as they are typed after --where."""

import pytest

from baseload.catalog import where
from baseload.values.errors import BadInput

KNOWN = frozenset(
    {"size", "cpu", "example.com/rack", "topology.kubernetes.io/zone", "karpenter.k8s.aws/instance-category"}
)


def parsed(*texts: str) -> str:
    return str(where.parse(texts, KNOWN))


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("size=large", "size In [large]"),
        ("size == large", "size In [large]"),
        ("size!=large", "size NotIn [large]"),
        ("size in (large,small)", "size In [large small]"),
        ("size In (large, small)", "size In [large small]"),
        ("size notin (large)", "size NotIn [large]"),
        ("size NotIn (large)", "size NotIn [large]"),
        ("size", "size Exists"),
        ("size Exists", "size Exists"),
        ("!size", "size DoesNotExist"),
        ("size DoesNotExist", "size DoesNotExist"),
        ("cpu > 4", "cpu Exists >=5"),
        ("cpu>4", "cpu Exists >=5"),
        ("cpu Gt 4", "cpu Exists >=5"),
        ("cpu < 8", "cpu Exists <=7"),
        ("cpu Lt 8", "cpu Exists <=7"),
        ("cpu >= 4", "cpu Exists >=4"),
        ("cpu Gte 4", "cpu Exists >=4"),
        ("cpu<=8", "cpu Exists <=8"),
        ("cpu Lte 8", "cpu Exists <=8"),
        ("failure-domain.beta.kubernetes.io/zone=z1", "topology.kubernetes.io/zone In [z1]"),
        (" ", ""),
    ],
)
def test_every_form_is_a_requirement(text: str, requirement: str) -> None:
    assert parsed(text) == requirement


def test_commas_and_repetition_join() -> None:
    assert parsed("size in (a,b),cpu>4", "cpu<8") == "cpu Exists >=5 <=7, size In [a b]"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("sise=large", r"no instance type has the label sise \(did you mean size\?\)"),
        ("category in (c)", r"did you mean karpenter\.k8s\.aws/instance-category\?"),
        ("xyzzy", r"no instance type has the label xyzzy \(one of cpu, example\.com/rack"),
        ("size in (large", "--where 'size in .large': "),
        ("size ~ large", "--where 'size ~ large': "),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        parsed(text)


def test_all_faults_are_listed_at_once() -> None:
    with pytest.raises(BadInput) as raised:
        parsed("sise=large,size=large", "cqu>4")
    assert len(raised.value.faults) == 2
