"""A client of a Kubernetes API, wherever that is.

`port` names what a client needs of a way to a server: send a request, read lines. Over HTTP that is `http`, with
`kubeconfig` and `exec_plugin` to find and enter a server; in process it is `embedded.local`. `client.Client` stands on
either and makes Kubernetes' verbs of it, with `requests` for how each is written, `objects` for what is answered,
`errors` for what is refused and `retry` for what is tried again. `reflector` follows a collection for good.
All but the ways over HTTP await only a clock, so they run under a simulated one too.
"""
