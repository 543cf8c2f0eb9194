"""Whatever is done to a manifest, planning it ends with a plan or with bad input, and soon.

Good manifests are damaged as people and tools damage them: bytes lost, doubled or swapped, lines moved, words replaced.
The short run is part of every test run; the long one tries far more.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.plan import encode, encode_disrupt
from baseload.values.errors import BadInput
from baseload.world import files, planning

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = [file.read_bytes() for file in sorted((EXAMPLES / "exercise").glob("*.yaml"))]
WORDS = (
    b"null",
    b"{}",
    b"[]",
    b"-1",
    b"1e99",
    b"true",
    b"&a",
    b"*a",
    b"<<: *a",
    b"---",
    b"\t",
    b"\xff",
    b"0",
    b"''",
    b"spec:",
)

Damage = Callable[[bytes, int, int], bytes]
DAMAGE: tuple[Damage, ...] = (
    lambda text, at, by: text[:at] + text[at + by :],
    lambda text, at, by: text[: at + by] + text[at:],
    lambda text, at, by: text[:at] + text[at : at + by][::-1] + text[at + by :],
    lambda text, at, by: text[:at] + WORDS[by % len(WORDS)] + text[at:],
    lambda text, at, by: text[:at] + WORDS[by % len(WORDS)] + text[at + len(WORDS[by % len(WORDS)]) :],
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    text = draw(st.sampled_from([b"\n---\n".join(GOOD), *GOOD]))
    for _ in range(draw(st.integers(1, 3))):
        damage = draw(st.sampled_from(DAMAGE))
        text = damage(text, draw(st.integers(0, len(text))), draw(st.integers(1, 40)))
    return text


def plan(text: bytes) -> None:
    """Raises whatever is no declared refusal."""
    with contextlib.suppress(BadInput):
        inputs = files.read(["-"], stdin=lambda: text, region="us-east-1")
        msgspec.json.encode(encode.to_json(planning.explained(inputs)))
        passes = planning.disrupted_until_stable(planning.at_some_moment(inputs))
        msgspec.json.encode(encode_disrupt.passes_to_json(passes))


@settings(max_examples=60)
@given(damaged())
def test_a_damaged_manifest_is_planned_or_refused(text: bytes) -> None:
    plan(text)


@pytest.mark.long
@pytest.mark.timeout(600)
@given(damaged())
def test_many_damaged_manifests_are_planned_or_refused(text: bytes) -> None:
    plan(text)
