"""kube-scheduler: keeps a model of the cluster, a queue of pods without a node, and gives them nodes one by one."""
