"""`baseload serve`: a Kubernetes API of one's own, for kubectl and everything else that speaks to one."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baseload.cli import stderr

if TYPE_CHECKING:
    from baseload.kube.manifests import Manifests
    from baseload.world.tls import Tls


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="P",
    help="The port on 127.0.0.1; by default a free one.",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where objects are kept, so that they are there again at the next start; by default in memory alone.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write for kubectl, when the API answers; in one that is there the context `baseload` is put. "
    "By default a new file in the data directory or a temporary one.",
)
@click.option(
    "--tls",
    "is_tls",
    is_flag=True,
    help="Serve over TLS with certificates of its own, and ask who everybody is: RBAC decides what he may.",
)
@click.option(
    "--token-auth-file",
    "token_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help='Users with bearer tokens, for --tls: TOKEN,USER,UID,"GROUP,…" a line, as kube-apiserver reads them.',
)
@click.option(
    "-f",
    "--filename",
    "names",
    type=click.Path(allow_dash=True),
    multiple=True,
    metavar="FILE|DIR|-",
    help="Manifests to begin with: a file, a folder with all below it, or - for standard input. Repeatable.",
)
def serve(
    port: int,
    data_dir: Path | None,
    kubeconfig: Path | None,
    is_tls: bool,
    token_file: Path | None,
    names: tuple[str, ...],
) -> None:
    """Serve a Kubernetes API on 127.0.0.1 until Ctrl-C: real objects, no nodes and no controllers.

    Without --tls everybody on this machine may do everything with it.
    """
    from baseload.embedded import server
    from baseload.kube import bulk
    from baseload.world import embedded
    from baseload.world import kubeconfig as kubeconfigs
    from baseload.world import token_file as token_files

    if token_file is not None and not is_tls:
        raise click.UsageError("--token-auth-file needs --tls: clients send no tokens without it")
    tokens = token_files.read(token_file) if token_file is not None else None
    manifests = _manifests(names) if names else None
    with _explained(data_dir), ExitStack() as stack:
        try:
            listener = stack.enter_context(server.listening(port))
        except OSError as error:
            raise click.ClickException(f"port {port} cannot be listened on: {error.strerror}") from error
        world = embedded.build(data_dir, manifests, tokens=tokens)
        stack.callback(world.close)
        folder = data_dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="baseload-")))
        file = kubeconfig or folder / "kubeconfig"
        tls = _tls(folder / embedded.KEYS) if is_tls else None
        address = f"http{'s' if tls else ''}://{server.LOOPBACK}:{listener.getsockname()[1]}"

        def started(_: server.Stop) -> None:
            kubeconfigs.write(file, address, tls.admission if tls else None)
            stderr.say(f"the API answers at {address}; Ctrl-C stops it")
            stderr.say(f"export KUBECONFIG={file.absolute()}")

        bulk.keep()
        server.serve(world.cluster, listener, started, tls=tls.files if tls else None)
    stderr.say("stopped")


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


def _manifests(names: tuple[str, ...]) -> "Manifests":
    from baseload.kube import manifests

    loaded = manifests.load(names, stdin=lambda: sys.stdin.buffer.read())
    for warning in loaded.warnings:
        stderr.say(f"warning: {warning}")
    return loaded


def _tls(folder: Path) -> "Tls":
    try:
        from baseload.world import tls
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "cryptography":
            raise
        raise click.ClickException("--tls needs cryptography, which is not installed: install baseload[tls]") from error
    return tls.prepare(folder)
