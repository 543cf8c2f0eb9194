"""Keeping objects: what is committed is there after a restart, and nothing is shown before it is committed."""

import asyncio
import os
import random
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from baseload.embedded.store import journal, parse, record
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.errors import Broken, Gone
from baseload.embedded.store.turns import Turns
from baseload.values.errors import BadInput
from tests.embedded.clock import Standing
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, NAMESPACE, POD, REPLICA_SET, Store, draft, owner
from tests.embedded.store.memory import MemoryJournal

SPACE = kinds.namespace("default")


def durable() -> tuple[Store, MemoryJournal]:
    kept = MemoryJournal()
    store = kinds.empty(journal=kept)
    store.create(SPACE)
    store.commit()
    return store, kept


def contents(store: Store) -> dict[str, bytes]:
    """Every object as it is read."""
    return {
        f"{resource.plural}/{key}": record.encode(found)
        for resource in store.resources
        for key, found in store.table(resource).records.items()
    }


def test_everything_is_there_after_a_restart_just_as_it_was(tmp_path: Path) -> None:
    opened = journal.open(tmp_path / "deep" / "data")
    store = kinds.empty(journal=opened)
    store.create(SPACE)
    replicas = store.create(draft(REPLICA_SET, "web", spec={"replicas": 1, "ü": None}, status={"replicas": 0}))
    store.create(kinds.pod("a", node="n", ownerReferences=[owner(replicas)], finalizers=["a.io/x"]))
    store.create(kinds.config_map("c", value="line\nbreak", managedFields=[{"manager": "kubectl"}]))
    store.create(kinds.config_map("gone"))
    store.commit()
    store.delete(CONFIG_MAP, "default", "gone")
    store.delete(POD, "default", "a")
    store.commit()
    before, version = contents(store), store.version
    opened.close()

    opened = journal.open(tmp_path / "deep" / "data")
    again = kinds.empty(journal=opened)

    assert contents(again) == before
    assert again.version > version
    assert [found.name for found in again.table(POD).on_node("n")] == ["a"]
    opened.close()


def test_what_was_not_committed_is_not_there_after_a_restart(tmp_path: Path) -> None:
    opened = journal.open(tmp_path)
    store = kinds.empty(journal=opened)
    store.create(SPACE)
    store.commit()
    store.create(kinds.pod("a"))
    opened.close()

    opened = journal.open(tmp_path)
    assert kinds.empty(journal=opened).find(POD, "default", "a") is None
    opened.close()


def test_versions_rise_over_restarts_even_without_a_write(tmp_path: Path) -> None:
    versions = []
    for _ in range(3):
        opened = journal.open(tmp_path)
        versions.append(kinds.empty(journal=opened).version)
        opened.close()

    assert versions == sorted(set(versions))


def test_watchers_of_before_a_restart_have_to_list_anew() -> None:
    store, kept = durable()
    again = kinds.empty(journal=kept)

    with pytest.raises(Gone):
        again.watch(POD, version=store.version)
    assert again.watch(POD, version=again.list(POD).version).read() == []


def test_a_kind_that_is_served_later_brings_its_objects_along() -> None:
    store, kept = durable()
    store.create(kinds.pod("a"))
    store.commit()

    again = Store(Standing(), random.Random(2), journal=kept)
    again.serve(NAMESPACE)
    again.serve(POD)

    assert again.find(POD, "default", "a") is not None


def test_a_kind_that_was_withdrawn_does_not_come_back() -> None:
    store, _ = durable()
    store.create(kinds.pod("a"))
    store.commit()

    store.withdraw(POD)
    store.serve(POD)

    assert store.find(POD, "default", "a") is None


