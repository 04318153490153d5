"""Evaluates upstream's .bzl files: the part of Starlark that lists are written in.

Starlark is a subset of Python, so a file is parsed by Python. Each statement's syntax tree is checked against what Starlark
allows before it runs (starlark_syntax.py), and it runs with a handful of names, none of which reaches the machine, and a
number of steps (starlark_limits.py). A statement that is not Starlark or fails is reported, with all that is made of the
names that it sets, and the next one runs.
"""

from __future__ import annotations

import ast
import fnmatch
import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from decouple import python_syntax
from decouple.errors import DecoupleError
from decouple.gaps import STRICT, Gap, Gaps, dependents
from decouple.lists import starlark_syntax
from decouple.lists.starlark_limits import Budget, Exhausted, limited_range
from decouple.python_syntax import Lost
from decouple.tree import Tree


def evaluate(tree: Tree, path: str) -> dict[str, Any]:
    """Evaluates a .bzl file of the tree.

    Args:
        tree: the tree; `load` and `glob` look there. What is not Starlark, or fails, is reported to its gaps.
        path: the file.

    Returns:
        The file's global names.
    """
    return _Evaluator(tree).run(path)


def evaluate_text(text: str, name: str) -> dict[str, Any]:
    """Evaluates Starlark that is in no tree.

    Args:
        text: the file's text; it may load nothing.
        name: the file, for messages.

    Returns:
        Its global names. A function among them may be called, and takes a number of steps at each call.

    Raises:
        DecoupleError: it is not Starlark, or fails; it names the line.
    """
    file = _File(name, STRICT, {})
    return {
        name: file.limited(value) if callable(value) else value
        for name, value in file.run(text).items()
    }


def lists(tree: Tree, path: str) -> dict[str, tuple[str, ...]]:
    """The lists of strings that a .bzl file defines at its top, by name; see `evaluate`."""
    return {
        name: tuple(value)
        for name, value in evaluate(tree, path).items()
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    }


