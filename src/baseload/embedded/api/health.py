"""Whether the server is well, and which Kubernetes it is like."""

import platform
from collections.abc import Callable, Mapping
from typing import Final

import baseload
from baseload.embedded.api import answer as answers
from baseload.embedded.api.answer import Answer, json
from baseload.embedded.api.call import Call
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.negotiate import JSON, is_yaml, no_representation
from baseload.embedded.api.refusals import no_such_method, no_such_path
from baseload.embedded.api.watch import Closing
from baseload.embedded.store.errors import Broken
from baseload.embedded.store.record import Json
from baseload.kube.schema.definitions import VERSION

_ALWAYS: Final = ("ping", "log")
_OLDEST: Final = 1  # minors that a client may be behind, as a server of that version tells
_PAGES: Final = ("healthz", "livez", "readyz")

_Check = Callable[[], bool]


def answer(steps: list[str], call: Call, cluster: Cluster, closing: Closing) -> Answer:
    """GET of /version, /healthz, /livez, /readyz and their like."""
    match steps:
        case [] if call.method in ("GET", "HEAD"):
            return json({"paths": _paths(cluster)})
        case ["version"] if call.method in ("GET", "HEAD") and is_yaml(call.headers):
            raise no_representation(JSON)
        case ["version"] if call.method in ("GET", "HEAD"):
            return json(version())
        case ["version"]:
            raise no_such_method()
        case ["healthz" | "livez" | "readyz" as page]:
            return _well(page, call, _checks(page, cluster, closing))
        case ["healthz" | "livez" | "readyz" as page, name]:
            check = _checks(page, cluster, closing).get(name)
            if check is not None:
                return answers.text("ok") if check() else answers.text(_failed(name), code=500)
            return answers.no_such_page()
    raise no_such_path()


def version() -> dict[str, Json]:
    """The Kubernetes that this server is like."""
    major, minor = VERSION.removeprefix("v").split(".")[:2]
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - _OLDEST),
        "gitVersion": f"{VERSION}.0+baseload-{baseload.__version__}",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": f"{platform.system().lower()}/{machine}",
    }


def _checks(page: str, cluster: Cluster, closing: Closing) -> Mapping[str, _Check]:
    """name -> whether that is well; a server that stops is alive, but no longer ready."""
    checks: dict[str, _Check] = {name: lambda: True for name in _ALWAYS}
    checks["store"] = lambda: _is_whole(cluster)
    if page == "readyz":
        checks["shutdown"] = lambda: not closing.is_set
    return checks


def _is_whole(cluster: Cluster) -> bool:
    """Whether what is in memory is what is on disk."""
    try:
        for resource in cluster.store.resources:
            cluster.store.table(resource)
    except Broken:
        return False
    return True


def _well(page: str, call: Call, checks: Mapping[str, _Check]) -> Answer:
    excluded = call.each("exclude")
    lines, is_well = [], True
    for name, check in checks.items():
        if name in excluded:
            lines.append(f"[+]{name} excluded: ok\n")
        elif check():
            lines.append(f"[+]{name} ok\n")
        else:
            lines.append(_failed(name))
            is_well = False
    if unknown := [name for name in excluded if name not in checks]:
        shown = ", ".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {shown}\n")
    if not is_well:
        return answers.text("".join(lines) + f"{page} check failed\n", code=500)
    if "verbose" not in call.query:
        return answers.text("ok")
    return answers.text("".join(lines) + f"{page} check passed\n")


def _failed(name: str) -> str:
    return f"[-]{name} failed: reason withheld\n"


def _paths(cluster: Cluster) -> list[Json]:
    """The paths that are served, down to the versions of groups."""
    paths = ["/api", "/api/v1", "/apis", "/apis/", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"]
    for group, versions in cluster.kinds.versions().items():
        if group:
            paths += [f"/apis/{group}", *(f"/apis/{group}/{name}" for name in versions)]
    for page in _PAGES:
        checks = (*_ALWAYS, "store", *(("shutdown",) if page == "readyz" else ()))
        paths += [f"/{page}", *(f"/{page}/{name}" for name in checks)]
    return [*sorted(paths)]
