"""Which server a client talks to, and as whom: kubeconfig files as kubectl reads them, and a pod's service account.

The files are those of `--kubeconfig`, else of the list KUBECONFIG, else `~/.kube/config`; of several files the first
that names a thing counts, and paths in a file start from its folder. Where there is no file at all, a process in a pod
uses its service account. What is wrong is a BadInput that names file and entry, never a value that may be secret.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
from lightkube.config import models
from lightkube.config.kubeconfig import SERVICE_ACCOUNT

from baseload.kube import documents, kinds
from baseload.kube.client import proxy
from baseload.kube.sources import Source
from baseload.values.errors import BadInput, Fault

T = TypeVar("T")


class Cluster(models.Cluster, omit_defaults=True):
    """A cluster of a kubeconfig; its addresses may hold passwords, so it has no text."""

    tls_server_name: str | None = msgspec.field(name="tls-server-name", default=None)
    proxy_url: str | None = msgspec.field(name="proxy-url", default=None)

    def __repr__(self) -> str:
        return "Cluster(…)"


class Exec(models.UserExec, omit_defaults=True):
    """A program that gives credentials."""

    provideClusterInfo: bool = False  # noqa: N815  # as the file has it
    interactiveMode: str = "IfAvailable"  # noqa: N815


class User(models.User, omit_defaults=True):
    """A user of a kubeconfig; its fields are secrets, so it has no text."""

    exec: Exec | None = None
    impersonate: str | None = msgspec.field(name="as", default=None)
    impersonate_uid: str | None = msgspec.field(name="as-uid", default=None)
    impersonate_groups: list[str] | None = msgspec.field(name="as-groups", default=None)
    impersonate_extra: dict[str, list[str]] | None = msgspec.field(name="as-user-extra", default=None)

    def __repr__(self) -> str:
        return "User(…)"


@dataclass(frozen=True, slots=True)
class Access:
    """How to get to one server."""

    context: str  # "" where no context says so
    cluster: Cluster
    user: User = field(repr=False)
    namespace: str = "default"

    @property
    def server(self) -> str:
        return self.cluster.server


class _Named(msgspec.Struct):
    name: str
    cluster: msgspec.Raw = msgspec.Raw()
    user: msgspec.Raw = msgspec.Raw()
    context: msgspec.Raw = msgspec.Raw()


class _File(msgspec.Struct):
    kind: str = "Config"
    current: str | None = msgspec.field(name="current-context", default=None)
    clusters: list[_Named] | None = None
    users: list[_Named] | None = None
    contexts: list[_Named] | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    raw: msgspec.Raw = field(repr=False)
    file: Path
    path: str


class Kubeconfig:
    """Some files read as one."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)
        self.current = ""
        self.clusters: dict[str, _Entry] = {}
        self.users: dict[str, _Entry] = {}
        self.contexts: dict[str, _Entry] = {}
        for file in files:
            self._take(file)

    def _take(self, file: Path) -> None:
        held = _read(file)
        self.current = self.current or held.current or ""
        for kind, entries, into in (
            ("cluster", held.clusters, self.clusters),
            ("user", held.users, self.users),
            ("context", held.contexts, self.contexts),
        ):
            for index, entry in enumerate(entries or ()):
                said = bytes(getattr(entry, kind))
                raw = msgspec.Raw(said if said not in (b"", b"null") else b"{}")
                into.setdefault(entry.name, _Entry(raw, file, f"{kind}s[{index}].{kind}"))

    def access(self, context: str | None = None) -> Access:
        """The server and user of a context, by default of the current one."""
        name = context or self.current
        if not name:
            raise self._fault("no context is current", path="current-context", allowed=self._known())
        entry = self.contexts.get(name)
        if entry is None:
            near = kinds.most_similar(name, self.contexts)
            meant = f'did you mean "{near}"? ' if near else ""
            raise self._fault(f'there is no context "{name}"', allowed=f"{meant}{self._known()}")
        chosen = _as(entry, models.Context)
        if chosen.cluster not in self.clusters:
            raise _fault(entry, f'there is no cluster "{chosen.cluster}"', "cluster")
        if chosen.user and chosen.user not in self.users:
            raise _fault(entry, f'there is no user "{chosen.user}"', "user")
        user = self._user(self.users[chosen.user]) if chosen.user else User()
        return Access(name, self._cluster(self.clusters[chosen.cluster]), user, chosen.namespace or "default")

    def _cluster(self, entry: _Entry) -> Cluster:
        cluster = _as(entry, Cluster)
        if not cluster.server.startswith(("http://", "https://")):
            raise _fault(entry, "Invalid value: must begin with https:// or http://", "server")
        if not _is_address(cluster.server):
            raise _fault(entry, "Invalid value: must be an address such as https://host:6443", "server")
        if cluster.proxy_url:
            _check_proxy(entry, cluster.proxy_url)
        cluster.server = cluster.server.rstrip("/")
        has_authority = cluster.certificate_auth or cluster.certificate_auth_data
        if cluster.insecure and has_authority:
            raise _fault(entry, "a certificate authority and insecure-skip-tls-verify exclude each other")
        cluster.certificate_auth = _from(entry, cluster.certificate_auth)
        return cluster

    def _user(self, entry: _Entry) -> User:
        user = _as(entry, User)
        if user.auth_provider:
            raise _fault(entry, "is no longer supported by Kubernetes' clients; use exec", "auth-provider")
        has_certificate, has_key = (
            bool(user.client_cert or user.client_cert_data),
            bool(user.client_key or user.client_key_data),
        )
        if has_certificate != has_key:
            raise _fault(entry, "a client certificate needs its key, and a key its certificate")
        for name in ("client_cert", "client_key", "token_file"):
            setattr(user, name, _from(entry, getattr(user, name)))
        if user.exec and os.sep in user.exec.command:
            user.exec.command = _from(entry, user.exec.command) or ""
        return user

    def _known(self) -> str:
        return f"the contexts are {', '.join(sorted(self.contexts))}" if self.contexts else "it has no contexts"

    def _fault(self, message: str, *, path: str = "", allowed: str = "") -> BadInput:
        return BadInput([Fault(message, file=", ".join(map(str, self.files)), path=path, allowed=allowed)])


