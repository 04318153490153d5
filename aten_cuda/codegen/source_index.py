"""Function definitions, dispatch stubs and calls in PyTorch's C++ and CUDA sources.

What lives here: reading sources far enough to know which function is defined where and which names it uses. This is
no compiler: each file is run through the C preprocessor alone (its own macros expanded, its includes left out) and
cut into functions by its braces. Names are not resolved by type, so a use is one of *some* function of that name.
What follows from it is closure.py's.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What the build of this repository defines, and what keeps conditions on absent headers well formed.
_DEFINES: tuple[str, ...] = (
    "USE_CUDA",
    "AT_PER_OPERATOR_HEADERS",
    "__CUDACC__",
    "__NVCC__",
    "CUDA_VERSION=12040",
    "CUDART_VERSION=12040",
    "CUSPARSE_VERSION=12301",
    "CUSOLVER_VERSION=11601",
    "CUDNN_VERSION=0",
    *(
        f"AT_{feature}_ENABLED()=0"
        for feature in (
            "CUDNN",
            "MKLDNN",
            "MKLDNN_ACL",
            "MKL",
            "MKL_SEQUENTIAL",
            "POCKETFFT",
            "NNPACK",
            "ROCM",
            "MAGMA",
            "CUSPARSELT",
            "CUDSS",
            "KLEIDIAI",
        )
    ),
    "AT_BUILD_WITH_LAPACK()=1",
    "AT_BUILD_WITH_BLAS()=1",
)

_TOKEN = re.compile(r'[A-Za-z_]\w*|::|->|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|\d[\w.\']*|\S')
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_STUB_DECLARATION = re.compile(r"\bDECLARE_DISPATCH\s*\([^;{}]*?,\s*(\w+)\s*\)\s*?(?:;|\n|$)")
_STUB_REGISTRATION = re.compile(
    r"\b(?:REGISTER_DISPATCH|REGISTER_CUDA_DISPATCH)\s*\(\s*(\w+)\s*,", re.DOTALL
)
_KERNEL_MACROS = {
    "TORCH_IMPL_FUNC": "structured_",
    "TORCH_META_FUNC": "meta_",
    "TORCH_META_FUNC2": "meta_",
}
_ATTRIBUTES = frozenset(
    {"__align__", "__attribute__", "__launch_bounds__", "alignas", "decltype", "noexcept"}
)
_LOCAL_WORDS = frozenset({"static", "inline", "__device__", "__global__", "__forceinline__"})
_TYPE_WORDS = frozenset({"class", "struct", "union", "enum"})


class PreprocessorError(Exception):
    """There is no C preprocessor to run."""


class IndexFileError(Exception):
    """A file is not what SourceIndex.write wrote."""


@dataclass(frozen=True)
class Use:
    """A name in a function's body that is called, or whose address may be taken.

    Attributes:
        name: the identifier.
        qualifier: what stands before it: `""`, `"member"`, or a namespace such as `"at"` or `"at::native"`.
    """

    name: str
    qualifier: str


@dataclass(frozen=True)
class Function:
    """A function definition.

    Attributes:
        name: its identifier; `structured_abs_out` for TORCH_IMPL_FUNC(abs_out).
        file: path below the PyTorch tree.
        namespace: `at::native`; the part of an anonymous namespace is `(anonymous)`.
        local: not for other files to refer to (static, inline, device code, a
            type's own, or in an anonymous namespace); in a header it is theirs all the same.
        uses: the names in its body.
    """

    name: str
    file: str
    namespace: str
    local: bool
    uses: frozenset[Use]


@dataclass
class SourceFile:
    """What one file defines and uses.

    Attributes:
        path: path below the PyTorch tree.
        functions: its function definitions.
        stubs: the dispatch stubs that it registers kernels for.
        uses: names used outside of functions, such as in initializers.
    """

    path: str
    functions: list[Function] = field(default_factory=list)
    stubs: set[str] = field(default_factory=set)
    uses: set[Use] = field(default_factory=set)

    def all_uses(self) -> Iterator[Use]:
        """Every name that the file uses: what its object file may refer to."""
        yield from self.uses
        for function in self.functions:
            yield from function.uses


@dataclass
class SourceIndex:
    """A set of source files.

    Attributes:
        files: by path below the PyTorch tree.
        functions: definitions by name.
        stub_names: every declared dispatch stub.
    """

    files: dict[str, SourceFile] = field(default_factory=dict)
    functions: dict[str, list[Function]] = field(default_factory=dict)
    stub_names: set[str] = field(default_factory=set)

    @staticmethod
    def scan(root: Path, paths: Iterable[str]) -> SourceIndex:
        """Reads files.

        Args:
            root: the PyTorch tree.
            paths: files below it.

        Raises:
            PreprocessorError: no g++ or clang++ in PATH.
        """
        command = _preprocessor()
        index = SourceIndex()
        for path in sorted(set(paths)):
            text = (root / path).read_text(errors="replace")
            index.stub_names.update(_STUB_DECLARATION.findall(text))
            index.files[path] = parse(path, _preprocess(command, text))
        index._name_functions()
        return index

    def _name_functions(self) -> None:
        for path in sorted(self.files):
            for function in self.files[path].functions:
                self.functions.setdefault(function.name, []).append(function)

    def write(self, path: Path) -> None:
        """Writes the index as JSON, the same bytes for the same sources."""
        files = {
            name: {
                "functions": [
                    [f.name, f.namespace, f.local, _pairs(f.uses)] for f in file.functions
                ],
                "stubs": sorted(file.stubs),
                "uses": _pairs(file.uses),
            }
            for name, file in sorted(self.files.items())
        }
        data = {"files": files, "stub_names": sorted(self.stub_names)}
        path.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")

    @staticmethod
    def read(paths: Iterable[Path]) -> SourceIndex:
        """Reads indexes that `write` wrote, of different sources, as one.

        Raises:
            IndexFileError: a file has another form.
        """
        index = SourceIndex()
        for path in paths:
            try:
                data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
                index.stub_names.update(data["stub_names"])
                for name, entry in data["files"].items():
                    index.files[name] = SourceFile(
                        name,
                        [
                            Function(function, name, namespace, local, frozenset(_from_pairs(uses)))
                            for function, namespace, local, uses in entry["functions"]
                        ],
                        set(entry["stubs"]),
                        set(_from_pairs(entry["uses"])),
                    )
            except (KeyError, TypeError, ValueError) as error:
                raise IndexFileError(
                    f"{path} is no index of sources ({error}); write it with index.py"
                ) from error
        index._name_functions()
        return index


def _pairs(uses: Iterable[Use]) -> list[list[str]]:
    return sorted([use.name, use.qualifier] for use in uses)


def _from_pairs(pairs: Iterable[tuple[str, str]]) -> Iterator[Use]:
    return (Use(name, qualifier) for name, qualifier in pairs)


def parse(path: str, text: str) -> SourceFile:
    """Cuts preprocessed C++ into functions.

    Args:
        path: what to call the file.
        text: C++ without comments and directives.
    """
    result = SourceFile(path)
    result.stubs.update(_STUB_REGISTRATION.findall(text))
    tokens = _TOKEN.findall(text)
    _Parser(tokens, result).run()
    return result


def _preprocessor() -> list[str]:
    for compiler in ("g++-13", "g++", "clang++"):
        found = shutil.which(compiler)
        if found:
            return [found, "-E", "-P", "-w", "-x", "c++", *(f"-D{d}" for d in _DEFINES), "-"]
    raise PreprocessorError("no g++-13, g++ or clang++ in PATH; need one to read PyTorch's sources")


def _preprocess(command: Sequence[str], text: str) -> str:
    # A condition on a macro of an absent header is an error to the preprocessor, which still goes on.
    done = subprocess.run(
        command, input=_INCLUDE.sub("", text), capture_output=True, text=True, check=False
    )
    return done.stdout


class _Parser:
    """One pass over a file's tokens."""

    def __init__(self, tokens: Sequence[str], result: SourceFile) -> None:
        self._tokens = tokens
        self._result = result
        self._scopes: list[tuple[str, str]] = []  # (kind, name): kind is "namespace" or "type"

    def run(self) -> None:
        head: list[str] = []
        depth = 0  # of parentheses
        i = 0
        while i < len(self._tokens):
            token = self._tokens[i]
            if token == "(":
                depth += 1
            elif token == ")":
                depth = max(0, depth - 1)
            if token == "{":
                if depth:  # a lambda or braced value among arguments outside of functions
                    i = self._skip(i, self._result.uses)
                    head.append("{}")
                    continue
                kind, name = _classify(head)
                if kind in ("namespace", "type"):
                    self._scopes.append((kind, name))
                elif kind == "value":
                    i = self._skip(i, self._result.uses)
                    head.append("{}")
                    continue
                else:
                    i = self._function(head, name, i)
                    head = []
                    continue
                head = []
            elif token == "}":
                if self._scopes:
                    self._scopes.pop()
                head = []
            elif token == ";" and not depth:
                self._result.uses.update(_initializer_uses(head))
                head = []
            elif token == ":" and head[-1:] and head[-1] in ("public", "private", "protected"):
                head = []
            else:
                head.append(token)
            i += 1

    def _skip(self, start: int, uses: set[Use]) -> int:
        """The index after the block that opens at `start`; adds the names in it to `uses`."""
        depth = 0
        for i in range(start, len(self._tokens)):
            depth += {"{": 1, "}": -1}.get(self._tokens[i], 0)
            if depth == 0:
                uses.update(_uses(self._tokens[start:i]))
                return i + 1
        uses.update(_uses(self._tokens[start:]))
        return len(self._tokens)

    def _function(self, head: Sequence[str], name: str, start: int) -> int:
        uses: set[Use] = set(_uses(head[_name_at(head) + 1 :]))
        end = self._skip(start, uses)
        spaces = [scope for kind, scope in self._scopes if kind == "namespace"]
        in_type = any(kind == "type" for kind, _ in self._scopes)
        if in_type:  # a method: found through its type, which is what others name
            name = next(scope for kind, scope in self._scopes if kind == "type")
        self._result.functions.append(
            Function(
                name=name,
                file=self._result.path,
                namespace="::".join(spaces),
                local=in_type or "(anonymous)" in spaces or not _LOCAL_WORDS.isdisjoint(head),
                uses=frozenset(uses),
            )
        )
        return end


def _classify(head: Sequence[str]) -> tuple[str, str]:
    """What a `{` after `head` opens: ("namespace"|"type"|"value"|"function", name)."""
    if "namespace" in head:
        at = len(head) - 1 - list(reversed(head)).index("namespace")
        name = "".join(token for token in head[at + 1 :] if token != "inline")
        return "namespace", name or "(anonymous)"
    if head[:1] == ["extern"] and len(head) == 2:
        return "namespace", ""
    rest = _without_template(head)
    name_at = _name_at(rest)
    words = [i for i, token in enumerate(rest) if token in _TYPE_WORDS]
    if words and (name_at < 0 or words[0] < name_at) and "(" not in rest[words[0] :]:
        names = [
            t for t in rest[words[0] + 1 :] if re.match(r"[A-Za-z_]", t) and t not in _TYPE_WORDS
        ]
        return "type", names[0] if names else "(anonymous)"
    if words and words[0] == 0 and name_at > 0 and ":" in rest and rest.index(":") < name_at:
        return "type", rest[1]
    if name_at < 0 or "=" in _depth_zero(rest):
        return "value", ""
    if rest[name_at] in _KERNEL_MACROS:
        suffix = [t for t in rest[name_at + 2 :] if t not in (",",)]
        inner = suffix[: suffix.index(")")]
        return "function", _KERNEL_MACROS[rest[name_at]] + "_".join(inner)
    return "function", rest[name_at]


def _without_template(head: Sequence[str]) -> list[str]:
    """`head` without leading `template <...>` clauses."""
    rest = list(head)
    while rest[:1] == ["template"] and rest[1:2] == ["<"]:
        depth = 0
        for i, token in enumerate(rest):
            depth += {"<": 1, ">": -1}.get(token, 0)
            if depth == 0 and i > 0:
                rest = rest[i + 1 :]
                break
        else:
            return []
    return rest


def _depth_zero(head: Sequence[str]) -> list[str]:
    """The tokens of `head` outside of parentheses."""
    kept: list[str] = []
    depth = 0
    for token in head:
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
        elif depth == 0:
            kept.append(token)
    return kept


def _name_at(head: Sequence[str]) -> int:
    """The index in `head` of the name of the function that it declares, or -1."""
    depth = 0
    last = -1
    for i, token in enumerate(head):
        if token == ":" and depth == 0 and last >= 0:
            break  # a constructor's initializers
        if token == "->" and depth == 0 and last >= 0:
            break  # a trailing return type
        if token == "(":
            before = head[i - 1] if i else ""
            if depth == 0 and before in _KERNEL_MACROS:
                return i - 1
            if depth == 0 and re.match(r"[A-Za-z_]", before) and before not in _ATTRIBUTES:
                last = i - 1
            depth += 1
        elif token == ")":
            depth -= 1
    return last


def _initializer_uses(head: Sequence[str]) -> Iterator[Use]:
    """The names that a declaration outside of functions uses in its initializer, or a macro in its arguments."""
    if "=" in head:
        yield from _uses(head[head.index("=") :])
    elif any(token.startswith("REGISTER_") for token in head):
        yield from _uses(head)


def _uses(tokens: Sequence[str]) -> Iterator[Use]:
    """The identifiers in a run of tokens, each with what qualifies it."""
    for i, token in enumerate(tokens):
        if not (token[0].isalpha() or token[0] == "_"):
            continue
        before = tokens[i - 1] if i else ""
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        called = after in ("(", "<", "{") or before in ("&", "::")
        if not called and token[0].islower() and not token.endswith("_stub"):
            continue  # a variable, as far as can be told
        if before in (".", "->"):
            yield Use(token, "member")
        elif before == "::":
            parts: list[str] = []
            j = i - 1
            while j > 0 and tokens[j] == "::" and re.match(r"[A-Za-z_]", tokens[j - 1]):
                parts.insert(0, tokens[j - 1])
                j -= 2
            yield Use(token, "::".join(parts))
        else:
            yield Use(token, "")
