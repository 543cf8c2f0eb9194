"""What is left of an earlier process' journal, for whoever goes on with it."""

import io
from pathlib import Path

import pytest

from baseload.journal import resume
from baseload.journal.write import Writer
from baseload.values.errors import BadInput


def written(path: Path, *events: tuple[str, str], after: bytes = b"") -> int:
    """A journal of these events and objects; how long it is without what comes after its last line."""
    out = io.BytesIO()
    writer = Writer(out, 6)
    for event, name in events:
        writer.put(10**18, "api", event, name)
    writer.flush()
    path.write_bytes(out.getvalue() + after)
    return len(out.getvalue())


def test_the_last_number_the_last_plan_and_who_is_there_are_known(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    size = written(
        file,
        ("pod.created", "Pod default/a"),
        ("pod.created", "Pod default/b"),
        ("provisioning.planned", "Plan 12"),
        ("pod.removed", "Pod default/a"),
        ("node.registered", "Node n"),
        after=b'{"t":"20',
    )
    left = resume.read(file)
    assert left == resume.Left(size, 11, 12, frozenset({"Pod default/b", "Node n"}))


def test_nothing_is_left_where_there_is_no_file_or_none_of_a_line(tmp_path: Path) -> None:
    assert resume.read(tmp_path / "none") == resume.NOTHING
    (tmp_path / "empty").touch()
    assert resume.read(tmp_path / "empty") == resume.NOTHING


@pytest.mark.parametrize("text", [b"abc", b"abc\n", b'{"t":"x"}\n', b"[]\n"])
def test_what_is_no_journal_is_refused(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(text)
    with pytest.raises(BadInput) as raised:
        resume.read(file)
    [fault] = raised.value.faults
    assert (fault.file, fault.allowed) == (str(file), "a journal of this cluster, or a name that is free")
