"""Translates a build's flags: nvcc's to those of the platform's compiler, and libraries to link."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.sources.rules import Architecture, Renamed, Rules

# Flags of nvcc whose value may be the next word, and the spelling that rules see.
_WITH_VALUE: Mapping[str, str] = {
    "-gencode": "-gencode",
    "--generate-code": "-gencode",
    "-arch": "-arch",
    "--gpu-architecture": "-arch",
    "-code": "-code",
    "--gpu-code": "-code",
    "-Xcompiler": "-Xcompiler",
    "--compiler-options": "-Xcompiler",
    "-Xptxas": "-Xptxas",
    "--ptxas-options": "-Xptxas",
    "-Xcudafe": "-Xcudafe",
    "-Xlinker": "-Xlinker",
    "--linker-options": "-Xlinker",
    "-Xfatbin": "-Xfatbin",
    "--fatbin-options": "-Xfatbin",
    "-Xnvlink": "-Xnvlink",
    "-ccbin": "-ccbin",
    "--compiler-bindir": "-ccbin",
    "-maxrregcount": "-maxrregcount",
    "--maxrregcount": "-maxrregcount",
    "-diag-suppress": "-diag-suppress",
    "--diag-suppress": "-diag-suppress",
    "-t": "--threads",
    "--threads": "--threads",
    "-cudart": "-cudart",
    "--cudart": "-cudart",
    "-std": "-std",
    "--std": "-std",
    "-O": "-O",
    "--optimize": "-O",
}
# Flags of all compilers whose value may be the next word.
_SEPARATE = frozenset(
    {"-I", "-L", "-D", "-U", "-l", "-isystem", "-include", "-o", "-x", "-MF", "-MT"}
)
# Flags of nvcc's that begin as those of libraries do.
_NO_LIBRARIES = frozenset({"-lineinfo", "-link", "-lib", "-ltoir"})
_ARCHITECTURES = frozenset({"-gencode", "-arch", "-code"})
# Flags that every compiler with gcc's command line has.
_COMMON = re.compile(r"-(?:[ILgO].*|isystem.*|c|std=.*|f\w.*|W.*|w|pthread|M\w*|E|S|v)")


@dataclasses.dataclass(frozen=True, slots=True)
class TranslatedFlags:
    """Flags for the platform's compiler.

    Attributes:
        flags: in the order of those they stand for.
        doubts: a flag that is left out, and why; for people.
    """

    flags: tuple[str, ...]
    doubts: tuple[tuple[str, str], ...]


def translate_flags(flags: Sequence[str], rules: Rules) -> TranslatedFlags:
    """Translates nvcc's flags.

    Args:
        flags: as nvcc takes them, a flag's value in the same word or in the next.
        rules: of the platform; `sources.flags` of its file.

    Returns:
        The platform's flags. What no rule knows is left out, and is among the doubts.
    """
    table = rules.flags
    exact: Mapping[str, Sequence[str]] = table.get("exact", {})
    unsupported: Mapping[str, str] = table.get("unsupported", {})
    patterns = [(re.compile(pattern), target) for pattern, target in table.get("patterns", ())]
    found: list[str] = []
    doubts: list[tuple[str, str]] = []
    for name, value in _pairs(flags):
        if name in _SEPARATE:
            found += _common(name, value, rules)
            continue
        flag = f"{name}={value}" if value else name
        matches = ((pattern.fullmatch(flag), target) for pattern, target in patterns)
        match = next(((match, target) for match, target in matches if match), None)
        if flag in exact or name in exact:
            found += exact.get(flag, exact.get(name, ()))
        elif name in unsupported:
            doubts.append((flag, unsupported[name]))
        elif match is not None:
            found.append(match[0].expand(match[1]))
        elif name in _ARCHITECTURES:
            ours = _architectures(flag, table.get("architecture"), rules.architecture, doubts)
            found += [word for word in ours if word not in found]
        elif name == "-Xcompiler":
            # The host compiler's flags, with commas between them; the platform's compiler is one too.
            found += value.split(",")
        elif _COMMON.fullmatch(flag) or not flag.startswith("-"):
            found.append(f"{name}{value}" if name == "-O" else flag)
        else:
            doubts.append((flag, "no rule knows it"))
    return TranslatedFlags(tuple(found), tuple(doubts))


def translate_libraries(libraries: Sequence[str], platform: Platform) -> list[str]:
    """The platform's libraries in the place of CUDA's.

    Args:
        libraries: names as behind `-l`.
        platform: its file's table `libraries` says what comes in the place of one of CUDA's.

    Returns:
        The names of the libraries, each once.
    """
    known = platform.table("libraries")
    return list(dict.fromkeys(name for old in libraries for name in known.get(old, [old])))


def _pairs(flags: Sequence[str]) -> list[tuple[str, str]]:
    """Flags and their values, one spelling for each of nvcc's; the value is empty where there is none."""
    pairs = []
    words = iter(flags)
    for word in words:
        name, sign, value = word.partition("=")
        if word in _SEPARATE:
            pairs.append((word, next(words, "")))
        elif word[:2] in ("-D", "-U", "-l") and word not in _NO_LIBRARIES:
            pairs.append((word[:2], word[2:]))
        elif name in _WITH_VALUE:
            pairs.append((_WITH_VALUE[name], value if sign else next(words, "")))
        else:
            pairs.append((word, ""))
    return pairs


def _common(name: str, value: str, rules: Rules) -> list[str]:
    """A flag that all compilers have, with its value: macros and libraries get the platform's names."""
    if name == "-l":
        return [f"-l{library}" for library in translate_libraries([value], rules.platform)]
    if name in ("-D", "-U"):
        macro, sign, definition = value.partition("=")
        answer = rules.identifier(macro)
        if isinstance(answer, Renamed) and not answer.assumed:
            macro = answer.target
        return [f"{name}{macro}{sign}{definition}"]
    return [name, value]


def _architectures(
    flag: str,
    template: str | None,
    architecture: Architecture | None,
    doubts: list[tuple[str, str]],
) -> list[str]:
    """The platform's flags for an architecture of nvcc's."""
    # "-gencode=arch=compute_80,code=sm_80" names one architecture twice.
    numbers = dict.fromkeys(re.findall(r"(?:sm|compute)_(\d+)", flag))
    found = []
    for number in numbers:
        target = architecture.value(int(number) * 10) if architecture is not None else None
        if target is None or template is None:
            doubts.append((flag, f"no architecture of the platform stands for {number}"))
        else:
            found.append(template.replace("{}", str(target // 10)))
    return found
