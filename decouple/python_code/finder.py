"""Finds the places of a Python module that name a device, with the function around them."""

from __future__ import annotations

import ast
import bisect
import dataclasses
import re
from collections.abc import Sequence

from decouple import python_syntax
from decouple.gaps import STRICT, Gap, Gaps
from decouple.python_syntax import Lost
from decouple.rules.load import PythonRule


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A place that a rule matched."""

    rule: str
    first_line: int
    last_line: int
    text: str
    """The dotted name, or the string in quotes."""
    symbol: str
    """The function or class around it, such as "Stream.wait"; empty at the top of the module."""


def find(
    text: str,
    rules: Sequence[PythonRule],
    words: Sequence[str],
    path: str,
    gaps: Gaps = STRICT,
) -> list[Place]:
    """The places that rules match; one for each rule, line and text.

    Args:
        text: a Python module.
        rules: the rules.
        words: in lower case; lines that have none of them are not looked at.
        path: the file, for messages.
        gaps: takes statements that are not Python.
    """
    lines = _lines_with(text.lower(), words)
    if not lines:
        return []
    finder = _Finder(rules, lines)
    for statement in python_syntax.parse(text):
        if isinstance(statement, Lost):
            problem = f"is not Python: {statement.problem}"
            skipped = f"lines {statement.line} to {statement.last_line}"
            gaps.add(Gap(path, statement.problem_line, problem, skipped, (path,)))
            continue
        try:
            finder.visit_top(statement)
        except RecursionError:
            problem = "the statement is nested too deep"
            gaps.add(Gap(path, statement.lineno, problem, "the statement", (path,)))
    return sorted(
        finder.places.values(), key=lambda place: (place.first_line, place.rule, place.text)
    )


def _lines_with(text: str, words: Sequence[str]) -> list[int]:
    """The lines in which one of the words stands."""
    lines: list[int] = []
    line, position = 1, 0
    for match in re.finditer("|".join(map(re.escape, words)), text):
        line += text.count("\n", position, match.start())
        position = match.start()
        if not lines or lines[-1] != line:
            lines.append(line)
    return lines


class _Finder:
    """Walks the parts of a module that have lines of interest."""

    def __init__(self, rules: Sequence[PythonRule], lines: Sequence[int]) -> None:
        self._dotted = [rule for rule in rules if rule.form == "dotted"]
        self._imports = [rule for rule in rules if rule.form in ("dotted", "import")]
        self._attributes = [rule for rule in rules if rule.form == "attribute"]
        self._strings = [rule for rule in rules if rule.form == "string"]
        self._lines = lines
        self.places: dict[tuple[str, int, str], Place] = {}

    def visit_top(self, statement: ast.stmt) -> None:
        """Looks at a statement at the top of the module."""
        self._visit_if_of_interest(statement, "")

    def visit(self, node: ast.AST, symbol: str) -> None:
        """Looks at a node and at what is in it."""
        if isinstance(node, (ast.Attribute, ast.Name)):
            self._chain(node, symbol)
            return
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self._string(node, symbol)
            return
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node, symbol)
            return
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = f"{symbol}.{node.name}" if symbol else node.name
            for inside in ast.iter_child_nodes(node):
                self._visit_if_of_interest(inside, inner)
            return
        for child in ast.iter_child_nodes(node):
            self._visit_if_of_interest(child, symbol)

    def _visit_if_of_interest(self, node: ast.AST, symbol: str) -> None:
        first = getattr(node, "lineno", 0)
        if first:
            # A decorated function starts above its own line.
            decorators = getattr(node, "decorator_list", ())
            if decorators:
                first = decorators[0].lineno
            position = bisect.bisect_left(self._lines, first)
            last = getattr(node, "end_lineno", first)
            if position == len(self._lines) or self._lines[position] > last:
                return
        self.visit(node, symbol)

    def _chain(self, node: ast.Attribute | ast.Name, symbol: str) -> None:
        """Handles a chain of names as a whole, and what the chain starts from."""
        names: list[str] = []
        below: ast.expr = node
        while isinstance(below, ast.Attribute):
            names.append(below.attr)
            below = below.value
        if isinstance(below, ast.Name):
            names.append(below.id)
            dotted = ".".join(reversed(names))
            for rule in self._dotted:
                if rule.pattern.fullmatch(dotted):
                    self._add(rule, node, dotted, symbol)
                    return
        for name in names if not isinstance(below, ast.Name) else names[:-1]:
            for rule in self._attributes:
                if rule.pattern.fullmatch(name):
                    self._add(rule, node, f".{name}", symbol)
        if not isinstance(below, ast.Name):
            self._visit_if_of_interest(below, symbol)

    def _string(self, node: ast.Constant, symbol: str) -> None:
        for rule in self._strings:
            if rule.pattern.fullmatch(node.value):
                self._add(rule, node, f'"{node.value}"', symbol)

    def _import(self, node: ast.Import | ast.ImportFrom, symbol: str) -> None:
        module = getattr(node, "module", None)
        relative = "." * getattr(node, "level", 0)
        for alias in node.names:
            dotted = f"{relative}{module}.{alias.name}" if module else f"{relative}{alias.name}"
            for rule in self._imports:
                if rule.pattern.fullmatch(dotted):
                    self._add(rule, node, dotted, symbol)
                    break

    def _add(self, rule: PythonRule, node: ast.AST, text: str, symbol: str) -> None:
        first = getattr(node, "lineno", 1)
        last = getattr(node, "end_lineno", first)
        self.places.setdefault((rule.id, first, text), Place(rule.id, first, last, text, symbol))
