"""The tours in docs/serve.md and docs/up.md: every command of them is run, in order, and prints what the page says.

A command stands behind `$`, what it prints below it up to the next command or text. Ages, ports and folders differ from
run to run, and so do names that are drawn; a line `…` stands for whatever else is printed.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OMITTED = "…"


def blocks(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a page's tour, with the lines that it prints."""
    tour = (ROOT / "docs" / page).read_text(encoding="utf-8").partition("## Two minutes\n")[2].partition("\n## ")[0]
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", tour, re.MULTILINE):
        lines = [line[4:] for line in block.strip("\n").splitlines()]
        while lines:
            command = lines.pop(0)
            assert command.startswith("$ "), f"not a command: {command}"
            printed = []
            while lines and not lines[0].startswith("$ "):
                printed.append(lines.pop(0))
            yield command[2:], printed


def comparable(text: str) -> list[str]:
    """The lines without what differs from run to run, and without blanks that only fill columns up."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    text = re.sub(r"KUBECONFIG=\S+/", "KUBECONFIG=/", text)
    text = re.sub(r"\b\d+-\d\d-\d\dT[\d:]+Z", "MOMENT", text)
    text = re.sub(r"\b(\d+m)?\d+(ms|s|m)\b", "AGE", text)
    text = re.sub(r"\bdefault-[a-z0-9]{5}\b", "default-DRAWN", text)
    text = re.sub(r"\bip-10(-\d+){3}\b", "ip-10-DRAWN", text)
    return [re.sub(r" {2,}", "  ", line).rstrip() for line in text.strip("\n").splitlines()]


class Tour:
    """A folder, a server in it, and a shell that knows both."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "examples").symlink_to(ROOT / "examples")
        programs = folder / "bin"
        programs.mkdir()
        (programs / "baseload").write_text(f'#!/bin/sh\nexec {sys.executable} -m baseload "$@"\n')
        (programs / "baseload").chmod(0o755)
        kept = {"XDG_CACHE_HOME": str(folder), "HOME": str(folder), "PYTHONPATH": str(ROOT / "src")}
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._environment = {**os.environ, **kept, "PATH": path}
        self._server: subprocess.Popen[str] | None = None

    def run(self, command: str) -> str:
        """What a command prints; of kubectl also what it says on its stderr."""
        if command.startswith(("baseload serve", "baseload up")):
            return self._serve(command)
        errors = subprocess.DEVNULL if command.startswith("baseload") else subprocess.STDOUT  # notes go to stderr
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=False,
        )
        return done.stdout

    def _serve(self, command: str) -> str:
        self.stop()
        self._server = subprocess.Popen(
            ["sh", "-c", f"exec {command}"],
            cwd=self._folder,
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._server.stderr is not None
        said = [self._server.stderr.readline() for _ in range(2)]
        assert said[1].startswith("export KUBECONFIG="), said
        self._environment["KUBECONFIG"] = said[1].strip().partition("=")[2]
        return "".join(said)

    def stop(self) -> None:
        """Ctrl-C."""
        if self._server is not None:
            server, self._server = self._server, None
            server.send_signal(signal.SIGINT)
            assert server.communicate(timeout=60)[1] == "stopped\n"


@pytest.mark.parametrize(("page", "least"), [("serve.md", 20), ("up.md", 12)])
def test_every_command_of_a_tour_prints_what_its_page_says(page: str, least: int, tmp_path: Path) -> None:
    with ExitStack() as stack:
        tour = Tour(tmp_path)
        stack.callback(tour.stop)
        commands = list(blocks(page))
        assert len(commands) >= least
        for command, expected in commands:
            wanted, printed = comparable("\n".join(expected)), comparable(tour.run(command))
            if OMITTED in wanted:
                wanted = wanted[: wanted.index(OMITTED)]
                assert len(printed) > len(wanted), command
                printed = printed[: len(wanted)]
            assert printed == wanted, command


def test_the_first_steps_with_a_cluster_in_the_readme_work(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    section = page.partition("## A cluster on this machine\n")[2].partition("\n## ")[0]
    up, top, scale = re.findall(r"^    (.+)$", section, re.MULTILINE)
    with ExitStack() as stack:
        tour = Tour(tmp_path)
        stack.callback(tour.stop)
        tour.run(up)
        assert "2 nodes (2 Ready)" in tour.run(f"{top} --once")
        assert tour.run(scale) == "deployment.apps/inflate scaled\n"
