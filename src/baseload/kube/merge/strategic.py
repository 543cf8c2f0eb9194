"""Strategic merge patch: a merge patch that knows which lists are maps in disguise.

A list whose schema says so is merged item by item, told apart by the merge key; other lists are replaced, as in a plain
merge patch. Directives in the patch say the rest:

* `$patch: replace` puts the patch's map or list in the place of what was there;
* `$patch: delete` empties a map, or removes the item with the same key from a list;
* `$retainKeys` removes all fields of a map that it does not list;
* `$deleteFromPrimitiveList/x` removes scalars from the list x;
* `$setElementOrder/x` gives the order of the list x.
"""

from operator import itemgetter

from baseload.kube.merge import go_text
from baseload.kube.merge.order import identity, reordered
from baseload.kube.merge.patch_meta import PatchMeta, of_kind
from baseload.kube.merge.refusal import PatchError, bad_request, bounded, failed, unprocessable
from baseload.kube.merge.tree import Object, same

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList"
_ORDER = "$setElementOrder"
_DEEP = (dict, list)
_DIRECTIVES = (_PATCH, _RETAIN, _DELETE_FROM, _ORDER)
_ACCEPTED = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"


@bounded
def patched(target: Object, patch: object, *, api_version: str, kind: str) -> Object:
    """The object after the patch; custom resources have no strategic merge patch and refuse it."""
    meta = of_kind(api_version, kind)
    if meta is None:
        wording = "the body of the request was in an unknown format - accepted media types include: "
        raise PatchError(415, "UnsupportedMediaType", wording + _ACCEPTED)
    if patch is None:
        return target
    if not isinstance(patch, dict):
        raise bad_request(go_text.cannot(patch, go_text.MAP))
    return _map(target, patch, meta)


def _map(target: Object, patch: Object, meta: PatchMeta) -> Object:
    for key in patch:
        if key[:1] == "$":
            return _by_directives(target, patch, meta)
    merged = dict(target)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif type(value) in _DEEP:
            _field(merged, key, value, meta.field(key))
        else:
            merged[key] = value
    return merged


def _by_directives(target: Object, patch: Object, meta: PatchMeta) -> Object:
    if _PATCH in patch:
        return _directed(patch)
    merged = _retained(target, patch)
    ordered = [_name(key, _ORDER) for key in patch if key.startswith(_ORDER)]
    for name in ordered:
        _ordered_list(merged, name, patch, meta.field(name))
    for key, value in patch.items():
        if key == _RETAIN or key.startswith(_ORDER) or (key in ordered and value is not None):
            continue
        if key.startswith(_DELETE_FROM):
            _delete_from(merged, _name(key, _DELETE_FROM), value)
        elif value is None:
            merged.pop(key, None)
        else:
            _field(merged, key, value, meta.field(key))
    return merged


def _directed(patch: Object) -> Object:
    directive = patch[_PATCH]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    raise _unknown(directive, patch)


def _unknown(directive: object, patch: Object) -> PatchError:
    return failed(f"unknown patch type: {go_text.plain(directive)} in map: {go_text.plain(patch)}")


def _retained(target: Object, patch: Object) -> Object:
    """The fields that `$retainKeys` leaves, a copy of all of them where there is none."""
    if _RETAIN not in patch:
        return dict(target)
    listed = patch[_RETAIN]
    if not isinstance(listed, list):
        raise bad_request("invalid patch format of retainKeys")
    retained = {key for key in listed if isinstance(key, str)}
    for key, value in patch.items():
        if key != _RETAIN and value is not None and not key.startswith((_DELETE_FROM, _ORDER)) and key not in retained:
            raise bad_request("invalid patch format of retainKeys")
    return {key: value for key, value in target.items() if key in retained}


def _name(key: str, directive: str) -> str:
    """The list that a directive is about."""
    found, slash, name = key.partition("/")
    if found != directive or not slash:
        what = "primitive list" if directive == _DELETE_FROM else "setElementOrder list"
        raise bad_request(f"invalid patch format of {what}")
    return name


def _field(merged: Object, key: str, value: object, meta: PatchMeta) -> None:
    held = merged.get(key)
    if isinstance(held, dict) and isinstance(value, dict):
        merged[key] = value if meta.replaces else _map(held, value, meta)
    elif isinstance(held, list) and isinstance(value, list):
        merged[key] = _list(held, value, meta) if meta.merges else value
    elif isinstance(value, dict) and _PATCH in value:
        merged.pop(key, None)
    else:
        merged[key] = _plain(value)


def _plain(value: object) -> object:
    """A new part of the object: no directives, and no nulls, which say nothing here."""
    if isinstance(value, dict):
        kept = {key: held for key, held in value.items() if held is not None and not key.startswith(_DIRECTIVES)}
        return {key: _plain(held) for key, held in kept.items() if not _is_directive(held)}
    if isinstance(value, list):
        return [_plain(item) for item in value if not _is_directive(item)]
    return value


def _is_directive(value: object) -> bool:
    return isinstance(value, dict) and _PATCH in value


