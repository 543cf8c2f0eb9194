"""The way to a server over HTTP.

The connection is httpx2's. Credentials are looked up for each request; where the
server refuses one, another is asked for once. Errors of the connection become Unreachable, Untrusted or Timeout here
and nowhere else; none of them carries a header or a secret.
"""

import asyncio
import errno
import os
import platform
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import httpx2

import baseload
from baseload.kube.client import credentials, errors, proxy, tls
from baseload.kube.client.credentials import Credential, Credentials, Fixed
from baseload.kube.client.errors import ApiError, ServerFailed, Timeout, Unreachable, Untrusted
from baseload.kube.client.exec_plugin import ExecPlugin
from baseload.kube.client.kubeconfig import Access
from baseload.kube.client.lines import Splitter
from baseload.kube.client.port import Answer, Request
from baseload.kube.client.proxy import ProxyError
from baseload.kube.client.tls import CertificateError
from baseload.values.clock import Clock
from baseload.values.errors import BadInput, Fault

CONNECTING: Final = 10.0  # seconds
LARGEST: Final = 256 * 1024 * 1024  # bytes of an answer, unpacked; a page of objects has a hundredth of that
# A peer that is gone without a word is noticed after about a minute, however long a watch is silent.
_KEEP_ALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
)
_OF_NAMES: Final = "!#$&'*+^`|"  # what else than letters, digits and _.-~ a header's name may hold
_AGENT: Final = f"baseload/{baseload.__version__} ({platform.system().lower()}/{platform.machine()})"
_WANTING: Final = (ssl.SSLWantReadError, ssl.SSLWantWriteError)  # how asyncio waits, no error
_NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