def test_garbage_and_namespaces_that_a_stop_left_are_collected_after_it() -> None:
    store, kept = durable()
    store.create(kinds.namespace("shop"))
    replicas = store.create(draft(REPLICA_SET, "web"))
    store.create(kinds.pod("a", ownerReferences=[owner(replicas)]))
    waiting = store.create(draft(REPLICA_SET, "waiting"))
    store.create(kinds.pod("b", ownerReferences=[owner(waiting)]))
    store.create(kinds.pod("c", "shop"))
    store.delete(REPLICA_SET, "default", "web")
    store.delete(REPLICA_SET, "default", "waiting", Options(propagation="Foreground"))
    store.delete(NAMESPACE, "", "shop")
    store.commit()

    again = kinds.empty(journal=kept)
    again.tidy()

    assert list(again.table(POD).records) == list(again.table(REPLICA_SET).records) == []
    assert list(again.table(NAMESPACE).records) == ["default"]


def test_nothing_is_shown_before_it_is_committed() -> None:
    store, _ = durable()
    watch = store.watch(POD, version=store.version)
    subscription = store.subscribe(POD, ("added",), lambda: None)
    woken: list[bool] = []
    watch.sleep(lambda: woken.append(True))

    store.create(kinds.pod("a"))
    later = store.watch(POD, version=store.version)
    assert (watch.read(), subscription.take(), woken) == ([], [], [])
    store.commit()

    assert woken == [True]
    assert [event.record.name for event in watch.read()] == ["a"]
    assert [event.record.name for event in subscription.take()] == ["a"]
    assert later.read() == []


def test_a_watch_that_begins_with_what_is_there_begins_with_what_is_committed() -> None:
    store, kept = durable()
    store.create(kinds.pod("a"))

    watch = store.watch(POD, initial_events=True)

    assert ("pods", "default/a") in kept.objects
    assert [event.type for event in watch.read()] == ["ADDED", "BOOKMARK"]


def test_many_writes_to_one_object_are_one_row_and_all_events() -> None:
    store, kept = durable()
    transactions = kept.transactions
    watch = store.watch(CONFIG_MAP, version=store.version)
    store.create(kinds.config_map("a"))
    for value in "123":
        store.update(kinds.config_map("a", value=value))
    store.commit()

    assert kept.transactions == transactions + 1
    assert len(watch.read()) == 4
    assert parse.parse(CONFIG_MAP, kept.objects["configmaps", "default/a"]).version == store.version


def test_a_transaction_is_bounded() -> None:
    store, kept = durable()
    before = kept.transactions
    for number in range(2_500):
        store.create(kinds.config_map(f"c-{number}"))

    assert kept.transactions == before + 2


def test_a_disk_that_fails_stops_the_store_and_shows_nothing() -> None:
    store, kept = durable()
    watch = store.watch(POD, version=store.version)
    store.create(kinds.pod("a"))
    kept.fails = True

    for act in (store.commit, store.commit, lambda: store.get(POD, "default", "a"), lambda: store.list(POD)):
        with pytest.raises(Broken, match="the disk is full"):
            act()

    assert watch.read() == []


def test_a_data_directory_is_for_one_process_at_a_time(tmp_path: Path) -> None:
    opened = journal.open(tmp_path)

    with pytest.raises(BadInput, match="is in use by another process"):
        journal.open(tmp_path)
    opened.close()
    journal.open(tmp_path).close()


def test_other_peoples_files_are_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / journal.FILE)
    connection.execute("CREATE TABLE mine(x)")
    connection.close()

    with pytest.raises(BadInput, match="not baseload's"):
        journal.open(tmp_path)


def test_a_data_directory_that_is_none_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / journal.FILE).write_bytes(b"no database" * 1_000)

    for folder in (tmp_path / "file", tmp_path / "file" / "deeper", tmp_path / "broken"):
        with pytest.raises(BadInput, match="the data directory cannot be"):
            journal.open(folder)


def test_writes_of_one_turn_are_committed_together_before_they_are_answered() -> None:
    store, kept = durable()

    async def client(turns: Turns, number: int) -> None:
        for step in range(3):
            store.create(kinds.config_map(f"c-{number}-{step}"))
            await turns.committed()
            assert ("configmaps", f"default/c-{number}-{step}") in kept.objects

    async def main() -> int:
        turns = Turns(store)
        before = kept.transactions
        await asyncio.gather(*(client(turns, number) for number in range(20)))
        await turns.committed()
        turns.close()
        return kept.transactions - before

    assert asyncio.run(main()) == 3


