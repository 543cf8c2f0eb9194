"""What all tests share: golden files, which servers and kubectls a test runs with, and how hypothesis runs.

A golden file holds what a command printed when somebody last looked at it. `pytest --update-golden` writes what is
printed now in its place; the difference then stands in the commit, to be read there.

A test that asks for `server` runs against the embedded server, and, among the long tests, against a real one where its
programs are found; `--server=real` runs the latter alone.
"""

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.servers import kubectls, real
from tests.servers.port import Server
from tests.servers.real import Real

# The same examples in every run, so that a red run can be repeated; no deadline, since the machine may be busy.
settings.register_profile("short", derandomize=True, deadline=None, max_examples=50, database=None)
settings.register_profile("long", deadline=None, max_examples=2000, print_blob=True)

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is printed now into the golden files")
    parser.addoption("--server", choices=["real"], help="run what needs an API server against a real one alone")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.option.markexpr == "long" else "short")
    if config.getoption("--server") and config.option.markexpr == "not long":
        config.option.markexpr = ""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which servers and kubectls a test runs with: every kubectl with the embedded server, the new one with a real."""
    if "server" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker
    pairs = [pytest.param("embedded", kubectls.NEW, id="embedded")]
    if real.assets() is not None and marker("embedded_only") is None:
        pairs.append(pytest.param("real", kubectls.NEW, id="real", marks=pytest.mark.long))
    if "version" not in metafunc.fixturenames:
        metafunc.parametrize(
            "server", [pytest.param(it.values[0], id=it.id, marks=it.marks) for it in pairs], indirect=True
        )
        return
    if kubectls.elder_wheel() is not None and marker("new_kubectl") is None:
        marks = () if marker("both_kubectls") else pytest.mark.long
        pairs.append(pytest.param("embedded", kubectls.ELDER, id=f"embedded-{kubectls.ELDER}", marks=marks))
    metafunc.parametrize(("server", "version"), pairs, indirect=["server"])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--server") is None:
        return
    chosen = [item for item in items if isinstance(item, pytest.Function) and _server_of(item) == "real"]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _server_of(item: pytest.Function) -> object:
    return item.callspec.params.get("server") if hasattr(item, "callspec") else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if real.assets() is None:
        terminalreporter.line(
            "not compared with a real Kubernetes: KUBEBUILDER_ASSETS is not set (docs/real-server.md)"
        )
    elif config.option.markexpr == "not long":
        terminalreporter.line("not compared with a real Kubernetes: that is among the long tests (make test-long)")
    if kubectls.elder_wheel() is None:
        terminalreporter.line(f"not run with kubectl {kubectls.ELDER}: its wheel is not in {kubectls.FETCHED}")


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    """One real server for all tests."""
    from tests.servers import embedded

    programs = real.assets()
    assert programs is not None
    with real.running(programs, tmp_path_factory.mktemp("real"), embedded.definitions()) as server:
        yield server


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server as new: an embedded one, or the real one with everything put back."""
    if request.param == "real":
        server: Real = request.getfixturevalue("real_server")
        server.etcd.restore()
        yield server
        return
    from tests.servers import embedded

    with embedded.running() as own:
        yield own


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with a golden file, or writes the file under --update-golden."""

    def compare(file: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            return
        wanted = file.read_text(encoding="utf-8") if file.exists() else ""
        changes = difflib.unified_diff(wanted.splitlines(), text.splitlines(), str(file), "now", lineterm="")
        difference = "\n".join(changes)
        assert text == wanted, f"{difference}\nIf this is meant: pytest --update-golden"

    return compare
