"""What a shared library says about itself, read with readelf, and whether its link is closed.

"Closed" means: every symbol that the library needs is defined by a library that it names as
needed, by what those need in turn, or by the Python interpreter that loads it. Nothing here loads
a library.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import pathlib
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence

_DYNAMIC = re.compile(r"\((?P<tag>NEEDED|SONAME|RUNPATH|RPATH|TEXTREL|FLAGS)\)\s*(?P<value>.*)")
_BRACKETS = re.compile(r"\[(.*)\]")
_CACHE_LINE = re.compile(r"^\s*(\S+) \(.*x86-64.*\) => (\S+)$|^\s*(\S+) \(.*AArch64.*\) => (\S+)$")

_RELATIVE = re.compile(
    r"^(?P<place>[0-9a-f]+)\s+[0-9a-f]+\s+R_(?:X86_64|AARCH64)_RELATIVE\s+(?P<value>[0-9a-f]+)$"
)
_SECTION = re.compile(
    r"\[ *\d+\] \.init_array\s+INIT_ARRAY\s+(?P<address>[0-9a-f]+) [0-9a-f]+ (?P<size>[0-9a-f]+)"
)
_UNIT_OF_NVCC = re.compile(r"(?:tmpxft_\w+-\d+_)?(.*?)\.(?:compute_\w+\.)?cudafe1\.cpp\Z")


@dataclasses.dataclass(frozen=True)
class Library:
    """The dynamic section and symbol table of one ELF file.

    Attributes:
        path: the file.
        soname: its DT_SONAME, or None.
        needed: DT_NEEDED, in order.
        run_path: entries of DT_RUNPATH and DT_RPATH.
        text_relocations: whether its code has to be patched at load time.
        executable_stack: whether it asks for an executable stack.
        undefined: strong symbols that others have to define, without versions.
        defined: symbols it offers, without versions.
    """

    path: pathlib.Path
    soname: str | None
    needed: tuple[str, ...]
    run_path: tuple[str, ...]
    text_relocations: bool
    executable_stack: bool
    undefined: frozenset[str]
    defined: frozenset[str]


def _readelf(path: pathlib.Path, *options: str) -> list[str]:
    command = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@functools.cache
def read(path: pathlib.Path) -> Library:
    """Reads one ELF file.

    Args:
        path: a shared library or executable.

    Returns:
        What it says about itself.

    Raises:
        subprocess.CalledProcessError: the file is no ELF file.
    """
    tags: dict[str, list[str]] = {}
    for line in _readelf(path, "--dynamic"):
        if match := _DYNAMIC.search(line):
            value = _BRACKETS.search(match["value"])
            tags.setdefault(match["tag"], []).append(value[1] if value else match["value"])
    undefined, defined = _symbols(path)
    stack = [line for line in _readelf(path, "--program-headers") if "GNU_STACK" in line]
    paths = ":".join((*tags.get("RUNPATH", []), *tags.get("RPATH", [])))
    return Library(
        path=path,
        soname=tags["SONAME"][0] if "SONAME" in tags else None,
        needed=tuple(tags.get("NEEDED", [])),
        run_path=tuple(entry for entry in paths.split(":") if entry),
        text_relocations="TEXTREL" in tags or "TEXTREL" in " ".join(tags.get("FLAGS", [])),
        executable_stack=any("RWE" in line for line in stack),
        undefined=undefined,
        defined=defined,
    )


def _symbols(path: pathlib.Path) -> tuple[frozenset[str], frozenset[str]]:
    undefined, defined = set(), set()
    for line in _readelf(path, "--dyn-syms"):
        # Num: Value Size Type Bind Vis Ndx Name[@version]
        fields = line.split()
        if len(fields) < 8 or not fields[0].removesuffix(":").isdigit():
            continue
        binding, index, name = fields[4], fields[6], fields[7].split("@")[0]
        if index != "UND":
            defined.add(name)
        elif binding == "GLOBAL":
            undefined.add(name)
    return frozenset(undefined), frozenset(defined)


def initialisers(path: pathlib.Path) -> list[str]:
    """Lists the source files whose static initialisers a library runs when it is loaded, in that order.

    Args:
        path: a shared library with its symbol table.

    Returns:
        File names, those of nvcc's units with the suffix .cu; empty where the library was stripped.
    """
    files: dict[int, str] = {}
    file = ""
    for line in _readelf(path, "--symbols"):
        # Num: Value Size Type Bind Vis Ndx Name; a file's own symbols follow it.
        fields = line.split()
        if len(fields) < 8 or not fields[0].removesuffix(":").isdigit():
            continue
        if fields[3] == "FILE":
            file = fields[7]
        elif fields[3] == "FUNC" and fields[4] == "LOCAL":
            files[int(fields[1], 16)] = file
    sections = filter(None, map(_SECTION.search, _readelf(path, "--sections")))
    arrays = [(int(section["address"], 16), int(section["size"], 16)) for section in sections]
    functions = sorted(
        (int(found["place"], 16), int(found["value"], 16))
        for found in filter(None, map(_RELATIVE.match, _readelf(path, "--relocs")))
        if any(0 <= int(found["place"], 16) - start < size for start, size in arrays)
    )
    names = [files[function] for _, function in functions if function in files]
    return [_UNIT_OF_NVCC.sub(r"\1.cu", name) for name, _ in itertools.groupby(names)]


@functools.cache
def system_libraries() -> Mapping[str, pathlib.Path]:
    """Lists the libraries that the dynamic loader finds without help.

    Returns:
        Soname to file, from the loader's cache.
    """
    found: dict[str, pathlib.Path] = {}
    command = ["/sbin/ldconfig", "-p"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        if match := _CACHE_LINE.match(line):
            found.setdefault(match[1] or match[3], pathlib.Path(match[2] or match[4]))
    return found


class Finder:
    """Finds libraries by soname, first in given folders, then on the system."""

    def __init__(self, folders: Iterable[pathlib.Path] = ()) -> None:
        self._folders = tuple(folders)

    def find(self, soname: str) -> pathlib.Path | None:
        """Finds one library.

        Args:
            soname: for example "libc10.so".

        Returns:
            The file, or None.
        """
        for folder in self._folders:
            if (folder / soname).exists():
                return folder / soname
        return system_libraries().get(soname)

    def closure(self, library: Library) -> tuple[list[Library], list[str]]:
        """Follows DT_NEEDED.

        Args:
            library: where to start.

        Returns:
            Every library it needs, directly or not, and the sonames that cannot be found.
        """
        found: dict[str, Library] = {}
        missing: list[str] = []
        queue = list(library.needed)
        while queue:
            soname = queue.pop(0)
            if soname in found or soname in missing:
                continue
            path = self.find(soname)
            if path is None:
                missing.append(soname)
                continue
            found[soname] = read(path.resolve())
            queue += found[soname].needed
        return list(found.values()), missing

    def unresolved(self, library: Library, given: frozenset[str] = frozenset()) -> list[str]:
        """Lists the symbols that nobody in the library's closure defines.

        Args:
            library: the library to check.
            given: symbols defined by the process that loads it.

        Returns:
            Symbol names, sorted; empty if the link is closed.
        """
        needed, _ = self.closure(library)
        offered = given.union(*(other.defined for other in needed))
        return sorted(library.undefined - offered)


def faults_of_run_path(library: Library) -> list[str]:
    """Lists run path entries that do not start at the library's own folder.

    Args:
        library: the library to check.

    Returns:
        Entries that name a place on the machine that built it, or none at all.
    """
    return [
        entry
        for entry in library.run_path
        if entry != "$ORIGIN" and not entry.startswith("$ORIGIN/")
    ]


def faults_of_needed(library: Library, allowed: Sequence[re.Pattern[str]]) -> list[str]:
    """Lists needed libraries that are not on a list.

    Args:
        library: the library to check.
        allowed: patterns, one of which has to match a soname in full.

    Returns:
        The other sonames.
    """
    return [
        soname
        for soname in library.needed
        if not any(pattern.fullmatch(soname) for pattern in allowed)
    ]
