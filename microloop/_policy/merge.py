"""How a policy and the one it extends become one document."""

from __future__ import annotations

from microloop._policy.nodes import Node


def merge(base: Node, over: Node) -> Node:
    """`over` on top of `base`: mappings key by key, `tools` one after the other, null takes away."""
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    values, keys = dict(base.value), dict(base.keys)
    for key, child in over.value.items():
        keys[key] = over.keys[key]
        if key == "tools":
            values[key] = _joined(values.get(key), child)
        else:
            values[key] = merge(values[key], child) if key in values else child
    return Node(values, over.mark, keys)


def without_nulls(node: Node) -> Node:
    """Drop what was switched off. `tools` stays as written: there a null undoes an earlier entry, at match time."""
    if not isinstance(node.value, dict):
        return node
    kept = {
        key: child if key == "tools" else without_nulls(child)
        for key, child in node.value.items()
        if child.value is not None
    }
    return Node(kept, node.mark, {key: node.keys[key] for key in kept})


def without(node: Node, *names: str) -> Node:
    """A mapping without some of its keys."""
    kept = {key: child for key, child in node.items() if key not in names}
    return Node(kept, node.mark, {key: node.keys[key] for key in kept})


def _joined(base: Node | None, over: Node) -> Node:
    if base is None or not isinstance(base.value, list) or not isinstance(over.value, list):
        return over
    return Node([*base.value, *over.value], over.mark)