class Http:
    """The way to one server, for one asyncio loop."""

    def __init__(self, access: Access, clock: Clock, *, largest: int = LARGEST) -> None:
        self._access, self._largest = access, largest
        self._is_secure = access.server.startswith("https://")
        self._credentials = _credentials(access, clock)
        self._client: httpx2.AsyncClient | None = None
        self._certificate = ""  # that of the plugin's credential, which the client was made with

    def __repr__(self) -> str:
        return f"Http({self.server})"

    @property
    def server(self) -> str:
        """The address without what is between // and @."""
        parts = urlsplit(self._access.server)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    async def send(self, request: Request, seconds: float) -> Answer:
        """Sends and waits for the whole answer."""
        answer, used = await self._sent(request, await self._credential(), seconds)
        if answer.code == 401:
            fresh = await self._credential(used)
            if fresh is not used:
                answer, _ = await self._sent(request, fresh, seconds)
        return answer

    async def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        """The lines of an answer without end."""
        splitter = Splitter()
        async with self._stream(request, opening) as response:
            pieces = response.aiter_bytes()
            while (piece := await self._next(pieces, idle)) is not None:
                for line in splitter.take(piece):
                    yield line
        if not splitter.is_between_lines:
            raise Unreachable(f"the connection to {self.server} broke within a line")

    async def close(self) -> None:
        """Closes all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    # -- one request

    async def _sent(self, request: Request, credential: Credential, seconds: float) -> tuple[Answer, Credential]:
        client = await self._connected(credential)
        with self._mapped():
            async with asyncio.timeout(max(seconds, 0)):
                response = await client.send(self._written(client, request, credential), stream=True)
                try:
                    body = await self._whole(response)
                finally:
                    await response.aclose()
        return Answer(response.status_code, body, _headers(response)), credential

    async def _whole(self, response: httpx2.Response) -> bytes:
        """A body, unpacked, as far as any has a right to go."""
        pieces: list[bytes] = []
        size = 0
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > self._largest:
                raise ServerFailed(f"{self.server} sent an answer of more than {self._largest} bytes")
            pieces.append(piece)
        return b"".join(pieces)

    @asynccontextmanager
    async def _stream(self, request: Request, opening: float) -> AsyncIterator[httpx2.Response]:
        credential = await self._credential()
        response = await self._opened(request, credential, opening)
        if response.status_code == 401:
            await response.aclose()
            response = await self._opened(request, await self._credential(credential), opening)
        try:
            if response.status_code != 200:
                with self._mapped():
                    async with asyncio.timeout(opening):
                        body = await self._whole(response)
                raise errors.of_answer(response.status_code, body, _headers(response))
            yield response
        finally:
            await response.aclose()

    async def _opened(self, request: Request, credential: Credential, opening: float) -> httpx2.Response:
        client = await self._connected(credential)
        with self._mapped():
            async with asyncio.timeout(opening):
                # compressed pieces would be held back until a block is full
                written = self._written(client, request, credential, {"accept-encoding": "identity"})
                return await client.send(written, stream=True)

    async def _next(self, pieces: AsyncIterator[bytes], idle: float) -> bytes | None:
        with self._mapped():
            async with asyncio.timeout(idle):
                return await anext(pieces, None)

    def _written(
        self, client: httpx2.AsyncClient, request: Request, credential: Credential, more: dict[str, str] | None = None
    ) -> httpx2.Request:
        headers = {"accept": "application/json", "user-agent": _AGENT, **(more or {})}
        if request.body:
            headers["content-type"] = request.content_type
        if credential.authorization and self._is_secure:  # in the clear nobody sends a token, kubectl neither
            headers["authorization"] = credential.authorization
        name = self._access.cluster.tls_server_name
        return client.build_request(
            request.method,
            self._access.server + request.path,
            params=dict(request.query) or None,
            content=request.body or None,
            headers=[(name.encode(), value.encode()) for name, value in (*headers.items(), *self._impersonated())],
            extensions={"sni_hostname": name} if name else None,
        )

    def _impersonated(self) -> Iterator[tuple[str, str]]:
        user = self._access.user
        for name, value in (("impersonate-user", user.impersonate), ("impersonate-uid", user.impersonate_uid)):
            if value:
                yield name, value
        for group in user.impersonate_groups or ():
            yield "impersonate-group", group
        for key, values in (user.impersonate_extra or {}).items():
            for value in values:
                yield f"impersonate-extra-{quote(key, safe=_OF_NAMES)}", value

    # -- the connection

    async def _credential(self, refused: Credential | None = None) -> Credential:
        credential = await self._credentials.credential(refused) if self._is_secure else Credential()
        if not credential.authorization.isprintable():  # the library would put it into its message
            raise self._useless("the token holds a line break or another character that no header takes")
        return credential

    async def _connected(self, credential: Credential) -> httpx2.AsyncClient:
        if self._client is None or credential.certificate != self._certificate:
            await self.close()
            self._certificate = credential.certificate
            self._client = self._made(credential)
        return self._client

    def _made(self, credential: Credential) -> httpx2.AsyncClient:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30)
        context = self._tls(credential) if self._is_secure else True
        transport = httpx2.AsyncHTTPTransport(
            verify=context,
            limits=limits,
            proxy=self._proxy(),
            trust_env=False,  # the library's rules on proxies are not kubectl's
            socket_options=_KEEP_ALIVE,
        )
        timeout = httpx2.Timeout(None, connect=CONNECTING)
        return httpx2.AsyncClient(transport=transport, timeout=timeout, trust_env=False, follow_redirects=False)

    def _proxy(self) -> str | None:
        try:
            return self._access.cluster.proxy_url or proxy.of_environment(self._access.server, os.environ)
        except ProxyError as error:
            raise self._useless(str(error)) from error

    def _tls(self, credential: Credential) -> ssl.SSLContext:
        try:
            return tls.context(self._access, credential)
        except CertificateError as error:
            raise self._useless(f"the certificates cannot be read: {error}") from error
        except OSError as error:
            why = f"the certificates cannot be read: {error.strerror or 'no such file'}"
            raise self._useless(why, str(error.filename or "")) from error

    def _useless(self, why: str, file: str = "") -> BadInput:
        where = f"context {self._access.context}" if self._access.context else self.server
        return BadInput([Fault(why, file=file, object=where)])

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise Timeout(f"{self.server} gave no answer in time") from error
        except httpx2.TimeoutException as error:
            raise self._unreachable(error, "no connection in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise self._unreachable(error, _reason(error)) from error

    def _unreachable(self, error: Exception, why: str) -> ApiError:
        if any(_is_distrust(link, error) for link in _chain(error)):
            return Untrusted(f"{self.server} is not trusted: {why}")
        if isinstance(error, _NOT_SENT):
            return Unreachable(f"cannot reach {self.server}: {why}", was_sent=False)
        return Unreachable(f"the connection to {self.server} broke: {why}")


def _credentials(access: Access, clock: Clock) -> Credentials:
    user = access.user
    if user.exec is not None:
        return ExecPlugin(user.exec, access.cluster, clock)
    if user.token_file:
        return credentials.TokenFile(Path(user.token_file), clock)
    if user.token:
        return credentials.bearer(user.token)
    if user.username and user.password:
        return credentials.basic(user.username, user.password)
    return Fixed(Credential())


def _headers(response: httpx2.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it stems from."""
    while error is not None:
        yield error
        inner = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else None
        error = inner or error.__cause__ or error.__context__


def _is_distrust(link: BaseException, error: Exception) -> bool:
    """Whether the cause of an error says that one side of the connection does not trust the other."""
    of_handshake = isinstance(error, httpx2.ConnectError) and not isinstance(link, _WANTING)
    return isinstance(link, ssl.SSLCertVerificationError) or (isinstance(link, ssl.SSLError) and of_handshake)


def _reason(error: Exception) -> str:
    """The words of the system for what went wrong, where there are any."""
    if isinstance(error, httpx2.LocalProtocolError):  # its text has the header that cannot be written
        return "the request cannot be written as HTTP"
    for link in reversed(list(_chain(error))):
        if isinstance(link, ssl.SSLCertVerificationError):
            return link.verify_message
        if isinstance(link, _WANTING):
            continue
        if isinstance(link, ssl.SSLError):
            return link.reason or "the TLS handshake failed"
        if isinstance(link, OSError) and link.errno and link.errno in errno.errorcode:
            return os.strerror(link.errno)  # asyncio puts words of its own there
        if isinstance(link, OSError) and link.strerror:
            return link.strerror
    return str(error).rstrip(".") or type(error).__name__
