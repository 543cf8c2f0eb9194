"""Manifests are found in files, folders and standard input, in a fixed order, whatever their encoding's mark."""

import codecs
from pathlib import Path

import pytest

from baseload.kube import manifests, sources
from baseload.values.errors import BadInput
from tests.kube import inputs


def namespace(name: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"


def test_a_folder_is_read_through_all_subfolders_in_the_order_of_names(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"b.yml": namespace("b"), "a/z.yaml": namespace("z"), "c.yaml": namespace("c")})
    assert [found.name for found in manifests.load([str(tmp_path)]).found] == ["z", "b", "c"]


def test_hidden_files_and_files_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    inputs.write(tmp_path, {".a.yaml": "[", ".git/b.yaml": "[", "README.md": "[", "c.yaml": namespace("c")})
    assert [found.name for found in manifests.load([str(tmp_path)]).found] == ["c"]


def test_a_file_that_is_named_is_read_whatever_its_ending(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"dump.txt": namespace("a")})
    assert [found.name for found in manifests.load([str(tmp_path / "dump.txt")]).found] == ["a"]


def test_a_link_to_a_folder_above_is_not_followed_for_ever(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"a/a.yaml": namespace("a")})
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert [found.name for found in manifests.load([str(tmp_path)]).found] == ["a"]


def test_a_minus_reads_standard_input() -> None:
    (found,) = inputs.from_text(namespace("a")).found
    assert (found.file, found.document) == ("stdin", 1)


def test_every_missing_file_is_named(tmp_path: Path) -> None:
    names = [str(tmp_path / "a.yaml"), str(tmp_path / "b")]
    with pytest.raises(BadInput) as refused:
        manifests.load(names)
    assert [(fault.file, fault.message) for fault in refused.value.faults] == [
        (name, "no such file or folder") for name in names
    ]


def test_an_input_without_any_object_is_refused(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"a.yaml": "", "b.yaml": "---\n# nothing\n---\n"})
    with pytest.raises(BadInput, match="there is no object in it"):
        manifests.load([str(tmp_path)])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding(encoding: str) -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {note: größer}}\n"
    (found,) = inputs.from_text(text.encode(encoding)).found
    assert "größer".encode() in found.raw


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: 1\nb: \xe9\n", "is not UTF-8 text: byte 0xe9 in line 2"),
        (codecs.BOM_UTF16_LE + b"a", "is not text in the encoding that its byte order mark announces"),
    ],
)
def test_what_is_not_text_is_refused_with_its_line(data: bytes, message: str) -> None:
    (fault,) = inputs.faults_of(data)
    assert (fault.message, fault.allowed) == (message, "save it as UTF-8")


def test_one_unreadable_file_does_not_hide_what_is_wrong_in_another(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"a.yaml": b"\xff\xff\xff", "b.yaml": "kind: Pod\n"})
    with pytest.raises(BadInput) as refused:
        manifests.load([str(tmp_path)])
    assert [Path(fault.file).name for fault in refused.value.faults] == ["a.yaml", "b.yaml"]


def test_a_name_that_no_file_can_have_is_a_fault() -> None:
    found, faults = sources.read(["a\0b"])
    assert not found
    assert len(faults) == 1
