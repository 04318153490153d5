"""Runs the part of CMake's language with which upstream collects its sources.

Commands that compute lists are executed; commands that find, install or generate are passed over. What comes out is the
sources of each target of a configuration, and the names of the lists that each source came from. A command that cannot be
run is reported to the tree's gaps, with what it would have set and what is made of that, and the next one runs.
"""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from decouple.errors import DecoupleError
from decouple.gaps import Gap, Gaps, dependents
from decouple.lists import cmake_condition, cmake_globs, cmake_strings
from decouple.lists.cmake_blocks import REFERENCE, Block, Item, affected, nest, substitute, walk
from decouple.lists.cmake_names import COMMANDS
from decouple.lists.cmake_syntax import Argument, Command, commands, names_set
from decouple.tree import Tree

# Paths in CMake are absolute: these stand for the tree and for the build folder.
SOURCE = "/source"
BINARY = "/build"

_TARGET_COMMANDS = frozenset(
    {"add_library", "add_executable", "cuda_add_library", "hip_add_library", "target_sources"}
    | {"torch_cuda_based_add_library"}
)
_TARGET_KEYWORDS = frozenset(
    [
        "STATIC",
        "SHARED",
        "MODULE",
        "OBJECT",
        "INTERFACE",
        "IMPORTED",
        "ALIAS",
        "EXCLUDE_FROM_ALL",
        "PUBLIC",
        "PRIVATE",
        "GLOBAL",
        "UNKNOWN",
        "WIN32",
        "MACOSX_BUNDLE",
    ]
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_WHOLE_REFERENCE = re.compile(r"\$\{[^${}]*\}\Z")
_PLACEHOLDER = re.compile(r"@(\w+)@")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_DEEPEST = 100
# Upstream's own run takes 80,000 steps.
_MOST_STEPS = 500_000
_MOST_ROUNDS = 20_000
_MOST_ARGUMENTS = 100_000
_GLOB_STEPS = 300


@dataclasses.dataclass(frozen=True, slots=True)
class Configuration:
    """What a run of CMake collected. Paths are relative to the tree."""

    targets: Mapping[str, tuple[str, ...]]
    """The sources of each target that are files of the tree."""
    order: Mapping[str, tuple[str, ...]]
    """What each target names, in the order in which it is linked; files that a step of the build writes are among them."""
    lists: Mapping[str, tuple[str, ...]]
    """For each file, the variables and file lists that named it."""
    globs: Mapping[str, tuple[str, ...]]
    """For each variable of a file(GLOB …), the files that it found."""
    folders: Mapping[str, tuple[str, ...]]
    """For each such variable, the folders that it looked in: a new file there is found by the next run."""

    def sources(self) -> frozenset[str]:
        """The sources of all targets."""
        return frozenset(path for paths in self.targets.values() for path in paths)


@dataclasses.dataclass(frozen=True, slots=True)
class _Routine:
    """A function or macro of the language."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Item, ...]
    path: str
    is_macro: bool


class _Exhausted(Exception):
    """The run has taken all the steps that it has."""


class _Return(Exception):
    """Leaves a function or a file."""


class _Break(Exception):
    """Leaves a loop."""


class _Continue(Exception):
    """Goes on with the next round of a loop."""


def configure(
    tree: Tree,
    files: Sequence[str],
    definitions: Mapping[str, str],
    filelists: Mapping[str, Sequence[str]],
    optional: Sequence[str] = ("third_party",),
    *,
    partial: bool = False,
) -> Configuration:
    """Runs CMake files of a tree, one after another, in one configuration.

    What is not CMake, adds a folder that is not there, or stops with a fatal error is reported to the tree's gaps.

    Args:
        tree: the tree.
        files: CMakeLists.txt files to start from; what they add and include in the tree follows.
        definitions: variables that are set before, such as USE_CUDA; values as in CMake.
        filelists: the lists of build_variables.bzl, for `append_filelist`.
        optional: folders of the tree that may be absent, such as those of submodules.
        partial: whether other files than these define commands that they use: what nothing defines is passed over.
    """
    interpreter = _Interpreter(tree, definitions, filelists, optional, partial)
    interpreter.configure(files)
    return Configuration(
        {name: tuple(sorted(paths)) for name, paths in sorted(interpreter.targets.items())},
        {name: tuple(paths) for name, paths in sorted(interpreter.order.items())},
        {path: tuple(sorted(names)) for path, names in sorted(interpreter.lists.items())},
        {name: tuple(sorted(paths)) for name, paths in sorted(interpreter.globs.items())},
        {name: tuple(sorted(paths)) for name, paths in sorted(interpreter.folders.items())},
    )


class _Interpreter:
    """The state of a run: variables, routines, targets."""

    def __init__(
        self,
        tree: Tree,
        definitions: Mapping[str, str],
        filelists: Mapping[str, Sequence[str]],
        optional: Sequence[str],
        partial: bool,
    ) -> None:
        self._tree = tree
        self._partial = partial
        self._optional = tuple(f"{folder}/" for folder in optional)
        self._filelists = filelists
        self._scopes: list[dict[str, str]] = [
            {
                "CMAKE_SOURCE_DIR": SOURCE,
                "PROJECT_SOURCE_DIR": SOURCE,
                "Torch_SOURCE_DIR": SOURCE,
                "CMAKE_BINARY_DIR": BINARY,
                "PROJECT_BINARY_DIR": BINARY,
                **definitions,
            }
        ]
        self._routines: dict[str, _Routine] = {}
        self._parsed: dict[str, tuple[Item, ...]] = {}
        self._copies: dict[str, str] = {}
        self._running: list[str] = []
        self._path = ""
        self._depth = 0
        self._loops = 0
        self._steps = 0
        self._lost: list[Gap] = []
        self.targets: dict[str, set[str]] = {}
        self.order: dict[str, dict[str, None]] = {}
        self.lists: dict[str, set[str]] = {}
        self.globs: dict[str, set[str]] = {}
        self.folders: dict[str, set[str]] = {}
        self._handlers: dict[str, Callable[[Command, list[str]], None]] = {
            "set": self._set,
            "unset": self._unset,
            "option": self._option,
            "list": self._list,
            "string": self._string,
            "file": self._file,
            "math": self._math,
            "message": self._message,
            "include": self._include,
            "add_subdirectory": self._add_subdirectory,
            "append_filelist": self._append_filelist,
            "configure_file": self._configure_file,
            "execute_process": self._execute_process,
            "get_target_property": self._get_target_property,
            "find_library": self._not_found,
            "find_program": self._not_found,
            "find_path": self._not_found,
            "get_filename_component": self._get_filename_component,
        }

    def configure(self, files: Sequence[str]) -> None:
        """Runs some files, and reports what could not be run."""
        try:
            for path in files:
                self.subdirectory(path)
        except _Exhausted as error:
            self._path = str(error)
            self._add(f"the run takes more than {_MOST_STEPS} steps", 0, "the rest of it", ())
        # What is made of what, as far as it can be seen without running it.
        uses: dict[str, set[str]] = {}
        for items in self._parsed.values():
            for command in walk(items):
                used = {
                    match["name"] or ""
                    for argument in command.arguments
                    for match in REFERENCE.finditer(argument.text)
                }
                for name in names_set(command):
                    uses.setdefault(name, set()).update(used - {name})
        for gap in self._lost:
            made = self.targets.keys() & dependents(gap.affects, uses)
            affects = tuple(sorted({*gap.affects, *made}))
            self._tree.gaps.add(dataclasses.replace(gap, affects=affects))

    def _add(self, problem: str, line: int, skipped: str, affects: Iterable[str]) -> None:
        """Reports what could not be run."""
        gap = Gap(self._path, line, problem, skipped, tuple(sorted(set(affects))))
        if self._tree.gaps.strict:
            self._tree.gaps.add(gap)
        self._lost.append(gap)

    def _spend(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise _Exhausted(self._path)

    # --- files -------------------------------------------------------------------------------

    def subdirectory(self, path: str) -> None:
        """Runs a CMakeLists.txt in a scope of its own."""
        if path in self._running:
            return
        self._running.append(path)
        folder = posixpath.dirname(path)
        self._scopes.append(dict(self._variables))
        self._variables["CMAKE_CURRENT_SOURCE_DIR"] = _join(SOURCE, folder)
        self._variables["CMAKE_CURRENT_BINARY_DIR"] = _join(BINARY, folder)
        try:
            self._run_file(path)
        finally:
            self._scopes.pop()
            self._running.pop()

    def _items(self, path: str) -> tuple[Item, ...]:
        """What is in a file, as CMake reads it: without a byte order mark."""
        if path not in self._parsed:
            gaps = Gaps(strict=self._tree.gaps.strict)
            folder = posixpath.dirname(path)
            text = self._tree.reporting_to(gaps).read_text(path, (f"{folder}/",))
            found = commands(text.removeprefix("\ufeff"), path, gaps)
            self._parsed[path] = nest(found, path, gaps)
            self._lost += gaps.all()
        return self._parsed[path]

    def _run_file(self, path: str) -> None:
        items = self._items(path)
        before = self._path, self._variables.get("CMAKE_CURRENT_LIST_DIR")
        self._path = path
        self._variables["CMAKE_CURRENT_LIST_DIR"] = _join(SOURCE, posixpath.dirname(path))
        try:
            self._run_all(items)
        finally:
            self._path, folder = before
            if folder is not None:
                self._variables["CMAKE_CURRENT_LIST_DIR"] = folder

    # --- control flow ------------------------------------------------------------------------

    def _run_all(self, items: Sequence[Item]) -> None:
        """Runs a file or a function: return() leaves it, and no loop goes on outside of it."""
        loops, self._loops = self._loops, 0
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise ValueError("it includes or calls itself without end")
            self._run(items)
        except _Return:
            pass
        finally:
            self._depth -= 1
            self._loops = loops

    def _run(self, items: Sequence[Item]) -> None:
        for item in items:
            head = item.head if isinstance(item, Block) else item
            try:
                self._spend()
                if isinstance(item, Block):
                    self._run_block(item)
                else:
                    self._run_command(item)
            except (_Return, _Break, _Continue, _Exhausted):
                raise
            except DecoupleError as error:
                if self._tree.gaps.strict:
                    raise
                self._add(error.message.rstrip("."), error.line, "the command", affected([item]))
            except Exception as error:  # noqa: BLE001 - whatever the file does wrong
                problem = f"{head.name}() cannot be run: {str(error) or type(error).__name__}"
                self._add(problem, head.line, "the command", affected([item]))

    def _run_block(self, block: Block) -> None:
        match block.head.name:
            case "if":
                for command, body in block.bodies:
                    if command.name == "else" or self._holds(command, block):
                        self._run(body)
                        return
            case "foreach":
                self._foreach(block)
            case "while":
                for _ in range(_MOST_ROUNDS):
                    if not self._holds(block.head, block) or not self._round(block.bodies[0][1]):
                        return
                raise self._error("this loop does not end", block.head)
            case _:
                self._define(block)

    def _round(self, body: Sequence[Item]) -> bool:
        """Runs a loop's body once; returns whether the loop goes on."""
        self._spend()
        self._loops += 1
        try:
            self._run(body)
        except _Continue:
            return True
        except _Break:
            return False
        finally:
            self._loops -= 1
        return True

    def _foreach(self, block: Block) -> None:
        words = self._expand(block.head.arguments)
        if not words:
            raise self._error("foreach needs a variable", block.head)
        variable = words[0]
        rest: Iterable[str] = words[1:]
        if words[1:2] == ["RANGE"]:
            numbers = [int(word) for word in words[2:]]
            first, last = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
            step = numbers[2] if len(numbers) > 2 else 1
            rest = map(str, range(first, last + 1, step))
        elif words[1:2] == ["IN"]:
            rest = self._in_values(words[2:])
        before = self._variables.get(variable)
        for rounds, word in enumerate(rest):
            if rounds > _MOST_ROUNDS:
                raise self._error("this loop does not end", block.head)
            self._variables[variable] = word
            if not self._round(block.bodies[0][1]):
                break
        if before is None:
            self._variables.pop(variable, None)
        else:
            self._variables[variable] = before

    def _in_values(self, words: Sequence[str]) -> list[str]:
        """The values of `foreach(x IN LISTS a b ITEMS c d)`."""
        values: list[str] = []
        mode = ""
        for word in words:
            if word in ("LISTS", "ITEMS"):
                mode = word
            elif mode == "LISTS":
                values += _split(self._variables.get(word, ""))
            else:
                values.append(word)
        return values

    def _define(self, block: Block) -> None:
        words = self._expand(block.head.arguments)
        name = words[0].lower()
        self._routines[name] = _Routine(
            name, tuple(words[1:]), block.bodies[0][1], self._path, block.head.name == "macro"
        )

    def _holds(self, command: Command, block: Block) -> bool:
        """Whether a condition holds; one that cannot be read does not."""
        try:
            return cmake_condition.holds(
                [piece for argument in command.arguments for piece in self._pieces(argument)],
                self._variables,
                targets=frozenset(self.targets),
                commands=frozenset(self._routines),
                exists=self._exists,
            )
        except (ValueError, RecursionError) as error:
            problem = f"the condition cannot be read: {error}"
            self._add(problem, command.line, "what it is about", affected([block]))
            return False

    def _pieces(self, argument: Argument) -> list[Argument]:
        """An argument of if() with its references replaced; unquoted ones split at semicolons."""
        if argument.raw:
            return [argument]
        value = self._value(argument.text)
        if argument.quoted:
            return [Argument(value, quoted=True)]
        words = _split(value)
        # What comes from a reference is a value, unless it is a constant or names a variable.
        return [Argument(word, quoted=False) for word in words]

    def _exists(self, path: str) -> bool:
        source = self._source(path)
        if source is None:
            return False
        return self._tree.has(source) or source in self._tree.folders

    # --- commands ----------------------------------------------------------------------------

    def _run_command(self, command: Command) -> None:
        name = command.name
        if len(command.arguments) > _MOST_ARGUMENTS:
            raise ValueError(f"it has more than {_MOST_ARGUMENTS} arguments")
        if name in ("return", "break", "continue"):
            if name != "return" and not self._loops:
                raise ValueError("it stands outside of a loop")
            raise {"return": _Return, "break": _Break, "continue": _Continue}[name]
        handler = self._handlers.get(name)
        if handler is not None:
            try:
                handler(command, self._expand(command.arguments))
            except IndexError:
                raise ValueError("it has too few arguments") from None
        elif name in self._routines:
            self._call(self._routines[name], command)
        elif name in _TARGET_COMMANDS:
            self._target(command)
        elif name not in COMMANDS and not self._partial:
            raise ValueError("CMake has no such command, and no file that was read defines it")

    def _call(self, routine: _Routine, command: Command) -> None:
        if self._depth >= _DEEPEST:
            raise self._error(f"{routine.name}() calls itself without end", command)
        self._spend(len(self._variables) // 100)
        arguments = self._expand(command.arguments)
        given = {
            **dict(zip(routine.parameters, arguments, strict=False)),
            "ARGC": str(len(arguments)),
            "ARGV": ";".join(arguments),
            "ARGN": ";".join(arguments[len(routine.parameters) :]),
            **{f"ARGV{number}": argument for number, argument in enumerate(arguments)},
        }
        caller = self._path
        self._path = routine.path
        try:
            if routine.is_macro:
                # A macro's references are replaced in its text; it runs in the caller's scope.
                self._depth += 1
                try:
                    self._run(substitute(routine.body, given))
                finally:
                    self._depth -= 1
            else:
                self._scopes.append({**self._variables, **given})
                try:
                    self._run_all(routine.body)
                finally:
                    self._scopes.pop()
        finally:
            self._path = caller

    def _set(self, command: Command, words: list[str]) -> None:
        name, values = words[0], words[1:]
        if name.startswith("ENV{"):
            return
        scope = self._variables
        if values[-1:] == ["PARENT_SCOPE"]:
            values = values[:-1]
            scope = self._scopes[-2] if len(self._scopes) > 1 else scope
        if "CACHE" in values:
            if name in scope:
                return
            values = values[: values.index("CACHE")]
        self._note(name, command.arguments[1:])
        if values:
            scope[name] = ";".join(values)
        elif len(command.arguments) > 1 and command.arguments[1].quoted:
            scope[name] = ""
        else:
            scope.pop(name, None)

    def _unset(self, _command: Command, words: list[str]) -> None:
        parent = words[-1] == "PARENT_SCOPE" and len(self._scopes) > 1
        (self._scopes[-2] if parent else self._variables).pop(words[0], None)

    def _option(self, _command: Command, words: list[str]) -> None:
        self._variables.setdefault(words[0], words[2] if len(words) > 2 else "OFF")

    def _list(self, command: Command, words: list[str]) -> None:
        operation, name = words[0], words[1]
        if operation in ("APPEND", "PREPEND"):
            self._note(name, command.arguments[2:])
        cmake_strings.list_command(self._variables, operation, name, words[2:])

    def _string(self, _command: Command, words: list[str]) -> None:
        cmake_strings.string_command(self._variables, words)

    def _math(self, _command: Command, words: list[str]) -> None:
        if not re.fullmatch(r"[0-9\s()+*%/<>&|^~-]+", words[2]):
            raise ValueError(f"'{words[2]}' is no expression")
        self._variables[words[1]] = str(cmake_strings.integer(words[2]))

    def _message(self, command: Command, words: list[str]) -> None:
        if words[:1] == ["FATAL_ERROR"]:
            raise self._error("CMake stops here: " + " ".join(words[1:]), command)

    def _include(self, _command: Command, words: list[str]) -> None:
        # A module's name, or a file that another step writes, is not in the tree.
        path = self._source(words[0])
        if path is not None and self._tree.has(path):
            self._run_file(path)

    def _add_subdirectory(self, command: Command, words: list[str]) -> None:
        # An empty name: the package that would set it is not there.
        folder = self._source(words[0]) if words and words[0] else None
        if folder is None:
            return
        path = posixpath.join(folder, "CMakeLists.txt")
        if self._tree.has(path):
            self.subdirectory(path)
        elif not path.startswith(self._optional):
            raise self._error(f"it adds {folder or '.'}, which has no CMakeLists.txt", command)

    def _append_filelist(self, command: Command, words: list[str]) -> None:
        name, variable = words[0].strip(), words[1]
        if name not in self._filelists:
            raise self._error(f"build_variables.bzl has no list {name}", command)
        paths = self._filelists[name]
        for path in paths:
            self.lists.setdefault(path, set()).add(name)
        values = _split(self._variables.get(variable, ""))
        self._variables[variable] = ";".join([*values, *(_join(SOURCE, path) for path in paths)])

    def _configure_file(self, _command: Command, words: list[str]) -> None:
        source = self._source(words[0])
        if source is None or not source.endswith(".cpp.in") or not self._tree.has(source):
            return
        # A unit made of one #include compiles the file that it includes.
        text = _PLACEHOLDER.sub(
            lambda match: self._variables.get(match[1], ""), self._tree.read_text(source)
        )
        included = _INCLUDE.search(text)
        if included:
            self._copies[posixpath.normpath(words[1])] = self._source(included[1]) or source

    def _execute_process(self, _command: Command, words: list[str]) -> None:
        # Nothing is executed. Upstream generates code this way; what it writes is not in the tree.
        for keyword, value in (("RESULT_VARIABLE", "0"), ("OUTPUT_VARIABLE", "")):
            if keyword in words[:-1]:
                self._variables[words[words.index(keyword) + 1]] = value

    def _not_found(self, _command: Command, words: list[str]) -> None:
        # Nothing outside the tree is looked for; a definition that is given counts as found.
        self._variables.setdefault(words[0], f"{words[0]}-NOTFOUND")

    def _get_target_property(self, _command: Command, words: list[str]) -> None:
        # The one property that upstream's own functions insist on.
        is_type = words[2] == "TYPE" and words[1] in self.targets
        self._variables[words[0]] = "SHARED_LIBRARY" if is_type else f"{words[0]}-NOTFOUND"

    def _get_filename_component(self, _command: Command, words: list[str]) -> None:
        self._variables[words[0]] = cmake_strings.filename_component(
            words[1], words[2], self._variables.get("CMAKE_CURRENT_SOURCE_DIR", SOURCE)
        )

    def _file(self, command: Command, words: list[str]) -> None:
        if words[0] == "RELATIVE_PATH":
            self._variables[words[1]] = posixpath.relpath(words[3], words[2])
        if words[0] not in ("GLOB", "GLOB_RECURSE"):
            return
        variable, patterns = words[1], words[2:]
        relative = ""
        if patterns[:1] == ["LIST_DIRECTORIES"]:
            patterns = patterns[2:]
        if patterns[:1] == ["RELATIVE"]:
            relative, patterns = patterns[1], patterns[2:]
        found: set[str] = set()
        for pattern in patterns:
            if pattern != "CONFIGURE_DEPENDS":
                self._spend(_GLOB_STEPS)
                source = self._source(pattern) or ""
                folders = cmake_globs.folders(self._tree, source, words[0] == "GLOB_RECURSE")
                self.folders.setdefault(variable, set()).update(folders)
                found.update(cmake_globs.files(self._tree, source, folders))
        for path in found:
            self.lists.setdefault(path, set()).add(variable)
        self.globs.setdefault(variable, set()).update(found)
        paths = [_join(SOURCE, path) for path in sorted(found)]
        if relative:
            paths = [posixpath.relpath(path, relative) for path in paths]
        self._variables[variable] = ";".join(paths)

    def _target(self, command: Command) -> None:
        words = self._expand(command.arguments)
        if not words or {"ALIAS", "IMPORTED"}.intersection(words[1:3]):
            return
        self._note(words[0], command.arguments[1:])
        sources = self.targets.setdefault(words[0], set())
        order = self.order.setdefault(words[0], {})
        for word in words[1:]:
            if word not in _TARGET_KEYWORDS:
                source = self._copies.get(posixpath.normpath(word)) or self._source(word)
                if source is not None and self._tree.has(source):
                    sources.add(source)
                # A source that is named twice is compiled once, and linked where it was first.
                order.setdefault(source or posixpath.relpath(word, BINARY))

    # --- values ------------------------------------------------------------------------------

    @property
    def _variables(self) -> dict[str, str]:
        return self._scopes[-1]

    def _expand(self, arguments: Sequence[Argument]) -> list[str]:
        """The values of a command's arguments."""
        words: list[str] = []
        for argument in arguments:
            if argument.raw:
                words.append(argument.text)
                continue
            value = self._value(argument.text)
            words += [value] if argument.quoted else _split(value)
        return words

    def _value(self, text: str) -> str:
        """A text with its references replaced, from the inside out, and its escapes resolved."""
        if "$" in text:
            for _ in range(_DEEPEST):
                pieces = [self._dereference(match) for match in REFERENCE.finditer(text)]
                if sum(map(len, pieces)) > cmake_strings.LONGEST:
                    raise ValueError("a value is too long")
                replaced = REFERENCE.sub(self._dereference, text)
                if replaced == text:
                    break
                text = replaced
            if "${" in text:
                raise ValueError(f"the reference in '{text[:40]}' is not closed")
        self._spend(len(text) // 100)
        return _ESCAPE.sub(_unescape, text) if "\\" in text else text

    def _dereference(self, match: re.Match[str]) -> str:
        if match["env"]:
            return ""
        return self._variables.get(match["name"] or match["cache"] or "", "")

    def _source(self, path: str) -> str | None:
        """The path of a file relative to the tree; None where it is not in the tree."""
        folder = self._variables.get("CMAKE_CURRENT_SOURCE_DIR", SOURCE)
        absolute = posixpath.normpath(posixpath.join(folder, path))
        if absolute == SOURCE:
            return ""
        if not absolute.startswith(f"{SOURCE}/"):
            return None
        return absolute.removeprefix(f"{SOURCE}/")

    def _note(self, name: str, arguments: Sequence[Argument]) -> None:
        """Remembers that a list names files itself, not by way of another list."""
        for argument in arguments:
            if "." not in argument.text or _WHOLE_REFERENCE.match(argument.text):
                continue
            for word in self._expand([argument]):
                source = self._source(word)
                if source is not None and self._tree.has(source):
                    self.lists.setdefault(source, set()).add(name)

    def _error(self, message: str, command: Command) -> DecoupleError:
        return DecoupleError(f"{message}.", path=self._path, line=command.line)


def _join(folder: str, path: str) -> str:
    return posixpath.join(folder, path) if path else folder


def _split(value: str) -> list[str]:
    """The elements of a list; empty ones go, as in an unquoted argument."""
    return [element for element in value.split(";") if element]


def _unescape(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r", ";": ";"}.get(match[1], match[1])
