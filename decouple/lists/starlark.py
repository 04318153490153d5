"""Evaluates upstream's .bzl files: the part of Starlark that lists are written in.

Starlark is a subset of Python, so a file is parsed by Python. Its syntax tree is checked against what Starlark allows
before anything of it runs, and it runs with a handful of names. It can call nothing that reaches the machine.
"""

from __future__ import annotations

import ast
import fnmatch
import posixpath
import string
from collections.abc import Callable, Mapping
from typing import Any

from decouple.errors import DecoupleError
from decouple.tree import Tree

# The nodes of Python's syntax that Starlark has too.
_ALLOWED = (
    ast.Module,
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.FunctionDef,
    ast.Return,
    ast.If,
    ast.For,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.arguments,
    ast.arg,
    ast.keyword,
    ast.Constant,
    ast.Name,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.ListComp,
    ast.DictComp,
    ast.comprehension,
    ast.BinOp,
    ast.BoolOp,
    ast.UnaryOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.Lambda,
    ast.expr_context,
    ast.boolop,
    ast.cmpop,
    ast.unaryop,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Mod,
    ast.FloorDiv,
    ast.BitOr,
    ast.BitAnd,
)
_METHODS = frozenset(
    [
        "append",
        "clear",
        "copy",
        "count",
        "endswith",
        "extend",
        "find",
        "format",
        "get",
        "index",
        "insert",
        "items",
        "join",
        "keys",
        "lower",
        "lstrip",
        "pop",
        "remove",
        "replace",
        "rfind",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "title",
        "update",
        "upper",
        "values",
        "capitalize",
        "elems",
        "partition",
        "rpartition",
        "removeprefix",
        "removesuffix",
        "setdefault",
        "isdigit",
    ]
)
_FORMAT = "_format"
_MULTIPLY = "_multiply"
_LONGEST = 1_000_000


def evaluate(tree: Tree, path: str) -> dict[str, Any]:
    """Evaluates a .bzl file of the tree.

    Args:
        tree: the tree; `load` and `glob` look there.
        path: the file.

    Returns:
        The file's global names.

    Raises:
        DecoupleError: the file is not Starlark, or fails; it names the line.
    """
    return _Evaluator(tree).run(path)


def lists(tree: Tree, path: str) -> dict[str, tuple[str, ...]]:
    """The lists of strings that a .bzl file defines at its top, by name.

    Raises:
        DecoupleError: as `evaluate`.
    """
    return {
        name: tuple(value)
        for name, value in evaluate(tree, path).items()
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    }


