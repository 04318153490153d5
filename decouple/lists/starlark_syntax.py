"""The part of Python's syntax that Starlark has, and what a statement becomes before it may run."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

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
_OPERATE = "_operate"
_OPERATE_IN_PLACE = "_operate_in_place"
_CALL = "_call"
_FORMAT = "_format"
_SIZED = "_sized"
_STEP = "_step"
_UNREAD = "_unread"
HELPERS = frozenset({_OPERATE, _OPERATE_IN_PLACE, _CALL, _FORMAT, _SIZED, _STEP, _UNREAD})
"""Names that a prepared statement calls, and that no file may have."""

Report = Callable[[str, int], None]
"""Takes what is not Starlark, and its line."""


def names_set(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top of a file defines or changes."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    names = [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        # list.append() and its like change what they are called on.
        names += [node.id for node in ast.walk(call.func.value) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(names))


def names_used(statement: ast.stmt) -> set[str]:
    """The names that a statement reads, those in its functions included."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def prepared(statement: ast.stmt, report: Report) -> ast.stmt | None:
    """A statement that may run: what it does is counted, and what is not Starlark in it stops it.

    Args:
        statement: of the top of a file.
        report: called for each statement in it that is not Starlark.

    Returns:
        None where the whole statement is not Starlark.
    """
    sifted = _sifted(statement, report)
    if sifted is None:
        return None
    guarded = _Guard().visit(sifted)
    return ast.fix_missing_locations(guarded) if isinstance(guarded, ast.stmt) else None


def _sifted(statement: ast.stmt, report: Report) -> ast.stmt | None:
    """A statement without those in it that are not Starlark."""
    if not isinstance(statement, (ast.FunctionDef, ast.If, ast.For)):
        nodes: Iterator[ast.AST] = ast.walk(statement)
        bodies: tuple[str, ...] = ()
    else:
        bodies = ("body",) if isinstance(statement, ast.FunctionDef) else ("body", "orelse")
        nodes = _head(statement, bodies)
    for node in nodes:
        problem = _problem(node)
        if problem:
            line = getattr(node, "lineno", statement.lineno)
            report(f"{problem} is not Starlark; it is not evaluated", line)
            return None
    if bodies:
        statement = copy.copy(statement)
        for name in bodies:
            inner: Sequence[ast.stmt] = getattr(statement, name)
            setattr(statement, name, [_sifted(one, report) or _stop(one) for one in inner])
    return statement


def _head(statement: ast.stmt, bodies: Sequence[str]) -> Iterator[ast.AST]:
    """The nodes of a statement that are in none of its bodies."""
    yield statement
    for name, value in ast.iter_fields(statement):
        for child in [] if name in bodies else value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from ast.walk(child)


def _stop(statement: ast.stmt) -> ast.stmt:
    """What takes the place of a statement that is not Starlark: it says so when it is reached."""
    call = ast.Call(ast.Name(_UNREAD, ast.Load()), [ast.Constant(statement.lineno)], [])
    return ast.copy_location(ast.Expr(call), statement)


def _problem(node: ast.AST) -> str:
    """What makes a node more than Starlark; empty where nothing does."""
    if not isinstance(node, _ALLOWED):
        return type(node).__name__
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return "a decorator"
    if isinstance(node, ast.Attribute) and node.attr not in _METHODS:
        return f"'.{node.attr}'"
    if isinstance(node, (ast.List, ast.Tuple)) and any(
        isinstance(element, ast.Starred) for element in node.elts
    ):
        return "'*' in a list"
    if isinstance(node, ast.Dict) and None in node.keys:
        return "'**' in a mapping"
    if isinstance(node, ast.For) and node.orelse:
        return "'else' of a loop"
    name = (
        node.id
        if isinstance(node, ast.Name)
        else node.name
        if isinstance(node, ast.FunctionDef)
        else node.arg
        if isinstance(node, (ast.arg, ast.keyword))
        else None
    )
    if name and (name.startswith("__") or name in HELPERS):
        return f"the name '{name}'"
    return ""


class _Guard(ast.NodeTransformer):
    """Routes what may take long, or do more in Python than in Starlark, through the helpers."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return _helper(_FORMAT, node, node.value) if node.attr == "format" else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _helper(_OPERATE, node, _operator(node.op), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        before = copy.deepcopy(node.target)
        before.ctx = ast.Load()
        value = _helper(_OPERATE_IN_PLACE, node, _operator(node.op), before, node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        node.left = _helper(_SIZED, node.left, node.left)
        node.comparators = [_helper(_SIZED, side, side) for side in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        call = ast.Call(ast.Name(_CALL, ast.Load()), [node.func, *node.args], node.keywords)
        return ast.copy_location(call, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Slice):
            node.value = _helper(_SIZED, node.value, node.value)
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._display(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return self._display(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        return self._display(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.ifs.insert(0, _helper(_STEP, node.target))
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(_helper(_STEP, node)), node))
        return node

    def _display(self, node: ast.expr) -> ast.AST:
        self.generic_visit(node)
        stored = isinstance(getattr(node, "ctx", None), ast.Store)
        return node if stored else _helper(_SIZED, node, node)


def _operator(operator: ast.operator) -> ast.expr:
    return ast.Constant(type(operator).__name__)


def _helper(name: str, place: ast.AST, *arguments: ast.expr) -> ast.expr:
    call = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
    return ast.copy_location(call, place)
