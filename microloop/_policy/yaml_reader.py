"""YAML (and so JSON) text to a tree with positions, refusing what JSON could not say."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from microloop._policy.fault import fault
from microloop._policy.nodes import Mark, Node, Value

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 1 << 20
MAX_NODES = 100_000
MAX_DEPTH = 64
_SCALARS = {"null", "bool", "int", "float", "str", "timestamp"}
_PREFIX = "tag:yaml.org,2002:"
_ASTRAL_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def read_yaml(text: str, file: str | None) -> Node:
    """Parse one document. `file` is only what messages call it."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        message = (
            f"the document has {size} bytes and the limit is {MAX_BYTES}; split it and join the parts with `extends`"
        )
        raise fault(message, Mark(file))
    return _Reader(text, file).read()


class _Reader:
    """One pass over one document."""

    def __init__(self, text: str, file: str | None) -> None:
        self._text = text
        self._file = file
        self._seen = 0
        self._open: list[int] = []

    def read(self) -> Node:
        import yaml

        # JSON files may be indented with tabs, which YAML forbids; neither allows a raw tab inside a JSON string.
        as_json = (self._file or "").endswith(".json")
        text = self._text.replace("\t", " ") if as_json else self._text
        try:
            loader = yaml.SafeLoader(text)
        except yaml.reader.ReaderError as error:
            raise self._odd_character(error) from None
        try:
            root = loader.get_single_node()
            if root is None:
                raise fault("the document is empty; begin with `version: 1`", Mark(self._file, 1, 1))
            return self._node(loader, root)
        except yaml.MarkedYAMLError as error:
            raise self._syntax_fault(error) from None
        except yaml.reader.ReaderError as error:
            raise self._odd_character(error) from None
        except RecursionError:
            raise self._too_deep(Mark(self._file)) from None
        finally:
            loader.dispose()

    def _syntax_fault(self, error: yaml.MarkedYAMLError) -> Exception:
        mark = error.problem_mark or error.context_mark
        where = self._mark(mark) if mark else Mark(self._file)
        during = f" ({error.context})" if error.context else ""
        return fault(f"not YAML: {error.problem}{during}", where)

    def _odd_character(self, error: yaml.reader.ReaderError) -> Exception:
        before = self._text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        found = f"U+{ord(self._text[error.position]):04X}"
        message = f"the character {found} has no place in YAML; remove it or write it as an escape"
        return fault(message, Mark(self._file, line, column))

    def _too_deep(self, mark: Mark) -> Exception:
        return fault(f"nested deeper than {MAX_DEPTH} levels; flatten the document", mark)

    def _mark(self, mark: Any) -> Mark:
        return Mark(self._file, mark.line + 1, mark.column + 1)

    def _node(self, loader: yaml.SafeLoader, node: yaml.Node) -> Node:
        import yaml

        mark = self._mark(node.start_mark)
        self._count(node, mark)
        self._open.append(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(loader, node, mark)
            if isinstance(node, yaml.SequenceNode):
                return Node([self._node(loader, child) for child in node.value], mark)
            return Node(self._scalar(loader, node, mark), mark)
        finally:
            self._open.pop()

    def _count(self, node: yaml.Node, mark: Mark) -> None:
        """An alias is counted each time it is used: a few lines of anchors can stand for millions of values."""
        self._seen += 1
        if self._seen > MAX_NODES:
            raise fault(f"more than {MAX_NODES} values once its anchors are expanded; write fewer", mark)
        if len(self._open) >= MAX_DEPTH:
            raise self._too_deep(mark)
        if id(node) in self._open:
            raise fault("an anchor contains itself; write the value out instead of the alias", mark)

    def _mapping(self, loader: yaml.SafeLoader, node: yaml.MappingNode, mark: Mark) -> Node:
        if node.tag != f"{_PREFIX}map":
            raise self._foreign_tag(node, mark)
        self._refuse_duplicates(node)
        loader.flatten_mapping(node)
        values: dict[str, Node] = {}
        keys: dict[str, Mark] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            values[key] = self._node(loader, value_node)
            keys[key] = self._mark(key_node.start_mark)
        return Node(values, mark, keys)

    def _refuse_duplicates(self, node: yaml.MappingNode) -> None:
        """Before merge keys are expanded: a key may override what `<<` brings in, but not stand twice itself."""
        first: dict[str, Mark] = {}
        for key_node, _ in node.value:
            key, mark = self._key(key_node), self._mark(key_node.start_mark)
            if key in first and key_node.tag != f"{_PREFIX}merge":
                message = f'key "{key}" stands twice, first on line {first[key].line}; remove one of them'
                raise fault(message, mark, key=key)
            first[key] = mark

    def _key(self, node: yaml.Node) -> str:
        """A key is what was written: `on`, `1` and `no` are text here."""
        import yaml

        if not isinstance(node, yaml.ScalarNode):
            raise fault("a key must be plain text, not a list or mapping", self._mark(node.start_mark))
        return str(node.value)

    def _scalar(self, loader: yaml.SafeLoader, node: yaml.Node, mark: Mark) -> Value:
        kind = node.tag.removeprefix(_PREFIX)
        if kind not in _SCALARS:
            raise self._foreign_tag(node, mark)
        if kind in ("str", "timestamp"):
            return self._text_of(str(node.value), mark)
        value: Value = loader.construct_object(node)
        if isinstance(value, float) and not math.isfinite(value):
            raise fault(f"{node.value} is not a JSON number; write a finite one", mark)
        return value

    def _text_of(self, text: str, mark: Mark) -> str:
        """JSON writes astral characters as two escapes, which YAML keeps apart."""
        joined = _ASTRAL_PAIR.sub(_join_pair, text)
        if any("\ud800" <= char <= "\udfff" for char in joined):
            raise fault("half of a surrogate pair; write the whole character", mark)
        return joined

    def _foreign_tag(self, node: yaml.Node, mark: Mark) -> Exception:
        tag = node.tag.replace(_PREFIX, "!!")
        return fault(f"the tag {tag} has no place in a policy; write plain text, numbers, lists and mappings", mark)


def _join_pair(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16", "surrogatepass").decode("utf-16")
