"""Which of torchada's tests ask for what any platform can have, told from their text alone.

A test is not applicable for one of the reasons of `Reason`, which anybody can look up in its text: nothing here knows
what becomes of it. The text of a test is its function with what that uses of its file: functions, constants,
fixtures, methods of its class, and programs that it holds as strings.
"""

from __future__ import annotations

import ast
import enum
import pathlib
from collections.abc import Collection, Iterator, Mapping


class Reason(enum.Enum):
    """Why a test is not applicable; the value is the heading of a column of the table."""

    PRIVATE = "private"
    """Names something of torchada's whose name begins with an underscore."""

    OWN_FILES = "own files"
    """Looks into files that torchada ships: `torchada.__file__`, its headers for PyTorch's stable ABI."""

    NOT_PUBLISHED = "not in the sdist"
    """Reads `tests/csrc`, which the sdist lacks."""

    MUSA = "MUSA only"
    """Is marked so, skips itself without MUSA, or does nothing without it."""


# Functions that return where headers of torchada's are.
_OWN_HEADERS = frozenset({"stable_compat_include_dir", "stable_compat_box_header"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read(path: pathlib.Path, answered: Collection[str] = ()) -> dict[str, Reason | None]:
    """Looks at the tests of a file.

    Args:
        path: the file.
        answered: private names that somebody else answers for, such as "torchada._mapping._MAPPING_RULE".

    Returns:
        By test, as "Class.method" or "function": why it is not applicable, None if it is.
    """
    file = _File(ast.parse(path.read_text(encoding="utf-8")), answered)
    published = (path.parent / "csrc").is_dir()
    found: dict[str, Reason | None] = {}
    for statement in file.tree.body:
        if isinstance(statement, ast.ClassDef) and statement.name.startswith("Test"):
            for member in statement.body:
                if isinstance(member, _Function) and member.name.startswith("test"):
                    name = f"{statement.name}.{member.name}"
                    found[name] = file.reason(member, statement, published)
        elif isinstance(statement, _Function) and statement.name.startswith("test"):
            found[statement.name] = file.reason(statement, None, published)
    return found


class _File:
    """A test file: what its names stand for.

    Args:
        tree: its syntax.
        answered: private names that are no reason.
    """

    def __init__(self, tree: ast.Module, answered: Collection[str]) -> None:
        self.tree = tree
        self._answered = frozenset(answered)
        self._names = {name: node for node in tree.body for name in _bound(node)}

    def reason(self, test: _Function, group: ast.ClassDef | None, published: bool) -> Reason | None:
        """Why a test is not applicable.

        Args:
            test: the test.
            group: its class.
            published: whether the files that it may read are there.
        """
        text = list(self._text(test, group))
        nodes = [node for part in text for node in ast.walk(part)]
        if any(name not in self._answered for name in _private_names(nodes)):
            return Reason.PRIVATE
        if _names_of(nodes) & _OWN_HEADERS or _reads_own_source(nodes):
            return Reason.OWN_FILES
        if not published and any(_joins_csrc(node) for node in nodes):
            return Reason.NOT_PUBLISHED
        marks = [*test.decorator_list, *(group.decorator_list if group else ())]
        file_marks = self._names.get("pytestmark")
        everywhere = [*marks, *([file_marks] if file_marks else [])]
        if any(_is_musa_mark(mark) for mark in everywhere):
            return Reason.MUSA
        if any(_skips_without_musa(part) for part in text) or not _does_something(test.body):
            return Reason.MUSA
        return None

    def _text(self, test: _Function, group: ast.ClassDef | None) -> Iterator[ast.AST]:
        """A test and all that it uses of its file."""
        members = {name: node for node in (group.body if group else ()) for name in _bound(node)}
        waiting: list[ast.AST] = [test]
        seen: set[int] = set()
        while waiting:
            part = waiting.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            for node in ast.walk(part):
                if isinstance(node, ast.Name):
                    waiting += _found(self._names, node.id)
                elif isinstance(node, ast.arg):
                    waiting += _found(self._names, node.arg) + _found(members, node.arg)
                elif isinstance(node, ast.Attribute) and _is_name(node.value, "self", "cls"):
                    waiting += _found(members, node.attr)
                elif isinstance(node, ast.Constant):
                    waiting += _program(node.value)


def _found(names: Mapping[str, ast.stmt], name: str) -> list[ast.AST]:
    return [names[name]] if name in names else []


def _bound(node: ast.AST) -> list[str]:
    """The names that a statement gives something to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _program(value: object) -> list[ast.AST]:
    """A string that is a program with torchada, such as one for `python -c`."""
    if not isinstance(value, str) or "import torchada" not in value.replace("from", "import"):
        return []
    try:
        return [ast.parse(value)]
    except SyntaxError:
        return []


def _is_name(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _private_names(nodes: Collection[ast.AST]) -> Iterator[str]:
    """What is named of torchada that begins with an underscore, such as "torchada._patch._translate_device"."""
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {
                alias.asname or "torchada": alias.name if alias.asname else "torchada"
                for alias in node.names
                if alias.name.partition(".")[0] == "torchada"
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == (
            "torchada"
        ):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                modules[alias.asname or alias.name] = full
                if any(_is_private(part) for part in full.split(".")):
                    yield full
    for node in nodes:
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in modules:
                yield f"{modules[root.id]}.{node.attr}"


def _names_of(nodes: Collection[ast.AST]) -> set[str]:
    return {
        *(node.id for node in nodes if isinstance(node, ast.Name)),
        *(alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names),
    }


def _reads_own_source(nodes: Collection[ast.AST]) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "__file__"
        and _is_name(node.value, "torchada")
        for node in nodes
    )


def _joins_csrc(node: ast.AST) -> bool:
    """`os.path.join(os.path.dirname(__file__), "csrc")`."""
    if not isinstance(node, ast.Call):
        return False
    inside = list(ast.walk(node))
    return any(_is_name(part, "__file__") for part in inside) and any(
        isinstance(part, ast.Constant) and part.value == "csrc" for part in node.args
    )


def _is_musa_mark(node: ast.AST) -> bool:
    """`@pytest.mark.musa`, or a `skipif` that asks for the platform."""
    inside = list(ast.walk(node))
    marked = any(isinstance(part, ast.Attribute) and part.attr == "musa" for part in inside)
    skips = any(isinstance(part, ast.Attribute) and part.attr == "skipif" for part in inside)
    return marked or (skips and any(_asks_for_musa(part) for part in inside))


def _asks_for_musa(node: ast.AST) -> bool:
    """`torchada.is_musa_platform()`, `hasattr(torch, "musa")`, `hasattr(torch.backends, "musa")`."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == "is_musa_platform" or (
        name == "hasattr" and any(_is_constant(argument, "musa") for argument in node.args)
    )


def _is_constant(node: ast.AST, value: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _needs_musa(condition: ast.expr) -> bool:
    """Whether a condition can only hold on MUSA."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        return any(_needs_musa(part) for part in condition.values)
    return _asks_for_musa(condition)


def _needs_no_musa(condition: ast.expr) -> bool:
    """Whether a condition always holds off MUSA."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.Or):
        return any(_needs_no_musa(part) for part in condition.values)
    return (
        isinstance(condition, ast.UnaryOp)
        and isinstance(condition.op, ast.Not)
        and _asks_for_musa(condition.operand)
    )


def _skips_without_musa(part: ast.AST) -> bool:
    """`if not torchada.is_musa_platform(): pytest.skip(…)` anywhere outside of branches."""
    return isinstance(part, _Function) and any(
        isinstance(statement, ast.If)
        and _needs_no_musa(statement.test)
        and any(
            isinstance(node, ast.Attribute) and node.attr == "skip" for node in ast.walk(statement)
        )
        for statement in part.body
    )


def _does_something(body: Collection[ast.stmt]) -> bool:
    """Whether statements assert or call something where the platform is not MUSA."""
    for statement in body:
        if isinstance(statement, ast.If) and _needs_musa(statement.test):
            if _does_something(statement.orelse):
                return True
        elif isinstance(statement, ast.Try):
            blocks = [statement.body, statement.orelse, statement.finalbody]
            if any(_does_something(block) for block in blocks):
                return True
        elif isinstance(statement, ast.If):
            if _does_something(statement.body) or _does_something(statement.orelse):
                return True
        elif any(isinstance(node, ast.Assert | ast.Call) for node in ast.walk(statement)):
            return True
    return False
