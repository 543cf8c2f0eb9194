"""What a kubelet and the node lifecycle decide: numbers in, consequences out; actors carry them out.

The facts are Kubernetes' (cluster-actors spec 17-24), except the model of memory pressure, which is ours (24) and says
so.
"""
