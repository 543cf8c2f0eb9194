"""Files of keys: nobody else reads them, and none is ever half of one."""

from pathlib import Path

from baseload.embedded import private


def test_a_file_is_its_owners_alone_even_where_another_one_was_put_in_its_way(tmp_path: Path) -> None:
    file, trap = tmp_path / "key", tmp_path / "trap"
    trap.write_bytes(b"")
    (tmp_path / "key.baseload-new").symlink_to(trap)

    private.write(file, b"secret")

    assert (file.read_bytes(), file.stat().st_mode & 0o777, file.is_symlink()) == (b"secret", 0o600, False)
    assert trap.read_bytes() == b""
    assert sorted(tmp_path.iterdir()) == [file, trap]


def test_a_link_to_a_file_goes_on_being_one(tmp_path: Path) -> None:
    held, link = tmp_path / "held", tmp_path / "link"
    held.write_bytes(b"old")
    link.symlink_to(held)

    private.write(link, b"new")

    assert (link.is_symlink(), held.read_bytes()) == (True, b"new")


def test_a_key_that_is_empty_is_no_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert private.kept(file, lambda: b"one") == b"one"
    assert private.kept(file, lambda: b"two") == b"one"
    file.write_bytes(b"")
    assert private.kept(file, lambda: b"two") == b"two"
