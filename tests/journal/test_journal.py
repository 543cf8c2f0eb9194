"""Journals: written in order, read again, and every line that is none is named."""

import io
import json
from pathlib import Path

import pytest

from baseload.journal import read
from baseload.journal.write import Writer
from baseload.values import instant
from baseload.values.errors import BadInput

AT = instant.parse("2026-01-01T00:00:00.25Z")


def test_a_line_has_the_fields_of_the_contract_in_its_order() -> None:
    out = io.BytesIO()
    writer = Writer(out)
    writer.put(AT, "scheduler", "pod.bound", "Pod default/web-1", message="to Node a")
    writer.put(AT, "karpenter", "provisioning.planned", "Plan 1", plan={"nodeClaims": []})
    writer.flush()
    lines = out.getvalue().splitlines()
    assert lines[0] == (
        b'{"t":"2026-01-01T00:00:00.25Z","seq":1,"source":"scheduler","event":"pod.bound",'
        b'"object":"Pod default/web-1","reason":"","message":"to Node a"}'
    )
    assert list(json.loads(lines[1])) == ["t", "seq", "source", "event", "object", "reason", "message", "plan"]


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with path.open("wb") as file:
        writer = Writer(file)
        for number in range(1000):
            writer.put(AT + number, "a", "b", f"Pod default/web-{number}", "c", "d", {"n": number})
        writer.flush()
    entries = read.read(str(path))
    assert [entry.seq for entry in entries] == list(range(1, 1001))
    assert (entries[7].moment, entries[7].plan) == (AT + 7, {"n": 7})


def test_every_line_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    good = '{"t":"2026-01-01T00:00:00Z","seq":1,"source":"a","event":"b","object":"c"}'
    path.write_text(f'{good}\nnothing\n\n{good[:-1]},"reason":3}}\n{good.replace("2026", "026")}\n', encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read.read(str(path))
    told = [str(fault) for fault in caught.value.faults]
    assert [line.split(": ")[:2] for line in told] == [[str(path), f"line {number}"] for number in (2, 4, 5)]
    assert "`$.reason`" in told[1]


def test_a_file_of_another_kind_is_told_in_few_lines(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("what\n" * 500, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read.read(str(path))
    assert len(caught.value.faults) == 21
    assert str(caught.value.faults[-1]) == f"{path}: and 480 more lines that are none of a journal"
    (tmp_path / "empty").touch()
    for name, why in (("empty", "there is no line in it"), ("absent", "No such file or directory")):
        with pytest.raises(BadInput, match=why):
            read.read(str(tmp_path / name))


def test_the_end_of_a_line_that_was_never_finished_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    good = '{"t":"2026-01-01T00:00:00Z","seq":1,"source":"a","event":"b","object":"c"}'
    for end in (good[:9], good[:40], good[:-1]):
        path.write_text(f"{good}\n{end}", encoding="utf-8")
        assert len(read.read(str(path))) == 1
    for end in (f"{good[:40]}\n", "nothing", good.replace("seq", "number")):
        path.write_text(f"{good}\n{end}", encoding="utf-8")
        with pytest.raises(BadInput, match="line 2"):
            read.read(str(path))
