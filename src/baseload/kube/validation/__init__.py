"""What an API server checks on Kubernetes' own kinds beyond their shape, in its words and in its order.

Each rule is a pure function from a tree, as JSON has it, to the faults in it. A fault's path begins at the object.
"""
