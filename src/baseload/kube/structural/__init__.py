"""Custom resources' schemas, as an API server holds definitions and objects to them, in its words.

`values` compares objects with a schema, `formats` knows the named formats of texts, `lists` finds twins in sets and
maps, `embedded` looks at objects inside objects, `nulls` drops the nulls that a schema does not want; `schemas`,
`extensions` and `given` tell whether a schema itself may stand in a definition.
"""
