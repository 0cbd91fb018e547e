"""From a reference to one resolved tree: reads the document and all that it extends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from microloop._policy.fault import fault
from microloop._policy.merge import merge, without
from microloop._policy.names import looks_like_path, read_file, read_named
from microloop._policy.nodes import Mark, Node
from microloop._policy.schema import validate
from microloop._policy.yaml_reader import read_yaml

MAX_CHAIN = 16


@dataclass(frozen=True, slots=True)
class Origin:
    """Which document a tree came from: `identity` tells documents apart, `folder` is where its `extends` starts."""

    identity: str
    folder: Path | None


def read_reference(reference: str, folder: Path | None, mark: Mark) -> tuple[Node, Origin]:
    """The document that a name or a path means. Paths are relative to `folder`."""
    if not looks_like_path(reference):
        text, shown = read_named(reference)
        return read_yaml(text, shown), Origin(f"name:{reference}", None)
    if folder is None and mark.file is not None and not Path(reference).is_absolute():
        raise fault(f'a named policy cannot extend the path "{reference}"; give a name', mark, key="extends")
    return read_document((folder or Path()) / reference)


def read_document(path: Path) -> tuple[Node, Origin]:
    """The document in a file."""
    text, shown = read_file(path)
    return read_yaml(text, shown), Origin(f"path:{path.resolve()}", path.parent)


def resolve(node: Node, origin: Origin, above: tuple[Origin, ...] = ()) -> Node:
    """Check this document by itself, then lay it over the one it extends."""
    validate(node)
    extends = node.child("extends")
    if extends is None or extends.value is None:
        return without(node, "extends")
    chain = (*above, origin)
    base, base_origin = read_reference(str(extends.value), origin.folder, extends.mark)
    _refuse_cycle(chain, base_origin, extends.mark)
    inherited = without(resolve(base, base_origin, chain), "name", "description")
    return without(merge(inherited, node), "extends")


def _refuse_cycle(chain: tuple[Origin, ...], base: Origin, mark: Mark) -> None:
    identities = [origin.identity for origin in chain]
    if base.identity in identities:
        circle = " → ".join(_short(name) for name in [*identities[identities.index(base.identity) :], base.identity])
        raise fault(f"`extends` goes round in a circle: {circle}; remove one of them", mark, key="extends")
    if len(chain) >= MAX_CHAIN:
        raise fault(f"`extends` is a chain of more than {MAX_CHAIN} documents; join some of them", mark, key="extends")


def _short(identity: str) -> str:
    kind, _, rest = identity.partition(":")
    return Path(rest).name if kind == "path" else rest