class _Evaluator:
    """Runs files and keeps what they defined."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._done: dict[str, dict[str, Any]] = {}
        self._running: list[str] = []

    def run(self, path: str) -> dict[str, Any]:
        """The globals of a file."""
        if path in self._done:
            return self._done[path]
        if path in self._running:
            raise DecoupleError(
                f"is loaded by itself, through {', '.join(self._running)}.", path=path
            )
        self._running.append(path)
        try:
            self._done[path] = self._globals(path)
        finally:
            self._running.pop()
        return self._done[path]

    def _globals(self, path: str) -> dict[str, Any]:
        module = _checked(self._tree.read_text(path), path)
        scope = self._builtins(path)
        given = dict(scope)
        try:
            exec(compile(module, path, "exec"), scope)  # noqa: S102 - checked above
        except DecoupleError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the file does wrong
            raise DecoupleError(
                f"fails: {type(error).__name__}: {error}.", path=path, line=_line_of(error, path)
            ) from None
        return {
            name: value
            for name, value in scope.items()
            if name != "__builtins__" and (name not in given or given[name] is not value)
        }

    def _builtins(self, path: str) -> dict[str, Any]:
        functions: dict[str, Any] = {
            function.__name__: function
            for function in (
                all, any, bool, dict, enumerate, int, len, list, max, min, repr, reversed, sorted, str,
                tuple, zip,
            )
        }  # fmt: skip
        scope: dict[str, Any] = {
            "__builtins__": {},
            _FORMAT: _format,
            _MULTIPLY: _multiply,
            "fail": _fail,
            "print": lambda *_arguments: None,
            "range": _range,
            "select": _select,
            "struct": dict,
            "glob": lambda include, exclude=(), **_rest: self._glob(path, include, exclude),
        }
        scope.update(functions)
        scope["load"] = self._loader(path, scope)
        return scope

    def _loader(self, path: str, scope: dict[str, Any]) -> Callable[..., None]:
        def load(label: str, *names: str, **renamed: str) -> None:
            target = _file_of(label, path)
            known: Mapping[str, Any] = {}
            reason = "it is not in this tree"
            if target is not None and self._tree.has(target):
                try:
                    known = self.run(target)
                    reason = "the file does not define it"
                except DecoupleError as error:
                    # Rules for Bazel or Buck: no lists, and more than Starlark's core.
                    reason = str(error)
            for name, original in {**{name: name for name in names}, **renamed}.items():
                # Naming what cannot be known is no error, using it is.
                foreign = _Foreign(f"{original} of {label} cannot be used: {reason}")
                scope[name] = known.get(original, foreign)

        return load

    def _glob(self, path: str, include: list[str], exclude: list[str]) -> list[str]:
        folder = posixpath.dirname(path)
        prefix = f"{folder}/" if folder else ""
        inside = [file.removeprefix(prefix) for file in self._tree.files if file.startswith(prefix)]
        found = [file for file in inside if any(_matches(file, pattern) for pattern in include)]
        return [file for file in found if not any(_matches(file, pattern) for pattern in exclude)]


class _Foreign:
    """A name loaded from a file that cannot be evaluated."""

    def __init__(self, message: str) -> None:
        self._message = message

    def __call__(self, *_arguments: Any, **_named: Any) -> Any:
        raise ValueError(self._message)


def _checked(text: str, path: str) -> ast.Module:
    """Parses a file and makes sure that it is Starlark."""
    try:
        module = ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise DecoupleError(f"is not Starlark: {reason}.", path=path, line=line or 1) from None
    for node in ast.walk(module):
        problem = _problem(node)
        if problem:
            line = getattr(node, "lineno", 1)
            raise DecoupleError(
                f"{problem} is not Starlark; it is not evaluated.", path=path, line=line
            )
    _Guard().visit(module)
    return ast.fix_missing_locations(module)


def _problem(node: ast.AST) -> str:
    """What makes a node more than Starlark; empty where nothing does."""
    if not isinstance(node, _ALLOWED):
        return type(node).__name__
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return "a decorator"
    if isinstance(node, ast.Attribute) and node.attr not in _METHODS:
        return f"'.{node.attr}'"
    name = (
        node.id
        if isinstance(node, ast.Name)
        else node.name
        if isinstance(node, ast.FunctionDef)
        else node.arg
        if isinstance(node, (ast.arg, ast.keyword))
        else None
    )
    if name and (name.startswith("__") or name in (_FORMAT, _MULTIPLY)):
        return f"the name '{name}'"
    return ""


class _Guard(ast.NodeTransformer):
    """Routes the two operations that Python does more with than Starlark through functions."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr != "format":
            return node
        call = ast.Call(ast.Name(_FORMAT, ast.Load()), [node.value], [])
        return ast.copy_location(call, node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mult):
            return node
        call = ast.Call(ast.Name(_MULTIPLY, ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node)


def _format(text: Any) -> Callable[..., str]:
    """The `format` of a string, without Python's access to attributes."""

    def apply(*arguments: Any, **named: Any) -> str:
        if not isinstance(text, str):
            raise TypeError("only strings have format")
        for _, field, spec, _ in string.Formatter().parse(text):
            if (field and not field.replace("_", "a").isalnum()) or spec:
                raise ValueError(f"the field '{{{field}}}' is not Starlark")
        return text.format(*arguments, **named)

    return apply


def _multiply(left: Any, right: Any) -> Any:
    """A product that stays small: a file cannot fill the memory."""
    for value, times in ((left, right), (right, left)):
        if (
            isinstance(value, (str, list, tuple))
            and isinstance(times, int)
            and len(value) * times > _LONGEST
        ):
            raise ValueError("the product is too long")
    return left * right


def _range(*arguments: int) -> range:
    result = range(*arguments)
    if len(result) > _LONGEST:
        raise ValueError("the range is too long")
    return result


def _fail(*arguments: Any) -> None:
    raise ValueError("fail: " + " ".join(map(str, arguments)))


def _select(choices: dict[str, Any], **_named: Any) -> Any:
    """The default of a select: which configuration is built is not known here."""
    if "DEFAULT" in choices:
        return choices["DEFAULT"]
    return choices["//conditions:default"]


def _file_of(label: str, path: str) -> str | None:
    """The path of the file that a label of the same repository names; None for other repositories."""
    if label.startswith(":"):
        return posixpath.join(posixpath.dirname(path), label[1:])
    if label.startswith("//"):
        package, _, name = label[2:].partition(":")
        return posixpath.join(package, name)
    return None


def _matches(file: str, pattern: str) -> bool:
    """Bazel's glob: "*" stays in a folder, "**" does not."""
    return _match_parts(file.split("/"), pattern.split("/"))


def _match_parts(parts: list[str], patterns: list[str]) -> bool:
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return any(_match_parts(parts[skip:], patterns[1:]) for skip in range(len(parts) + 1))
    if not parts or not fnmatch.fnmatchcase(parts[0], patterns[0]):
        return False
    return _match_parts(parts[1:], patterns[1:])


def _line_of(error: BaseException, path: str) -> int:
    """The last line of the file that an exception went through."""
    line = 1
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