def test_a_turn_also_collects_the_garbage_it_made() -> None:
    store, kept = durable()

    async def main() -> None:
        turns = Turns(store)
        replicas = store.create(draft(REPLICA_SET, "web"))
        store.create(kinds.pod("a", ownerReferences=[owner(replicas)]))
        store.delete(REPLICA_SET, "default", "web")
        await turns.committed()
        turns.close()

    asyncio.run(main())
    assert {resource for resource, _ in kept.objects} == {"namespaces"}


def test_turns_of_a_store_in_memory_collect_garbage_too() -> None:
    store = kinds.fresh()

    async def main() -> None:
        turns = Turns(store)
        for _ in range(2):
            replicas = store.create(draft(REPLICA_SET, "web"))
            store.create(kinds.pod("a", ownerReferences=[owner(replicas)]))
            store.delete(REPLICA_SET, "default", "web")
            await turns.committed()
            assert store.find(POD, "default", "a") is None
        turns.close()

    asyncio.run(main())


def test_a_client_that_gives_up_does_not_take_the_turn_from_others() -> None:
    store, kept = durable()

    async def write(turns: Turns, name: str) -> None:
        store.create(kinds.config_map(name))
        await turns.committed()

    async def main() -> None:
        turns = Turns(store)
        first, second = (asyncio.ensure_future(write(turns, name)) for name in "ab")
        await asyncio.sleep(0)
        first.cancel()
        await second
        turns.close()

    asyncio.run(main())
    assert ("configmaps", "default/b") in kept.objects


def test_clients_of_a_turn_that_fails_are_told() -> None:
    store, kept = durable()

    async def main() -> list[BaseException | None]:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        turns = Turns(store)
        kept.fails = True

        async def write(name: str) -> None:
            store.create(kinds.config_map(name))
            await turns.committed()

        return list(await asyncio.gather(write("a"), write("b"), return_exceptions=True))

    assert [type(outcome) for outcome in asyncio.run(main())] == [Broken, Broken]


def test_who_serves_is_told_that_the_disk_refused_a_commit() -> None:
    store, kept = durable()
    told: list[str] = []

    async def main() -> None:
        turns = Turns(store, lambda: told.append("broken"))
        await turns.committed()
        kept.fails = True
        store.create(kinds.config_map("a"))
        with pytest.raises(Broken):
            await turns.committed()
        with pytest.raises(Broken):
            turns.close()

    asyncio.run(main())
    assert told == ["broken"]


def test_an_actors_status_survives_as_json() -> None:
    store, kept = durable()
    store.create(kinds.pod("a"))
    store.change(POD, "default", "a", lambda old: replace(old, status=b'{"phase":"Running"}'), "status")
    store.commit()

    assert kinds.empty(journal=kept).get(POD, "default", "a").status == b'{"phase":"Running"}'


def test_what_is_kept_is_readable_by_its_owner_alone_from_the_first_moment(tmp_path: Path) -> None:
    folder, elder = tmp_path / "new", tmp_path / "elder"
    elder.mkdir()
    journal.open(elder).close()
    (elder / journal.FILE).chmod(0o644)
    old = os.umask(0)
    try:
        opened = [journal.open(folder), journal.open(elder)]
    finally:
        os.umask(old)

    modes = {file: file.stat().st_mode & 0o777 for kept in (folder, elder) for file in kept.iterdir()}
    assert {file.name for file in modes} == {journal.FILE, f"{journal.FILE}-wal"}
    assert set(modes.values()) == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    for it in opened:
        it.close()


def test_a_file_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / journal.FILE
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE theirs(a)")
    other.close()
    file.chmod(0o644)

    with pytest.raises(BadInput, match="that is not baseload's"):
        journal.open(tmp_path)

    assert file.stat().st_mode & 0o777 == 0o644
    assert sorted(tmp_path.iterdir()) == [file]
