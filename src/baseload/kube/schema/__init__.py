"""Whether objects are what they claim to be: shape by the API's schemas, and the rules that schemas cannot tell.

`check` is the entry; `definitions` holds the schemas, `shape` compares, `gate` does the same for thousands of objects
of one kind, and the remaining modules are the rules, each for one family of kinds.
"""
