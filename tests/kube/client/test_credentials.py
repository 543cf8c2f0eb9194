"""How a client proves who it is, and has the server prove the same: TLS, tokens, certificates, exec plugins."""

import asyncio
import base64
import ssl
import sys
import textwrap
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization

from baseload.kube.client import errors
from baseload.kube.client.client import Client
from baseload.kube.client.http import Http
from baseload.kube.client.kubeconfig import Access, Cluster, Exec, User
from baseload.kube.client.port import Resource
from baseload.values import instant
from baseload.values.errors import BadInput
from tests.kube.client.authority import Authority
from tests.kube.client.clocks import Even, Hurried
from tests.kube.client.scripted import Scripted, Step, answer, line, node, refusal, scripted, stream

NODES = Resource("", "v1", "nodes")
V1 = "client.authentication.k8s.io/v1"
FINE = answer(200, node("n1", 1))
DENIED = refusal(401, "Unauthorized", "Unauthorized")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def play(scenario: Callable[[Scripted], Awaitable[None]], tls: ssl.SSLContext, *steps: Step) -> None:
    """Plays a scenario against a server with a script."""

    async def run() -> None:
        async with scripted(*steps, tls=tls) as server:
            await scenario(server)

    asyncio.run(run())


def client(
    server: Scripted, authority: Authority, user: User, clock: Hurried | None = None, name: str | None = None
) -> Client:
    chosen = clock or Hurried()
    told = Cluster(server=server.address, certificate_auth=str(authority.file), tls_server_name=name)
    return Client(Http(Access("test", told, user), chosen), chosen, Even())


def shown(server: Scripted) -> list[str | None]:
    """The Authorization header of each request."""
    return [seen.headers.get("authorization") for seen in server.seen]


