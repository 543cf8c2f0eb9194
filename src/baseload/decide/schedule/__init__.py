"""Which node a pod is bound to: kube-scheduler's default profile as pure functions on an incremental cluster."""
