"""What lives in the embedded cluster: scheduler, controllers, kubelets: coroutines that await a clock and use the API.

`client` is the API as they use it, `recorder` their events, `pods` and `nodes` what they write into a status.
"""