def test_a_token_is_shown_to_a_server_that_the_authority_vouches_for(authority: Authority) -> None:
    async def scenario(server: Scripted) -> None:
        await client(server, authority, User(token="sesame")).get(NODES, "n1")
        assert shown(server) == ["Bearer sesame"]

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_a_name_and_a_password_are_shown_as_basic_authentication(authority: Authority) -> None:
    async def scenario(server: Scripted) -> None:
        await client(server, authority, User(username="ann", password="pw")).get(NODES, "n1")
        assert shown(server) == [f"Basic {base64.b64encode(b'ann:pw').decode()}"]

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_another_user_can_be_acted_for(authority: Authority) -> None:
    async def scenario(server: Scripted) -> None:
        extra = {"Scopes/v1%": ["read", "write"]}
        user = User(
            token="sesame",
            impersonate="ann",
            impersonate_uid="7",
            impersonate_groups=["dev", "ops"],
            impersonate_extra=extra,
        )
        await client(server, authority, user).get(NODES, "n1")
        assert server.seen[0].headers["impersonate-uid"] == "7"
        assert server.seen[0].headers["impersonate-extra-scopes%2fv1%25"] == "write"
        assert server.seen[0].headers["impersonate-user"] == "ann"
        assert server.seen[0].headers["impersonate-group"] == "ops"  # the last of two headers

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_a_server_that_nobody_vouches_for_is_told_nothing(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other")

    async def scenario(server: Scripted) -> None:
        clock = Hurried()
        with pytest.raises(errors.Untrusted, match=r"is not trusted: .*certificate"):
            await client(server, other, User(token="sesame"), clock).get(NODES, "n1")
        assert (server.seen, clock.slept) == ([], [])

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_a_connection_that_breaks_is_no_question_of_trust(authority: Authority) -> None:
    async def scenario(server: Scripted) -> None:
        asking = client(server, authority, User())
        async with aclosing(asking.watch(NODES, version="1")) as events:
            assert (await anext(events)).type == "ADDED"
            with pytest.raises(errors.Unreachable, match="broke"):
                await anext(events)
        with pytest.raises(errors.Unreachable, match="broke"):
            await asking.create(NODES, node("a", 1))

    play(scenario, authority.server("127.0.0.1"), stream(line("ADDED", node("a", 2)), ended=False), b"")


def test_a_certificate_of_another_name_does_unless_that_name_is_expected(authority: Authority) -> None:
    async def scenario(server: Scripted) -> None:
        with pytest.raises(errors.Untrusted, match="is not trusted"):
            await client(server, authority, User()).get(NODES, "n1")
        await client(server, authority, User(), name="api.example.org").get(NODES, "n1")

    play(scenario, authority.server("api.example.org"), FINE)


def test_trust_is_given_up_where_the_kubeconfig_says_so(authority: Authority) -> None:
    async def scenario(server: Scripted) -> None:
        clock = Hurried()
        way = Http(Access("test", Cluster(server=server.address, insecure=True), User()), clock)
        assert (await Client(way, clock, Even()).get(NODES, "n1")).version == "1"

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_a_client_certificate_lets_in_from_files_and_from_data(authority: Authority) -> None:
    issued = authority.issue("ann")
    of_files = User(client_cert=str(issued.certificate), client_key=str(issued.key))
    certificate, key = (base64.b64encode(file.read_bytes()).decode() for file in (issued.certificate, issued.key))
    of_data = User(client_cert_data=certificate, client_key_data=key)
    in_lines = User(client_cert_data=textwrap.fill(certificate, 64), client_key_data=textwrap.fill(key, 64) + "\n")

    async def scenario(server: Scripted) -> None:
        for user in (of_files, of_data, in_lines):
            assert (await client(server, authority, user).get(NODES, "n1")).version == "1"
        with pytest.raises(errors.ApiError):
            await client(server, authority, User()).get(NODES, "n1")

    play(scenario, authority.server("127.0.0.1", clients=True), FINE, FINE, FINE)


def test_certificates_that_cannot_be_read_are_bad_input(authority: Authority, tmp_path: Path) -> None:
    async def scenario(server: Scripted) -> None:
        missing = User(client_cert=str(tmp_path / "no.crt"), client_key=str(tmp_path / "no.key"))
        with pytest.raises(BadInput, match="context test: the certificates cannot be read: No such file or directory"):
            await client(server, authority, missing).get(NODES, "n1")
        broken = User(client_cert_data="c2VzYW1l", client_key_data="c2VzYW1l")
        with pytest.raises(BadInput, match="context test: the certificates cannot be read: no PEM in it") as bad:
            await client(server, authority, broken).get(NODES, "n1")
        assert "sesame" not in str(bad.value)

    play(scenario, authority.server("127.0.0.1"))


def test_what_is_wrong_with_a_key_is_said_and_nobody_is_asked_for_its_passphrase(
    authority: Authority, tmp_path: Path
) -> None:
    ann, bob = authority.issue("ann"), authority.issue("bob")
    private = serialization.load_pem_private_key(ann.key.read_bytes(), None)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (tmp_path / "ann.key").write_bytes(private.private_bytes(*form, serialization.BestAvailableEncryption(b"sesame")))

    async def scenario(server: Scripted) -> None:
        for key, words in ((bob.key, "the key is not that of the certificate"), (tmp_path / "ann.key", "is encrypted")):
            user = User(client_cert=str(ann.certificate), client_key=str(key))
            with pytest.raises(BadInput, match=f"context test: the certificates cannot be read: .*{words}"):
                await client(server, authority, user).get(NODES, "n1")

    play(scenario, authority.server("127.0.0.1"))


@pytest.mark.parametrize("token", ["sesame\n", "se\nsame", "ses\u2028ame"])
def test_a_token_that_no_header_takes_is_bad_input_and_never_shown(authority: Authority, token: str) -> None:
    async def scenario(server: Scripted) -> None:
        with pytest.raises(BadInput, match="context test: the token holds a line break") as bad:
            await client(server, authority, User(token=token)).get(NODES, "n1")
        assert "ses" not in str(bad.value)

    play(scenario, authority.server("127.0.0.1"))


def test_letters_of_all_languages_may_be_in_tokens_and_names(authority: Authority) -> None:
    async def scenario(server: Scripted) -> None:
        user = User(token="sésame", impersonate="jörg")
        assert (await client(server, authority, user).get(NODES, "n1")).version == "1"
        assert server.seen[0].headers["authorization"] == "Bearer sésame"
        assert server.seen[0].headers["impersonate-user"] == "jörg"

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_a_token_file_is_read_anew_after_a_minute_and_when_it_no_longer_lets_in(
    authority: Authority, tmp_path: Path
) -> None:
    file = tmp_path / "token"

    async def scenario(server: Scripted) -> None:
        clock = Hurried()
        asking = client(server, authority, User(token_file=str(file)), clock)
        for token in ("one", "two"):
            file.write_text(f"{token}\n")
            await asking.get(NODES, "n1")
        clock.time += 61 * instant.SECOND
        await asking.get(NODES, "n1")
        file.write_text("three")
        await asking.get(NODES, "n1")
        assert shown(server) == ["Bearer one", "Bearer one", "Bearer two", "Bearer two", "Bearer three"]
        file.unlink()
        clock.time += 61 * instant.SECOND
        with pytest.raises(BadInput, match="token: the token cannot be read: No such file or directory"):
            await asking.get(NODES, "n1")

    play(scenario, authority.server("127.0.0.1"), FINE, FINE, FINE, DENIED, FINE)


PLUGIN = """\
import json, os, pathlib, sys
folder = pathlib.Path(__file__).parent
runs = folder / "runs"
count = int(runs.read_text()) + 1 if runs.exists() else 1
runs.write_text(str(count))
(folder / "told").write_text(json.dumps([sys.argv[1:], os.environ["EXTRA"], os.environ["KUBERNETES_EXEC_INFO"]]))
told = json.loads((folder / "answer").read_text())
if isinstance(told, int):
    sys.exit(told)
if "token" in told.get("status", {}):
    told["status"]["token"] += str(count)
print(json.dumps(told))
"""


class Plugin:
    """A program that gives credentials."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "plugin.py"
        self._file.write_text(PLUGIN)

    def says(self, answer: object) -> None:
        (self._folder / "answer").write_bytes(msgspec.json.encode(answer))

    def gives(self, api_version: str = V1, **status: str) -> None:
        self.says({"kind": "ExecCredential", "apiVersion": api_version, "status": status})

    def told(self) -> list[object]:
        """The arguments, the variable EXTRA and KUBERNETES_EXEC_INFO of the last run."""
        told: list[object] = msgspec.json.decode((self._folder / "told").read_bytes())
        return told

    def user(self, api_version: str = V1, **more: object) -> User:
        arguments = [str(self._file), "get-token", "--cluster", "prod"]
        settings = {"env": [{"name": "EXTRA", "value": "here"}], "interactiveMode": "Never", **more}
        told = {"apiVersion": api_version, "command": sys.executable, "args": arguments, **settings}
        return User(exec=msgspec.convert(told, Exec))


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    folder = tmp_path / "plugin"
    folder.mkdir()
    return Plugin(folder)


@pytest.mark.parametrize("version", [V1, "client.authentication.k8s.io/v1beta1"])
def test_a_plugin_is_told_where_it_is_and_its_token_is_shown(
    authority: Authority, plugin: Plugin, version: str
) -> None:
    plugin.gives(version, token="t")

    async def scenario(server: Scripted) -> None:
        await client(server, authority, plugin.user(version, provideClusterInfo=True)).get(NODES, "n1")
        assert shown(server) == ["Bearer t1"]
        arguments, extra, info = plugin.told()
        assert (arguments, extra) == (["get-token", "--cluster", "prod"], "here")
        asked = msgspec.json.decode(str(info))
        assert (asked["kind"], asked["apiVersion"]) == ("ExecCredential", version)
        data = base64.b64encode(authority.file.read_bytes()).decode()
        told = {"server": server.address, "certificate-authority-data": data}
        assert asked["spec"] == {"interactive": False, "cluster": told}

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_a_plugin_s_null_is_as_good_as_nothing(authority: Authority, plugin: Plugin) -> None:
    absent = dict.fromkeys(("clientCertificateData", "clientKeyData", "expirationTimestamp"))
    plugin.says({"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "t", **absent}})

    async def scenario(server: Scripted) -> None:
        await client(server, authority, plugin.user()).get(NODES, "n1")
        assert shown(server) == ["Bearer t1"]

    play(scenario, authority.server("127.0.0.1"), FINE)


def test_a_plugin_is_run_again_when_its_credential_is_old_or_refused(authority: Authority, plugin: Plugin) -> None:
    plugin.gives(token="t", expirationTimestamp="2026-11-30T12:15:00Z")

    async def scenario(server: Scripted) -> None:
        clock = Hurried()  # it is 12:00
        asking = client(server, authority, plugin.user(), clock)
        await asking.get(NODES, "n1")
        await asking.get(NODES, "n1")
        plugin.gives(token="t", expirationTimestamp="2026-11-30T13:00:00Z")
        clock.time += 16 * 60 * instant.SECOND
        await asking.get(NODES, "n1")
        await asking.get(NODES, "n1")
        assert shown(server) == ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2", "Bearer t3"]

    play(scenario, authority.server("127.0.0.1"), FINE, FINE, FINE, DENIED, FINE)


def test_who_is_refused_with_a_fresh_credential_too_is_unknown(authority: Authority, plugin: Plugin) -> None:
    plugin.gives(token="t")

    async def scenario(server: Scripted) -> None:
        with pytest.raises(errors.Unauthorized, match=r"^Unauthorized$"):
            await client(server, authority, plugin.user()).get(NODES, "n1")
        assert shown(server) == ["Bearer t1", "Bearer t2"]

    play(scenario, authority.server("127.0.0.1"), DENIED, DENIED)


def test_requests_at_once_run_a_plugin_once(authority: Authority, plugin: Plugin) -> None:
    plugin.gives(token="t")

    async def scenario(server: Scripted) -> None:
        asking = client(server, authority, plugin.user())
        await asyncio.gather(*(asking.get(NODES, "n1") for _ in range(3)))
        assert shown(server) == ["Bearer t1"] * 3

    play(scenario, authority.server("127.0.0.1"), FINE, FINE, FINE)


def test_a_plugin_may_give_a_client_certificate(authority: Authority, plugin: Plugin) -> None:
    issued = authority.issue("ann")
    plugin.gives(clientCertificateData=issued.certificate.read_text(), clientKeyData=issued.key.read_text())

    async def scenario(server: Scripted) -> None:
        assert (await client(server, authority, plugin.user()).get(NODES, "n1")).version == "1"

    play(scenario, authority.server("127.0.0.1", clients=True), FINE)


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (3, "ended with status 3"),
        ("sesame", "printed no ExecCredential"),
        ({"kind": "Status", "apiVersion": "v1"}, "printed an object of another kind or version"),
        ({"kind": "ExecCredential", "apiVersion": V1, "status": {}}, "gave neither a token nor a client certificate"),
        (
            {"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "sesame", "expirationTimestamp": "soon"}},
            "gave an expirationTimestamp that is no instant",
        ),
    ],
)
def test_what_is_wrong_with_a_plugin_is_said_without_its_words(
    authority: Authority, plugin: Plugin, says: object, words: str
) -> None:
    plugin.says(says if isinstance(says, int | dict) else {"kind": 1, "x": says})

    async def scenario(server: Scripted) -> None:
        with pytest.raises(BadInput, match=words) as bad:
            await client(server, authority, plugin.user()).get(NODES, "n1")
        assert "sesame" not in str(bad.value)
        assert str(bad.value).startswith("users[].user.exec: ")

    play(scenario, authority.server("127.0.0.1"))


def test_a_plugin_that_is_not_installed_says_how_to_get_it(authority: Authority, plugin: Plugin) -> None:
    async def scenario(server: Scripted) -> None:
        user = plugin.user(command="no-such-plugin", installHint="brew install it")
        with pytest.raises(BadInput, match=r"no-such-plugin cannot be run: No such file .*\(brew install it\)"):
            await client(server, authority, user).get(NODES, "n1")

    play(scenario, authority.server("127.0.0.1"))


def test_a_plugin_of_another_time_is_refused_at_once(authority: Authority, plugin: Plugin) -> None:
    user = plugin.user("client.authentication.k8s.io/v1alpha1")
    with pytest.raises(BadInput, match="v1alpha1 is not supported"):
        client(Scripted([], "https://127.0.0.1:1"), authority, user)


def test_a_plugin_that_needs_a_terminal_says_so(
    authority: Authority, plugin: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    async def scenario(server: Scripted) -> None:
        with pytest.raises(BadInput, match="needs a terminal"):
            await client(server, authority, plugin.user(interactiveMode="Always")).get(NODES, "n1")

    play(scenario, authority.server("127.0.0.1"))
