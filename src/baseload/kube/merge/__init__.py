"""How a request changes an object: the four kinds of patch, and who manages which field.

`merge_patch`, `json_patch` and `strategic` take an object and a patch and give the patched object.
`apply` is server-side apply: `apply.apply` merges a configuration, `apply.managed_after_update` tracks other writes.

All of it works on plain JSON trees (dict, list, str, int, float, bool, None) and never changes one that it is given;
what comes out shares the parts that did not change with what went in.
"""
