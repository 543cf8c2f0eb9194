"""What `serve` and `up` have in common: their options, the port and the files, and the way from the start to Ctrl-C."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import UnsupportedOperation
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import click

from baseload.cli import stderr

if TYPE_CHECKING:
    from baseload.embedded.api.identity import Identity
    from baseload.embedded.server import Stop
    from baseload.kube.manifests import Manifests
    from baseload.world.tls import Tls

Command = TypeVar("Command", bound=Callable[..., object])

_NAMED = 3  # objects that a line names
_OPTIONS = (
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        metavar="P",
        help="The port on 127.0.0.1; by default a free one.",
    ),
    click.option(
        "--data-dir",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Where objects are kept, so that they are there again at the next start; by default in memory alone.",
    ),
    click.option(
        "--kubeconfig",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="The file to write for kubectl, when the API answers; in one that is there the context `baseload` is put. "
        "By default a new file in the data directory or a temporary one.",
    ),
    click.option(
        "--tls",
        "is_tls",
        is_flag=True,
        help="Serve over TLS with certificates of its own, and ask who everybody is: RBAC decides what he may.",
    ),
    click.option(
        "--token-auth-file",
        "token_file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help='Users with bearer tokens, for --tls: TOKEN,USER,UID,"GROUP,…" a line, as kube-apiserver reads them.',
    ),
    click.option(
        "-f",
        "--filename",
        "names",
        type=click.Path(allow_dash=True),
        multiple=True,
        metavar="FILE|DIR|-",
        help="Manifests to begin with: a file, a folder with all below it, or - for standard input. Repeatable.",
    ),
)


def options(command: Command) -> Command:
    """The options of a command that serves."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens, and where its files go."""

    listener: socket
    folder: Path  # for what has no place of its own: the data directory, else a temporary one
    kubeconfig: Path
    tls: "Tls | None"

    @property
    def address(self) -> str:
        host, port = self.listener.getsockname()
        return f"http{'s' if self.tls else ''}://{host}:{port}"

    def started(self, _: "Stop") -> None:
        """Writes the kubeconfig and says how to use it, now that the API answers."""
        from baseload.world import kubeconfig

        kubeconfig.write(self.kubeconfig, self.address, self.tls.admission if self.tls else None)
        stderr.say(f"the API answers at {self.address}; Ctrl-C stops it")
        stderr.say(f"export KUBECONFIG={self.kubeconfig.absolute()}")


@contextmanager
def place(port: int, data_dir: Path | None, kubeconfig: Path | None, *, is_tls: bool) -> Iterator[Place]:
    """A socket that listens, and the files; what the disk refuses meanwhile is told in words for people."""
    from baseload.embedded import server
    from baseload.world import embedded

    with _explained(data_dir), ExitStack() as stack:
        try:
            listener = stack.enter_context(server.listening(port))
        except OSError as error:
            raise click.ClickException(f"port {port} cannot be listened on: {error.strerror}") from error
        folder = data_dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="baseload-")))
        tls = _tls(folder / embedded.KEYS) if is_tls else None
        yield Place(listener, folder, kubeconfig or folder / "kubeconfig", tls)


@contextmanager
def _explained(data_dir: Path | None) -> Iterator[None]:
    """What the disk refuses, in words for people."""
    from baseload.embedded.store.errors import Broken

    try:
        yield
    except Broken as error:
        told = f"stopped, since {error}; what was answered before is kept in {data_dir}"
        raise click.ClickException(told) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def manifests(names: tuple[str, ...]) -> "Manifests | None":
    """What -f names; None where it names nothing."""
    if not names:
        return None
    from baseload.kube import manifests as found

    loaded = found.load(names, stdin=lambda: sys.stdin.buffer.read())
    for warning in loaded.warnings:
        stderr.say(f"warning: {warning}")
    return loaded


def tell_untouched(names: tuple[str, ...]) -> None:
    """Says which objects of -f the data directory has already; they are not written again."""
    if names:
        from baseload.report import table

        shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        many = table.counted(len(names), "object")
        stderr.say(f"{many} of -f {'is' if len(names) == 1 else 'are'} there already and left alone: {shown}")


def tokens(file: Path | None, *, is_tls: bool) -> "dict[str, Identity] | None":
    """The users of a --token-auth-file."""
    if file is None:
        return None
    if not is_tls:
        raise click.UsageError("--token-auth-file needs --tls: clients send no tokens without it")
    from baseload.world import token_file

    return token_file.read(file)


def _tls(folder: Path) -> "Tls":
    try:
        from baseload.world import tls
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "cryptography":
            raise
        raise click.ClickException("--tls needs cryptography, which is not installed: install baseload[tls]") from error
    return tls.prepare(folder)


@contextmanager
def written(path: Path | None, *, is_read: bool = True, keeps: int = 0) -> Iterator[BinaryIO | None]:
    """A file that is written, and perhaps read again, where one is named; what is refused in words for people.

    It is written anew, but for as many bytes as it keeps.
    """
    if path is None:
        yield None
        return
    try:
        with path.open("r+b" if keeps else "w+b" if is_read else "wb") as file:
            if keeps:
                file.truncate(keeps)
                file.seek(keeps)
            yield file
    except UnsupportedOperation as error:
        raise click.ClickException(f"{path}: is no file that can be read again") from error
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error
