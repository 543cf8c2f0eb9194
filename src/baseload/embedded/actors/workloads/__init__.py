"""The workload controllers of kube-controller-manager: what keeps pods in step with what users asked for.

Each kind has a module that decides (readings and the time in, what to write out) and a controller that reads, asks it
and writes. `controllers` runs them all in one coroutine, on one bell, with one index of who owns which pods.
"""
