"""Values as Go's fmt prints them, since messages of the API server quote them so."""

import json as _json

MAP = "map[string]interface {}"
_KINDS = ((bool, "bool"), (str, "string"), (list, "array"), (dict, "object"))


def cannot(value: object, type: str) -> str:
    """Go's words for a JSON value that is none of a type."""
    held = next((name for of, name in _KINDS if isinstance(value, of)), "number")
    return f"json: cannot unmarshal {held} into Go value of type {type}"


def quoted(text: str) -> str:
    """%q of a text."""
    return _json.dumps(text, ensure_ascii=False)


def plain(value: object) -> str:
    """%v of a value: maps sorted by key, lists without commas."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case dict():
            return f"map[{' '.join(f'{key}:{plain(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(plain, value))}]"
        case float() if value.is_integer() and abs(value) < 1e21:
            return str(int(value))
    return str(value)


def type_name(value: object) -> str:
    """%T of a decoded JSON value."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case dict():
            return "map[string]interface {}"
    return "[]interface {}"


def syntax(value: object) -> str:
    """%#v of a scalar."""
    return quoted(value) if isinstance(value, str) else plain(value)


def json(value: object) -> str:
    """What Go's JSON encoder writes, which escapes what could end a script."""
    text = _json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
