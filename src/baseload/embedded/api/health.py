"""Whether the server is well, and which Kubernetes it is like."""

import platform

import baseload
from baseload.embedded.api.answers import Answer, json
from baseload.embedded.api.call import Call
from baseload.embedded.api.refusals import no_such_method, no_such_path
from baseload.embedded.store.record import Json
from baseload.kube.schema.definitions import VERSION

_CHECKS = ("ping", "log", "store")


def answer(steps: list[str], call: Call) -> Answer:
    """GET of /version, /healthz, /livez, /readyz and their like."""
    if call.method not in ("GET", "HEAD"):
        raise no_such_method() if steps and steps[0] in ("version", "healthz", "livez", "readyz") else no_such_path()
    match steps:
        case []:
            paths: list[Json] = ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]
            return json({"paths": paths})
        case ["version"]:
            return json(version())
        case ["healthz" | "livez" | "readyz" as name]:
            return _well(name, call)
        case ["healthz" | "livez" | "readyz", check] if check in _CHECKS:
            return Answer(200, b"ok", "text/plain; charset=utf-8")
    raise no_such_path()


def version() -> dict[str, Json]:
    """The Kubernetes that this server is like."""
    major, minor = VERSION.removeprefix("v").split(".")[:2]
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"{VERSION}.0+baseload-{baseload.__version__}",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": f"{platform.system().lower()}/{machine}",
    }


def _well(name: str, call: Call) -> Answer:
    body = "ok"
    if "verbose" in call.query:
        body = "".join(f"[+]{check} ok\n" for check in _CHECKS) + f"{name} check passed\n"
    return Answer(200, body.encode(), "text/plain; charset=utf-8")
