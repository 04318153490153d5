"""A vendor's YAML: which operators its library has kernels for, checked against PyTorch's."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from torchgen.gen import LineLoader
from torchgen.model import FunctionSchema, Location, NativeFunction

from router.codegen import versions
from router.codegen.upstream_operators import Upstream

_KEYS = ("func", "torch", "structured", "structured_delegate", "dispatch", "autograd")


class YamlError(Exception):
    """A YAML that cannot be used: file and line, what was found, what is needed."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One operator of the YAML.

    Attributes:
      function: torchgen's; PyTorch's own one where it is an operator of PyTorch.
      line: in the YAML.
      kernel: name of the function that the vendor writes; None of a variant that another one's
        structured kernel serves.
      structured: whether the kernel serves all variants over outputs that are there.
      own: whether the operator is the vendor's.
      meta: name of the function for meta tensors, of an operator of the vendor's.
      autograd: derivatives, C++ expressions by the argument's name.
    """

    function: NativeFunction
    line: int
    kernel: str | None
    structured: bool = False
    own: bool = False
    meta: str | None = None
    autograd: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """With overload, such as "add.out"."""
        return str(self.function.func.name)


@dataclasses.dataclass(frozen=True)
class Operators:
    """What a YAML says.

    Attributes:
      device: name of the device library, and namespace of what is written in C++.
      source: the YAML's path, for messages.
      entries: those for this version of PyTorch, in the order of the YAML.
    """

    device: str
    source: str
    entries: tuple[Entry, ...]


def read(text: str, source: str, device: str, upstream: Upstream) -> Operators:
    """Reads and checks a YAML.

    Args:
      text: its content.
      source: its path, for messages.
      device: name of the device library.
      upstream: PyTorch's operators.

    Returns:
      The operators.

    Raises:
      YamlError: the first entry that cannot be used, or entries that do not go together.
    """
    reader = _Reader(source, device, upstream)
    try:
        entries = yaml.load(text, Loader=LineLoader)
    except yaml.YAMLError as error:
        raise YamlError(f"{source}: found no YAML: {error}") from error
    if not isinstance(entries, list):
        raise YamlError(f"{source}: found no list; needed a list of entries `- func: SCHEMA`")
    read_entries = tuple(reader.entry(entry) for entry in entries if reader.is_meant(entry))
    reader.check_together(read_entries)
    return Operators(device, source, read_entries)


class _Reader:
    def __init__(self, source: str, device: str, upstream: Upstream) -> None:
        self._source = source
        self._device = device
        self._upstream = upstream

    def _fail(self, line: int, message: str) -> YamlError:
        return YamlError(f"{self._source}:{line}: {message}")

    def is_meant(self, raw: object) -> bool:
        """Whether an entry is for this version of PyTorch."""
        if not isinstance(raw, dict) or "torch" not in raw:
            return True
        try:
            return versions.matches(str(raw["torch"]), self._upstream.version)
        except ValueError as error:
            raise self._fail(raw["__line__"], str(error)) from error

    def entry(self, raw: object) -> Entry:
        """The entry that one of the YAML is."""
        if not isinstance(raw, dict) or not isinstance(raw.get("func"), str):
            line = raw.get("__line__", 1) if isinstance(raw, dict) else 1
            raise self._fail(line, f"found {raw!r}; needed an entry `- func: SCHEMA`")
        line = raw["__line__"]
        for key in raw:
            if key not in (*_KEYS, "__line__"):
                raise self._fail(line, f"found the key {key!r}; needed one of {_listed(_KEYS)}")
        namespace, _, schema = (
            raw["func"].rpartition("::") if _is_own(raw["func"]) else ("", "", raw["func"])
        )
        try:
            func = FunctionSchema.parse(schema)
        except Exception as error:  # torchgen asserts, raises and looks up
            raise self._fail(line, f"found no schema: {raw['func']}\n  {error}") from error
        dispatch = self._dispatch(raw, line)
        if namespace in ("", "aten"):
            return self._upstreams(raw, line, func, dispatch)
        return self._own(raw, line, namespace, func, dispatch)

    def _dispatch(self, raw: Mapping[str, Any], line: int) -> dict[str, str]:
        dispatch = raw.get("dispatch", {})
        if not isinstance(dispatch, dict):
            raise self._fail(line, f"found dispatch {dispatch!r}; needed `CUDA: KERNEL`")
        kernels = {str(key): str(kernel) for key, kernel in dispatch.items() if key != "__line__"}
        for key, kernel in kernels.items():
            if key not in ("CUDA", "Meta"):
                raise self._fail(
                    line,
                    f"found a kernel for {key}; needed CUDA, whose tensors the device's are, "
                    "and Meta for an operator of your own",
                )
            if not kernel.isidentifier():
                raise self._fail(line, f"found the kernel {kernel!r}; needed a name of C++")
        return kernels

    def _upstreams(
        self,
        raw: Mapping[str, Any],
        line: int,
        func: FunctionSchema,
        dispatch: Mapping[str, str],
    ) -> Entry:
        name = str(func.name)
        known = self._upstream.functions.get(name)
        if known is None:
            raise self._fail(
                line,
                f"found {name}, which PyTorch {self._upstream.version} does not have"
                f"{_near(name, self._upstream.functions)}. An operator of your own is "
                f"{self._device}::{name}; one that other versions have has a line that says which, "
                f'such as torch: ">{self._upstream.version}"',
            )
        if not _same(func, known.func):
            raise self._fail(
                line,
                f"found another schema of {name} than that of PyTorch {self._upstream.version}:\n"
                f"  found  {func}\n  needed {known.func}\n  {_difference(func, known.func)}\n"
                "  Where it is another version's, write an entry for each, with a line `torch`, such "
                f'as torch: "=={self._upstream.version}"',
            )
        for key, value in (("autograd", raw.get("autograd")), ("Meta", dispatch.get("Meta"))):
            if value:
                raise self._fail(line, f"found {key} of {name}, which is PyTorch's and has its own")
        if "structured_delegate" in raw:
            return self._delegate(raw, line, known, dispatch)
        structured = raw.get("structured", False)
        if structured and not known.structured:
            variants = [str(known.structured_delegate)] if known.structured_delegate else []
            raise self._fail(
                line,
                f"found structured: {name} is not in PyTorch"
                + (f"; needed {variants[0]}" if variants else "; leave it out"),
            )
        kernel = dispatch.get("CUDA", known.func.name.unambiguous_name())
        return Entry(known, line, kernel, structured=bool(structured))

    def _delegate(
        self, raw: Mapping[str, Any], line: int, known: NativeFunction, dispatch: Mapping[str, str]
    ) -> Entry:
        target = str(raw["structured_delegate"])
        if target != str(known.structured_delegate):
            raise self._fail(
                line,
                f"found structured_delegate: {target}; PyTorch has {known.structured_delegate} there",
            )
        if dispatch or "structured" in raw:
            raise self._fail(
                line, f"found a kernel of {known.func.name}, which is served by that of {target}"
            )
        return Entry(known, line, None)

    def _own(
        self,
        raw: Mapping[str, Any],
        line: int,
        namespace: str,
        func: FunctionSchema,
        dispatch: Mapping[str, str],
    ) -> Entry:
        if namespace != self._device:
            raise self._fail(
                line,
                f"found the namespace {namespace}; needed none for PyTorch's operators, and "
                f"{self._device} for your own",
            )
        for key in ("structured", "structured_delegate"):
            if key in raw:
                raise self._fail(
                    line, f"found {key} of {func.name}; only PyTorch's operators have it"
                )
        kernel = dispatch.get("CUDA", func.name.unambiguous_name())
        entry = {
            "func": f"{namespace}::{func}",
            "dispatch": {"CUDA": kernel},
            "variants": "function",
            "__line__": line,
        }
        try:
            function, _ = NativeFunction.from_yaml(
                entry, Location(self._source, line), set(self._upstream.tags)
            )
        except Exception as error:  # as above
            raise self._fail(line, f"found an operator that torchgen refuses: {error}") from error
        autograd = raw.get("autograd", {})
        if not isinstance(autograd, dict):
            raise self._fail(line, f"found autograd {autograd!r}; needed `ARGUMENT: DERIVATIVE`")
        formulas = {str(key): str(text) for key, text in autograd.items() if key != "__line__"}
        self._check_autograd(line, function, formulas)
        return Entry(function, line, kernel, own=True, meta=dispatch.get("Meta"), autograd=formulas)

    def _check_autograd(
        self, line: int, function: NativeFunction, formulas: Mapping[str, str]
    ) -> None:
        if not formulas:
            return
        func = function.func
        tensors = [
            argument.name
            for argument in func.arguments.flat_all
            if str(argument.type) in ("Tensor", "Tensor?")
        ]
        lists = [a.name for a in func.arguments.flat_all if "Tensor" in str(a.type)]
        if [str(result.type) for result in func.returns] != ["Tensor"] or any(
            argument.annotation is not None for argument in func.arguments.flat_all
        ):
            raise self._fail(
                line,
                f"found autograd of {func.name}; needed an operator that returns one new Tensor",
            )
        for name in lists:
            if name not in tensors:
                raise self._fail(line, f"found autograd of {func.name}, whose {name} is a list")
        for name in formulas:
            if name not in tensors:
                raise self._fail(
                    line,
                    f"found a derivative for {name}, which is no Tensor argument of "
                    f"{func.name}{_near(name, tensors)}; needed one of {_listed(tensors)}",
                )

    def check_together(self, entries: Iterable[Entry]) -> None:
        """Raises an error for entries that do not go together."""
        lines: dict[tuple[bool, str], Entry] = {}
        kernels: dict[str, Entry] = {}
        structured = {entry.name for entry in entries if entry.structured}
        served: dict[str, str] = {}
        for name in structured:
            for variant in self._upstream.group(name).functions():
                served[str(variant.func.name)] = name
        for entry in entries:
            first = lines.setdefault((entry.own, entry.name), entry)
            if first is not entry:
                raise self._fail(
                    entry.line, f"found {entry.name} again, which is in line {first.line}"
                )
            if entry.kernel is None:
                target = str(entry.function.structured_delegate)
                if target not in structured:
                    raise self._fail(
                        entry.line,
                        f"found {entry.name}, served by {target}, which is not in this file; needed "
                        f"is an entry of {target} with `structured: True`",
                    )
                continue
            if not entry.own and not entry.structured and entry.name in served:
                raise self._fail(
                    entry.line,
                    f"found a kernel of {entry.name}, which the structured kernel of "
                    f"{served[entry.name]} serves; leave one of them out",
                )
            other = kernels.setdefault(entry.kernel, entry)
            if other is not entry and not _may_share(other, entry):
                raise self._fail(
                    entry.line,
                    f"found the kernel {entry.kernel}, which {other.name} in line {other.line} has "
                    "with the same arguments; needed a name of its own",
                )


def _is_own(text: str) -> bool:
    return re.match(r"\s*\w+::", text) is not None


def _may_share(one: Entry, other: Entry) -> bool:
    """Whether two kernels may have one name: functions of other arguments may."""

    def types(entry: Entry) -> list[str]:
        return [str(argument.type) for argument in entry.function.func.arguments.flat_all]

    return types(one) != types(other) and one.structured == other.structured


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _near(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    return f" (near are {_listed(near)})" if near else ""


def _same(one: FunctionSchema, other: FunctionSchema) -> bool:
    """Whether two schemas have the same kernels: sizes are plain integers in these, not symbols."""

    def plain(func: FunctionSchema) -> str:
        return re.sub(r"\bSymInt\b", "int", str(func))

    return plain(one) == plain(other)


def _difference(found: FunctionSchema, needed: FunctionSchema) -> str:
    """The first argument or result that is not the same, in words."""
    have = [str(argument) for argument in found.schema_order_arguments()]
    want = [str(argument) for argument in needed.schema_order_arguments()]
    for index in range(max(len(have), len(want))):
        if index >= len(have):
            return f"argument {index + 1} is missing: {want[index]}"
        if index >= len(want):
            return f"argument {index + 1} is too many: {have[index]}"
        if have[index] != want[index]:
            return f"argument {index + 1} is {have[index]}, needed is {want[index]}"
    if found.returns != needed.returns:
        have, want = list(map(str, found.returns)), list(map(str, needed.returns))
        return f"it returns {_listed(have)}, needed is {_listed(want)}"
    return "arguments are keyword-only at another place"
