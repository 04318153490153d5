"""Which operators a profile selects.

What lives here: reading NAME.profile.json (written by the op_profile rule) and resolving its operator patterns.
docs/op-profiles.md tells users about both.
"""

from __future__ import annotations

import difflib
import fnmatch
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aten_cuda.codegen.operators import BACKENDS, Operator


class ProfileError(Exception):
    """A profile names something that does not exist, or cannot be read."""


@dataclass(frozen=True)
class Selection:
    """The operators that one op_profile target names.

    Attributes:
        label: the target, for messages.
        operators: names and patterns; see `matches`.
        backends: dispatch keys for which they are registered.
    """

    label: str
    operators: tuple[str, ...]
    backends: tuple[str, ...] = ("CUDA",)


@dataclass(frozen=True)
class Profile:
    """A choice of operators and of the kernel files that implement them.

    Attributes:
        name: for messages.
        full: everything; the others are empty.
        selections: operators by the target that names them.
        kernels: files below aten/src/ATen.
        runtime_kernels: more of them, which every build has: profiles need not name them.
        left_out: dispatch stubs and operators, or patterns of such, that the profile knowingly does without.
    """

    name: str
    full: bool = False
    selections: tuple[Selection, ...] = ()
    kernels: frozenset[str] = field(default_factory=frozenset)
    runtime_kernels: frozenset[str] = field(default_factory=frozenset)
    left_out: frozenset[str] = field(default_factory=frozenset)

    @staticmethod
    def load(source: str) -> Profile:
        """Reads a profile.

        Args:
            source: `full`, or the path of a NAME.profile.json.

        Raises:
            ProfileError: the file is not there or has another form.
        """
        if source == "full":
            return Profile(name="full", full=True)
        path = Path(source)
        try:
            data: Mapping[str, Any] = json.loads(path.read_text())
            return Profile(
                name=str(data["name"]),
                full=bool(data["full"]),
                selections=tuple(
                    Selection(str(s["label"]), tuple(s["operators"]), tuple(s["backends"]))
                    for s in data["selections"]
                ),
                kernels=frozenset(data["kernels"]),
                runtime_kernels=frozenset(data["runtime_kernels"]),
                left_out=frozenset(data["left_out"]),
            )
        except FileNotFoundError as error:
            raise ProfileError(
                f"no profile at {path}; need `full` or a NAME.profile.json, which "
                "`bazel build` of an op_profile target writes"
            ) from error
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ProfileError(
                f"{path} is not a profile ({type(error).__name__}: {error}); "
                "need the NAME.profile.json of an op_profile target"
            ) from error


Selected = dict[str, set[str]]
"""Operator names by backend: {"CUDA": {"add.Tensor", ...}, ...}; every backend is a key."""


def matches(pattern: str, operator: Operator) -> bool:
    """Whether an entry of a profile's `operators` means an operator.

    Without a dot an entry is a family: `add` is every overload of `add`, its in-place form `add_` and its out forms;
    `add_` is the in-place form alone. With a dot it is overloads: `add.Tensor`, `add.*`, `relu.default`.
    `*`, `?` and `[...]` work as in a shell.
    """
    if "." in pattern:
        full = f"{operator.base}.{operator.overload or 'default'}"
        return fnmatch.fnmatchcase(full, pattern)
    return any(fnmatch.fnmatchcase(name, pattern) for name in (operator.stem, operator.base))


class Entries:
    """What entries of profiles mean among some operators.

    Args:
        operators: in the order in which they are to be found.
    """

    def __init__(self, operators: Iterable[Operator]) -> None:
        self._operators = list(operators)
        self._named: dict[str, list[Operator]] = {}
        for operator in self._operators:
            full = f"{operator.base}.{operator.overload or 'default'}"
            for name in {operator.stem, operator.base, full}:
                self._named.setdefault(name, []).append(operator)

    def meant_by(self, pattern: str) -> list[Operator]:
        """The operators that an entry means, as `matches` says."""
        if any(sign in pattern for sign in "*?["):
            return [operator for operator in self._operators if matches(pattern, operator)]
        # Most entries are names, and a profile has hundreds of them.
        return self._named.get(pattern, [])


def resolve(profile: Profile, operators: Iterable[Operator]) -> Selected:
    """The operators that a profile registers, by backend.

    An operator without a kernel for a backend (one that is composed of others, such as `einsum`) may be
    named: it works wherever its parts do and adds nothing here. An entry that starts with `!` takes
    operators out of what the same op_profile target selects.

    Raises:
        ProfileError: an entry matches no operator at all.
    """
    known = list(operators)
    selected: Selected = {backend: set() for backend in BACKENDS}
    if profile.full:
        for op in known:
            for backend in op.kernels:
                selected[backend].add(op.name)
        return selected
    entries = Entries(known)
    unknown: list[str] = []
    for selection in profile.selections:
        taken: dict[str, Operator] = {}
        left_out: set[str] = set()
        for entry in selection.operators:
            pattern = entry.removeprefix("!")
            found = entries.meant_by(pattern)
            if not found:
                unknown.append(_unknown(selection.label, entry, known))
            elif entry.startswith("!"):
                left_out.update(op.name for op in found)
            else:
                taken.update((op.name, op) for op in found)
        for name, op in taken.items():
            if name not in left_out:
                for backend in selection.backends:
                    if backend in op.kernels:
                        selected[backend].add(name)
    if unknown:
        raise ProfileError("\n".join(unknown))
    return selected


def _unknown(label: str, entry: str, known: Iterable[Operator]) -> str:
    """The message for an entry that names nothing."""
    names = {op.stem for op in known}
    base, dot, overload = entry.removeprefix("!").partition(".")
    if dot and any(op.base == base for op in known):
        names = {f"{base}.{op.overload or 'default'}" for op in known if op.base == base}
        near = difflib.get_close_matches(f"{base}.{overload}", names, n=5, cutoff=0.0)
    else:
        near = difflib.get_close_matches(base.strip("*?"), names, n=5)
    hint = f"; near: {', '.join(near)}" if near else ""
    return f"{label}: no operator of this PyTorch matches {entry!r}{hint}"
