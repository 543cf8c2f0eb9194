"""The embedded cluster's store: every object, one rising resourceVersion, lists at a version and watches from one.

Objects are records (`record`): typed metadata beside the JSON bytes of spec and status, spliced together when somebody
reads them. `store.Store` owns them all; each write makes a new record and one event in the log of its kind, and lists,
watches and subscriptions are readings of tables and logs. `deletion`, `rules`, `garbage` and `namespaces` hold
Kubernetes' rules; `journal` keeps everything in SQLite where that is asked for. Nothing here knows HTTP, and `turns`
alone knows asyncio.
"""
