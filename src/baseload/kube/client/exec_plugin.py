"""Credentials from a program, as `aws eks get-token` gives them.

The program is run when its credential is first needed, when that has expired and when the server no longer takes it;
several requests that wait run it once. It speaks client.authentication.k8s.io: what it is told stands in the variable
KUBERNETES_EXEC_INFO, what it says in an ExecCredential on its stdout. Its stderr is the user's to read, as with
kubectl; nothing that it prints enters a message of ours.
"""

import asyncio
import base64
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from baseload.kube.client.credentials import Credential
from baseload.kube.client.kubeconfig import Cluster, Exec
from baseload.kube.reading import without_nulls
from baseload.values import instant
from baseload.values.clock import Clock
from baseload.values.errors import BadInput, Fault

VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_LONGEST: Final = 60.0  # seconds that a program has where nobody can talk to it


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class ExecPlugin:
    """One program, and the credential that it gave last."""

    def __init__(self, program: Exec, cluster: Cluster, clock: Clock) -> None:
        if program.apiVersion not in VERSIONS:
            raise self._fault(program, f"apiVersion {program.apiVersion} is not supported", " or ".join(VERSIONS))
        self._program, self._cluster, self._clock = program, cluster, clock
        self._last: Credential | None = None
        self._running = asyncio.Lock()

    async def credential(self, refused: Credential | None = None) -> Credential:
        """The present credential: another one than that which the server refused."""
        async with self._running:
            held = self._last
            if held is None or held is refused or (held.expires is not None and held.expires <= self._clock.now()):
                self._last = held = self._read(await self._run())
            return held

    async def _run(self) -> bytes:
        program, interactive = self._program, self._is_interactive()
        environment = {**os.environ, **{var.name: var.value for var in program.env or ()}}
        environment["KUBERNETES_EXEC_INFO"] = self._info(interactive)
        try:
            process = await asyncio.create_subprocess_exec(
                program.command,
                *(program.args or ()),
                env=environment,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise self._fault(program, f"cannot be run: {error.strerror}", program.installHint or "") from error
        try:
            async with asyncio.timeout(None if interactive else _LONGEST):
                output, _ = await process.communicate()
        except TimeoutError as error:
            raise self._fault(program, f"gave no credential within {_LONGEST:.0f} s") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise self._fault(program, f"ended with status {process.returncode}", program.installHint or "")
        return output

    def _is_interactive(self) -> bool:
        mode = self._program.interactiveMode
        at_terminal = sys.stdin is not None and sys.stdin.isatty()
        if mode == "Always" and not at_terminal:
            raise self._fault(self._program, "needs a terminal (interactiveMode: Always)")
        return at_terminal and mode != "Never"

    def _info(self, interactive: bool) -> str:
        spec: dict[str, object] = {"interactive": interactive}
        if self._program.provideClusterInfo:
            cluster = self._cluster
            told: Mapping[str, object] = {
                "server": cluster.server,
                "tls-server-name": cluster.tls_server_name,
                "insecure-skip-tls-verify": cluster.insecure or None,
                "certificate-authority-data": self._authority(),
                "proxy-url": cluster.proxy_url,
            }
            spec["cluster"] = {key: value for key, value in told.items() if value is not None}
        told_all = {"kind": "ExecCredential", "apiVersion": self._program.apiVersion, "spec": spec}
        return msgspec.json.encode(told_all).decode()

    def _authority(self) -> str | None:
        """The certificate authority as data, also where the kubeconfig names a file."""
        file = self._cluster.certificate_auth
        if self._cluster.certificate_auth_data or not file:
            return self._cluster.certificate_auth_data
        try:
            return base64.b64encode(Path(file).read_bytes()).decode()
        except OSError as error:
            why = f"the certificate authority cannot be read: {error.strerror}"
            raise BadInput([Fault(why, file=file)]) from error

    def _read(self, output: bytes) -> Credential:
        try:
            answer = msgspec.convert(without_nulls(msgspec.json.decode(output)), _Answer)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._fault(self._program, "printed no ExecCredential") from error
        if answer.kind != "ExecCredential" or answer.api_version != self._program.apiVersion:
            wanted = f"kind ExecCredential of {self._program.apiVersion}"
            raise self._fault(self._program, "printed an object of another kind or version", wanted)
        status = answer.status or _Status()
        if not status.token and not (status.client_certificate_data and status.client_key_data):
            raise self._fault(self._program, "gave neither a token nor a client certificate with its key")
        try:
            expires = instant.parse(status.expiration_timestamp) if status.expiration_timestamp else None
        except instant.InstantError as error:
            raise self._fault(self._program, "gave an expirationTimestamp that is no instant") from error
        authorization = f"Bearer {status.token}" if status.token else ""
        return Credential(authorization, status.client_certificate_data, status.client_key_data, expires)

    @staticmethod
    def _fault(program: Exec, message: str, allowed: str = "") -> BadInput:
        return BadInput([Fault(f"{program.command} {message}", path="users[].user.exec", allowed=allowed)])
