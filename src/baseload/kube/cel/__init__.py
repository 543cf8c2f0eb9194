"""The Common Expression Language, as the validation rules of CustomResourceDefinitions use it.

A rule is read (`syntax`), held against the types that its schema declares (`types`, `checking`) and made into Python
closures over plain JSON values (`program`). `rules` walks an object with all rules of its schema.
"""
