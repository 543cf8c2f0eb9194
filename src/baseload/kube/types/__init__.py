"""Slim readings of Kubernetes objects: the fields that decisions read, under Kubernetes' own names.

One module an API group.
A reading is frozen and shared: equal specs of many objects are one value.
Absent lists are `()`, absent maps `{}`, absent strings `""`; numbers, booleans and objects that may be absent are None.
Quantities, durations and instants stay as they were written; `values` parses them where a decision needs the number.
"""