def _delete_from(merged: Object, name: str, value: object) -> None:
    held = merged.get(name)
    if value is None:
        merged.pop(name, None)
    elif isinstance(held, list) and isinstance(value, list):
        gone = set(map(identity, value))
        merged[name] = [item for item in held if identity(item) not in gone]


def _list(held: list[object], patch: list[object], meta: PatchMeta) -> list[object]:
    """A merged list, in the order of the patch and, for the rest, the old one."""
    if not held and not patch:
        return held
    if meta.key and _is_by_item(held, patch, meta.key):
        return [_map(other, item, meta) for other, item in zip(held, patch, strict=True)]  # type: ignore[arg-type]
    if not _of_maps(held, patch):
        first = {identity(item): item for item in reversed([*held, *patch])}
        return reordered(list(reversed(first.values())), patch, held, key="")
    if not meta.key:
        raise failed("cannot merge lists without merge key for struct")
    held, items = _after_directives(held, patch, meta.key)
    return reordered(_items(held, items, meta), items, held, key=meta.key)


def _is_by_item(held: list[object], patch: list[object], key: str) -> bool:
    """Whether a patch tells the items that there are, each by a text of its own and without directives: as mostly."""
    try:
        names = list(map(itemgetter(key), held))  # type: ignore[arg-type]
        told = list(map(itemgetter(key), patch))  # type: ignore[arg-type]
        is_same = names == told and set(map(type, names)) == {str} and len(set(names)) == len(names)
        return is_same and not any(_PATCH in item for item in patch)  # type: ignore[operator]  # a name is a map's
    except (KeyError, TypeError):
        return False


def _of_maps(*lists: list[object]) -> bool:
    maps = [isinstance(item, dict) for items in lists for item in items]
    if any(isinstance(item, list) for items in lists for item in items):
        raise unprocessable()
    if any(maps) != all(maps):
        raise failed("list element types are not identical")
    return all(maps)


def _after_directives(held: list[object], patch: list[object], key: str) -> tuple[list[object], list[object]]:
    """The list after the directives among the items of its patch, and the other items."""
    items: list[object] = []
    replaces = False
    for item in patch:
        assert isinstance(item, dict)
        directive = item.get(_PATCH)
        if _PATCH not in item:
            items.append(item)
        elif directive == "delete":
            _key(item, key)
            gone = identity(item, key)
            held = [other for other in held if identity(other, key) != gone]
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise failed("merging lists cannot yet be specified in the patch")
        else:
            raise _unknown(directive, item)
    return ([], items) if replaces else (held, items)


def _key(item: Object, key: str) -> object:
    if key not in item:
        raise failed(f"map: {go_text.plain(item)} does not contain declared merge key: {key}")
    return item[key]


def _items(held: list[object], patch: list[object], meta: PatchMeta) -> list[object]:
    merged = list(held)
    places = {identity(item, meta.key): place for place, item in reversed(list(enumerate(held)))}
    for item in patch:
        assert isinstance(item, dict)
        _key(item, meta.key)
        place = places.setdefault(identity(item, meta.key), len(merged))
        if place < len(merged):
            merged[place] = _merged(merged[place], item, meta)
        else:
            merged.append(_plain(item))
    return merged


def _merged(held: object, item: object, meta: PatchMeta) -> Object:
    """An item of a list, and what its patch makes of it."""
    assert isinstance(held, dict)
    assert isinstance(item, dict)
    _key(item, meta.key)
    return _map(held, item, meta)


def _ordered_list(merged: Object, name: str, patch: Object, meta: PatchMeta) -> None:
    """Merge a list that comes with its order."""
    order, items, held = patch[f"{_ORDER}/{name}"], patch.get(name), merged.get(name)
    if not isinstance(order, list):
        raise bad_request("invalid patch format of setElementOrder list")
    if not all(value is None or isinstance(value, list) for value in (items, held)):
        raise failed(f"expected a []interface {{}}, but received a {go_text.type_name(items)}")
    items = items if isinstance(items, list) else None
    _matches(items or [], order, meta.key)
    if isinstance(held, list):
        both = held if items is None else _list(held, items, meta) if meta.merges else items
        merged[name] = reordered(both, order, held, key=meta.key)
    elif items is not None:
        plain = _plain(items)
        assert isinstance(plain, list)
        merged[name] = reordered(plain, order, [], key=meta.key)


def _matches(items: list[object], order: list[object], key: str) -> None:
    """Refuse a patch whose items do not stand in the order that it tells, or are not in it."""
    if not order:
        return
    told = iter(order)
    for item in items:
        if _is_directive(item):
            continue
        if not any(_is_same_item(item, other, key) for other in told):
            listed = f"{go_text.plain(items)}\n doesn't match {_ORDER} list:\n{go_text.plain(order)}\n"
            raise failed(f"The order in patch list:\n{listed}")


def _is_same_item(item: object, other: object, key: str) -> bool:
    if not key:
        return same(item, other)
    if not isinstance(item, dict) or not isinstance(other, dict):
        raise failed(f"expected a map[string]interface {{}}, but received a {go_text.type_name(item)}")
    return same(_key(item, key), _key(other, key))
