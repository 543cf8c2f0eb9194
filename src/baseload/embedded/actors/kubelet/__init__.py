"""Kubelets: one for each machine, all of them one task that follows pods and routes them by their node.

A pod is one generator (`pod`), whose containers (`container`) know beforehand what will become of them and when, as it
is scripted (`script`); the machine (`node`) registers, renews its lease and feels what its pods use (`strained`).
"""
