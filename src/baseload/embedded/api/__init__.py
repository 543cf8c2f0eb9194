"""The embedded cluster's API: Kubernetes' protocol over HTTP, in front of the store.

A request becomes a `call.Call`; `target` says which kind and object its path names, `kinds` what is served at all.
`reading` and `verbs` answer it, `watch` streams, `tables` and `negotiate` give answers the form that was asked for,
`status` the refusals. `discovery` and `openapi` tell clients what there is. `app` puts it together for a server.
Custom resources are data: nothing here knows any of them.
"""