class _Evaluator:
    """Runs the files of a tree and keeps what they defined."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._done: dict[str, dict[str, Any]] = {}
        self._running: list[str] = []

    def run(self, path: str) -> dict[str, Any]:
        """The globals of a file of the tree."""
        if path in self._done:
            return self._done[path]
        if path in self._running:
            raise DecoupleError(
                f"is loaded by itself, through {', '.join(self._running)}.", path=path
            )
        self._running.append(path)
        try:
            # What else is loaded is rules for Bazel or Buck: no lists, and more than Starlark's core.
            gaps = self._tree.gaps if len(self._running) == 1 else STRICT
            scope: dict[str, Any] = {}
            scope["glob"] = lambda include, exclude=(), **_rest: self._glob(path, include, exclude)
            file = _File(path, gaps, scope)
            scope["load"] = self._loader(path, file)
            self._done[path] = file.run(self._tree.reporting_to(gaps).read_text(path))
        finally:
            self._running.pop()
        return self._done[path]

    def _loader(self, path: str, file: _File) -> Callable[..., None]:
        def load(label: str, *names: str, **renamed: str) -> None:
            target = _file_of(label, path)
            known: Mapping[str, Any] = {}
            reason = "it is not in this tree"
            if target is not None and self._tree.has(target):
                try:
                    known = self.run(target)
                    reason = "the file does not define it"
                except DecoupleError as error:
                    reason = str(error)
            for name, original in {**{name: name for name in names}, **renamed}.items():
                # Naming what cannot be known is no error, using it is.
                message = f"{original} of {label} cannot be used: {reason}"
                file.scope[name] = known.get(original, _Unknown(message))

        return load

    def _glob(self, path: str, include: list[str], exclude: list[str]) -> list[str]:
        folder = posixpath.dirname(path)
        prefix = f"{folder}/" if folder else ""
        inside = [file.removeprefix(prefix) for file in self._tree.files if file.startswith(prefix)]
        found = [file for file in inside if any(_matches(file, pattern) for pattern in include)]
        return [file for file in found if not any(_matches(file, pattern) for pattern in exclude)]


class _Unknown:
    """A name that stands for something that could not be read."""

    def __init__(self, message: str) -> None:
        self.message = message

    def _use(self, *_arguments: Any, **_named: Any) -> Any:
        raise ValueError(self.message)

    # Whatever it is used for.
    __call__ = __getitem__ = __iter__ = __contains__ = __len__ = __bool__ = _use


class _File:
    """Runs one file, statement by statement."""

    def __init__(self, path: str, gaps: Gaps, names: dict[str, Any]) -> None:
        self._path = path
        self._gaps = gaps
        self._given = names
        self._budget = Budget()
        self._uses: dict[str, set[str]] = {}
        self._now: tuple[int, tuple[str, ...]] = (1, ())
        self.scope: dict[str, Any] = {}

    def run(self, text: str) -> dict[str, Any]:
        """The globals of the file."""
        self.scope.update(self._builtins())
        given = dict(self.scope)
        pieces = python_syntax.parse(text)
        for piece in pieces:
            if not isinstance(piece, Lost):
                used = starlark_syntax.names_used(piece)
                for name in starlark_syntax.names_set(piece):
                    self._uses.setdefault(name, set()).update(used - {name})
        for number, piece in enumerate(pieces):
            try:
                self._budget.begin()
                self._run(piece)
            except Exhausted:
                self._give_up(pieces[number:])
                break
        return {
            name: value
            for name, value in self.scope.items()
            if not isinstance(value, _Unknown)
            and name != "__builtins__"
            and (name not in given or given[name] is not value)
        }

    def limited(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the file that may take as many steps at each call as a statement."""

        def call(*arguments: Any) -> Any:
            self._budget.begin()
            return function(*arguments)

        return call

    def _run(self, piece: ast.stmt | Lost) -> None:
        if isinstance(piece, Lost):
            lines = f"lines {piece.line} to {piece.last_line}"
            self._now = piece.problem_line, piece.names
            self._lose(f"is not Starlark: {piece.problem}", lines)
            return
        self._now = piece.lineno, tuple(starlark_syntax.names_set(piece))
        try:
            statement = starlark_syntax.prepared(piece, self._report)
            if statement is None:
                self._forget("it could not be read")
                return
            module = ast.Module([statement], [])
            exec(compile(module, self._path, "exec"), self.scope)  # noqa: S102 - checked above
        except (DecoupleError, Exhausted):
            raise
        except Exception as error:  # noqa: BLE001 - whatever the file does wrong
            line = _line_of(error, self._path) or piece.lineno
            self._lose(f"fails: {type(error).__name__}: {error}", "the statement", line)

    def _report(self, problem: str, line: int) -> None:
        self._add(problem, "the statement", line)

    def _lose(self, problem: str, skipped: str, line: int = 0) -> None:
        """Reports the current statement; who asks for the names that it sets hears of it."""
        self._add(problem, skipped, line)
        self._forget(problem)

    def _forget(self, problem: str) -> None:
        line, names = self._now
        for name in names:
            message = f"{name} is not known, see line {line}: {problem}"
            self.scope.setdefault(name, _Unknown(message))

    def _add(self, problem: str, skipped: str, line: int = 0) -> None:
        first, names = self._now
        affects = tuple(sorted(dependents(names, self._uses)))
        self._gaps.add(Gap(self._path, line or first, problem, skipped, affects))

    def _give_up(self, pieces: Iterable[ast.stmt | Lost]) -> None:
        names: list[str] = []
        line = 0
        for piece in pieces:
            line = line or (piece.line if isinstance(piece, Lost) else piece.lineno)
            names += piece.names if isinstance(piece, Lost) else starlark_syntax.names_set(piece)
        self._now = line, tuple(names)
        self._lose("evaluating the file takes too many steps", "the rest of the file")

    def _operator(self, of: Callable[[str, Any, Any], Any]) -> Callable[[str, Any, Any], Any]:
        """An operator; adding what is not known adds nothing, and is reported."""

        def operate(name: str, left: Any, right: Any) -> Any:
            for unknown, other in ((right, left), (left, right)):
                if isinstance(unknown, _Unknown):
                    if name != "Add" or not isinstance(other, list):
                        raise ValueError(unknown.message)
                    self._add(unknown.message, "what it would add")
                    return of(name, other, [])
            return of(name, left, right)

        return operate

    def _unread(self, line: int) -> None:
        raise ValueError(f"it reaches line {line}, which is not Starlark")

    def _builtins(self) -> dict[str, Any]:
        functions: dict[str, Any] = {
            function.__name__: function
            for function in (
                all, any, bool, dict, enumerate, int, len, list, max, min, repr, reversed, sorted, str,
                tuple, zip,
            )
        }  # fmt: skip
        return {
            "__builtins__": {},
            "_operate": self._operator(self._budget.operate),
            "_operate_in_place": self._operator(self._budget.operate_in_place),
            "_call": self._budget.call,
            "_format": self._budget.formatter,
            "_sized": self._budget.sized,
            "_step": lambda: self._budget.spend(1),
            "_unread": self._unread,
            "fail": _fail,
            "print": lambda *_arguments: None,
            "range": limited_range,
            "select": _select,
            "struct": dict,
            **self._given,
            **functions,
        }


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
    if patterns[:2] == ["**", "**"]:
        return _match_parts(parts, patterns[1:])
    if patterns[0] == "**":
        return any(_match_parts(parts[skip:], patterns[1:]) for skip in range(len(parts) + 1))
    if not parts or not fnmatch.fnmatchcase(parts[0], patterns[0]):
        return False
    return _match_parts(parts[1:], patterns[1:])


def _line_of(error: BaseException, path: str) -> int:
    """The last line of the file that an exception went through; 0 where it went through none."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
