"""Manifests are found in files, folders and standard input, in a fixed order, whatever their encoding's mark."""

import codecs
import inspect
import os
import sys
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


def faults_of(*names: str, stdin: bytes | None = None) -> list[str]:
    with pytest.raises(BadInput) as refused:
        manifests.load(names, stdin=None if stdin is None else lambda: stdin)
    return [str(fault) for fault in refused.value.faults]


def test_standard_input_can_be_named_once_only() -> None:
    assert faults_of("-", "-", stdin=namespace("a").encode()) == ["stdin: is named twice, and can be read once only"]


def test_every_file_that_is_named_holds_an_object(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"a.yaml": namespace("a"), "empty.yaml": "", "comment.yaml": "# nothing\n---\n"})
    names = [str(tmp_path / name) for name in ("a.yaml", "empty.yaml", "comment.yaml")]
    assert faults_of(*names, "-", stdin=b"") == [f"{name}: there is no object in it" for name in (*names[1:], "stdin")]


def test_an_empty_file_in_a_folder_is_said(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"a.yaml": namespace("a"), "empty.yaml": ""})
    (warning,) = manifests.load([str(tmp_path)]).warnings
    assert str(warning) == f"{tmp_path / 'empty.yaml'}: there is no object in it"


def test_a_folder_without_a_manifest_is_bad_input_even_beside_others(tmp_path: Path) -> None:
    inputs.write(tmp_path, {"a/a.yaml": namespace("a"), "b/README.md": ""})
    (fault,) = faults_of(str(tmp_path / "a"), str(tmp_path / "b"))
    assert fault == f"{tmp_path / 'b'}: there is no manifest in it (files in .yaml, .yml, .json)"


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.yaml")
    assert faults_of(str(tmp_path)) == [f"{tmp_path}: cannot be read: a.yaml in it is a pipe"]


def test_a_device_without_an_end_is_not_read() -> None:
    assert faults_of("/dev/zero") == ["/dev/zero: cannot be read: it is a device"]


def test_folders_without_an_end_are_bad_input(tmp_path: Path) -> None:
    (tmp_path / "/".join("a" * 150)).mkdir(parents=True)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        found, (fault,) = sources.read([str(tmp_path)])
    finally:
        sys.setrecursionlimit(limit)
    assert (found, str(fault)) == ([], f"{tmp_path}: cannot be read: its folders are nested too deeply")
