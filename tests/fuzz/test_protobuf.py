"""Whatever bytes come in as a protobuf body, they are an object or the one refusal, and soon.

The short run is part of every test run; the long one damages far more messages.
"""

import contextlib
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.kube.protobuf import table
from baseload.kube.protobuf.decode import decode
from baseload.kube.protobuf.wire import ProtobufError
from tests.kube.protobuf import trees
from tests.kube.protobuf.encoder import body, encoded

Attack = Callable[[st.DataObject], None]
KINDS = sorted(table.kinds())


def bombard(data: st.DataObject) -> None:
    """An object with a few of its bytes changed, and sometimes cut off; what is read of it is JSON."""
    kind = data.draw(st.sampled_from(KINDS))
    sent = bytearray(encoded(trees.tree(kind, data.draw(st.integers(0, 2**32)))))
    for at, octet in data.draw(st.lists(st.tuples(st.integers(4, len(sent) - 1), st.integers(0, 255)), max_size=4)):
        sent[at] = octet
    sent = sent[: data.draw(st.integers(5, len(sent)))]
    with contextlib.suppress(ProtobufError):
        msgspec.json.encode(decode(bytes(sent)))


def pelt(data: st.DataObject) -> None:
    """A message of random bytes."""
    api_version, _, name = data.draw(st.sampled_from(KINDS)).rpartition("/")
    sent = body(api_version or "v1", name, data.draw(st.binary(max_size=200)))
    with contextlib.suppress(ProtobufError):
        msgspec.json.encode(decode(sent))


ATTACKS = pytest.mark.parametrize("attack", [bombard, pelt])


@ATTACKS
@given(data=st.data())
def test_bad_bodies_are_read_or_refused(attack: Attack, data: st.DataObject) -> None:
    attack(data)


@ATTACKS
@pytest.mark.long
@pytest.mark.timeout(600)
@given(data=st.data())
def test_many_bad_bodies_are_read_or_refused(attack: Attack, data: st.DataObject) -> None:
    attack(data)