def find(
    context: str | None = None,
    file: Path | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    account: Path = Path(SERVICE_ACCOUNT),
) -> Access:
    """The access that a context gives, by default the current one; in a pod without a file that of its account."""
    if file is not None:
        return Kubeconfig([file]).access(context)
    files = [candidate for candidate in _candidates(environment) if candidate.exists()]
    if not files and not context and environment.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(environment, account)
    if not files:
        tried = ", ".join(map(str, _candidates(environment)))
        allowed = "name one by --kubeconfig or KUBECONFIG"
        raise BadInput([Fault("there is no kubeconfig", file=tried, allowed=allowed)])
    return Kubeconfig(files).access(context)


def contexts(file: str | None = None, *, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The names of the contexts that there are, of one file or of those that count without one."""
    files = [Path(file)] if file else [candidate for candidate in _candidates(environment) if candidate.exists()]
    return sorted(Kubeconfig(files).contexts)


def in_cluster(environment: Mapping[str, str] = os.environ, account: Path = Path(SERVICE_ACCOUNT)) -> Access:
    """The access of a pod's service account; its token is read anew when the server no longer takes it."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "443")
    token, authority, namespace = account / "token", account / "ca.crt", account / "namespace"
    if not host or not token.exists():
        raise BadInput([Fault("is no pod's service account", file=str(account))])
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    cluster = Cluster(server=server, certificate_auth=str(authority))
    within = namespace.read_text(encoding="utf-8").strip() if namespace.exists() else "default"
    return Access("", cluster, User(token_file=str(token)), within)


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    named = [name for name in environment.get("KUBECONFIG", "").split(os.pathsep) if name]
    if named:
        yield from map(Path, named)
    elif home := environment.get("HOME"):
        yield Path(home) / ".kube" / "config"


def _read(file: Path) -> _File:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise BadInput([Fault(f"cannot be read: {error.strerror or error}", file=str(file))]) from error
    found, faults = documents.split(Source(str(file), text))
    if faults:
        raise BadInput(faults)
    try:
        held = msgspec.json.decode(found[0].raw, type=_File) if found else _File()
    except msgspec.ValidationError as error:
        raise BadInput([Fault(f"is no kubeconfig: {error}", file=str(file))]) from error
    if held.kind != "Config":
        raise BadInput([Fault(f"is no kubeconfig but a {held.kind}", file=str(file))])
    return held


def _as(entry: _Entry, type: type[T]) -> T:
    try:
        return msgspec.json.decode(entry.raw, type=type)
    except msgspec.ValidationError as error:
        raise _fault(entry, f"Invalid value: {error}") from error


def _is_address(server: str) -> bool:
    try:
        parts = urlsplit(server)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _check_proxy(entry: _Entry, url: str) -> None:
    try:
        proxy.checked(url)
    except proxy.ProxyError as error:
        raise _fault(entry, f"Invalid value: {error}", "proxy-url") from error


def _from(entry: _Entry, path: str | None) -> str | None:
    return str(entry.file.parent / path) if path else path


def _fault(entry: _Entry, message: str, below: str = "") -> BadInput:
    path = f"{entry.path}.{below}" if below else entry.path
    return BadInput([Fault(message, file=str(entry.file), path=path)])
