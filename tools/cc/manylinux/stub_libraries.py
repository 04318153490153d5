"""Writes libraries to link against in the place of this machine's, with what manylinux_2_28 promises.

    stub_libraries.py --compiler gcc --newer libnewer.a --output FOLDER

What is linked against a new glibc needs a new glibc, because the linker takes the newest version of
each symbol. The libraries that this tool writes have the names and versions of this machine's
glibc, libstdc++ and libgcc, but none above the ceilings of the policy (PEP 600, PEP 599), and no
code. A symbol that older systems lack is an error of the link, unless ``--newer`` defines it.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence

CEILINGS = {
    "GLIBC": (2, 28),
    "GLIBCXX": (3, 4, 24),
    "CXXABI": (1, 3, 11),
    "GCC": (7, 0, 0),
}
"""The newest versions of manylinux_2_28 on x86-64 and aarch64, as auditwheel's policy has them."""

LIBRARIES = ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6")
"""What a program needs of a new system beside the loader; glibc 2.34 moved the others into libc.so.6."""

LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
"""The loader, which offers symbols as well, by the processor."""

_MOVED = {
    "libdl.so.2": re.compile(r"dl(open|close|sym|vsym|error|addr|addr1|info|mopen)\Z"),
    "libpthread.so.0": re.compile(r"(__)?pthread_|sem_"),
    "librt.so.1": re.compile(r"(aio|lio|mq|shm|timer)_"),
}
"""Where symbols of libc.so.6 lived until glibc 2.34."""

# Num: Value Size Type Bind Vis Ndx Name@Version, of `readelf --dyn-syms`.
_SYMBOL = re.compile(
    r"\s*\d+: [0-9a-f]+\s+(?P<size>\d+|0x[0-9a-f]+) (?P<type>\w+)\s+(GLOBAL|WEAK|UNIQUE)\s+DEFAULT\s+"
    r"(?P<index>\w+) (?P<name>[^@\s]+)@@?(?P<version>\S+)"
)
_VERSION = re.compile(r"(?P<family>[A-Z]+)_(?P<numbers>\d+(\.\d+)*)\Z")


class StubError(Exception):
    """The machine's libraries cannot be read or written; the text says why."""


@dataclasses.dataclass(frozen=True, order=True)
class Symbol:
    """A symbol that a library offers.

    Attributes:
        name: without version.
        version: such as "GLIBC_2.2.5".
        kind: "function", "object" or "tls_object", the assembler's word.
        size: bytes of an object.
    """

    name: str
    version: str
    kind: str
    size: int


def parse_version(version: str) -> tuple[str, tuple[int, ...]] | None:
    """Takes a version such as "GLIBC_2.2.5" apart; None for one without numbers, such as GLIBC_PRIVATE."""
    found = _VERSION.match(version)
    if found is None:
        return None
    return found["family"], tuple(int(number) for number in found["numbers"].split("."))


def promised(lines: Iterable[str]) -> list[Symbol]:
    """What a library offers within the ceilings: of each name the newest version.

    Args:
        lines: what `readelf --wide --dyn-syms` prints.

    Returns:
        The symbols, by name.
    """
    newest: dict[str, tuple[tuple[int, ...], Symbol]] = {}
    for line in lines:
        found = _SYMBOL.match(line)
        if found is None or found["index"] in ("UND", "ABS"):
            continue
        version = parse_version(found["version"])
        if version is None or version[1] > CEILINGS.get(version[0], ()):
            continue
        kind = {"OBJECT": "object", "TLS": "tls_object"}.get(found["type"], "function")
        symbol = Symbol(found["name"], found["version"], kind, int(found["size"], 0))
        if symbol.name not in newest or newest[symbol.name][0] < version[1]:
            newest[symbol.name] = (version[1], symbol)
    return sorted(symbol for _, symbol in newest.values())


def assembly(symbols: Sequence[Symbol]) -> str:
    """Assembler text that defines the symbols, each under its version."""
    places = {"function": ".text", "object": ".bss", "tls_object": '.section .tbss,"awT",@nobits'}
    lines = ['.section .note.GNU-stack,"",@progbits']
    for number, symbol in enumerate(symbols):
        lines += [
            places[symbol.kind],
            ".balign 16",
            f".globl stub_{number}",
            f".type stub_{number},@{symbol.kind}",
            f".size stub_{number},{symbol.size}",
            f"stub_{number}: .skip {max(symbol.size, 1) if symbol.kind != 'function' else 1}",
            f".symver stub_{number},{symbol.name}@@@{symbol.version}",
        ]
    return "\n".join(lines) + "\n"


def version_script(symbols: Iterable[Symbol]) -> str:
    """The linker's version script for the symbols."""
    versions: dict[str, list[str]] = {}
    for symbol in symbols:
        versions.setdefault(symbol.version, []).append(symbol.name)
    return "".join(
        f"{version} {{ global: {' '.join(f'{name};' for name in names)} }};\n"
        for version, names in sorted(versions.items())
    )


def split_moved(symbols: Iterable[Symbol]) -> dict[str, list[Symbol]]:
    """Puts symbols of a libc.so.6 into the libraries that had them in glibc 2.28, by soname."""
    libraries: dict[str, list[Symbol]] = {"libc.so.6": [], **{soname: [] for soname in _MOVED}}
    for symbol in symbols:
        owners = [soname for soname, names in _MOVED.items() if names.match(symbol.name)]
        libraries[owners[0] if owners else "libc.so.6"].append(symbol)
    return libraries


def _run(*command: str | pathlib.Path) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise StubError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _locate(compiler: str, name: str) -> pathlib.Path:
    path = pathlib.Path(_run(compiler, f"-print-file-name={name}").strip())
    if not path.is_file():
        raise StubError(f"{compiler} knows no {name}")
    return path


def write_library(
    folder: pathlib.Path, soname: str, symbols: Sequence[Symbol], compiler: str
) -> None:
    """Links one library without code.

    Args:
        folder: where it goes.
        soname: its name.
        symbols: what it offers.
        compiler: a C compiler for this machine.

    Raises:
        StubError: the compiler refuses.
    """
    source, script = folder / f"{soname}.s", folder / f"{soname}.map"
    source.write_text(assembly(symbols))
    script.write_text(version_script(symbols))
    _run(
        compiler,
        "-shared",
        "-nostdlib",
        f"-Wl,-soname,{soname}",
        f"-Wl,--version-script={script}",
        "-Wl,--build-id=none",
        "-o",
        folder / soname,
        source,
    )
    source.unlink()
    script.unlink()


def write_folder(folder: pathlib.Path, newer: pathlib.Path, compiler: str) -> None:
    """Writes all libraries, and what ``-lc``, ``-lm``, ``-lstdc++`` and the others mean there.

    Args:
        folder: where they go; it is made.
        newer: an archive of what symbols above the ceilings are replaced by.
        compiler: a C compiler for this machine.

    Raises:
        StubError: a library of this machine cannot be read, or the compiler refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    machine = _run(compiler, "-dumpmachine").strip()
    loader = LOADERS.get(machine.split("-")[0])
    if loader is None:
        raise StubError(f"{compiler} is for {machine}; known are {', '.join(LOADERS)}")
    for name in (*LIBRARIES, loader):
        text = _run("readelf", "--wide", "--dyn-syms", _locate(compiler, name))
        symbols = promised(text.splitlines())
        if name == "libc.so.6":
            for soname, part in split_moved(symbols).items():
                write_library(folder, soname, part, compiler)
        else:
            write_library(folder, name, symbols, compiler)
    (folder / newer.name).write_bytes(newer.read_bytes())
    own = _locate(compiler, "libc_nonshared.a")
    libc = f"libc.so.6 libpthread.so.0 libdl.so.2 librt.so.1 {loader}"
    scripts = {
        # The archive comes first in its own group: it calls what the libraries have.
        "libc.so": f"GROUP ( {libc} {newer.name} {own} )",
        "libm.so": f"GROUP ( libm.so.6 {newer.name} )",
        "libstdc++.so": f"GROUP ( libstdc++.so.6 {newer.name} )",
        "libgcc_s.so": "GROUP ( libgcc_s.so.1 -lgcc )",
        "libpthread.so": "INPUT ( libpthread.so.0 )",
        "libdl.so": "INPUT ( libdl.so.2 )",
        "librt.so": "INPUT ( librt.so.1 )",
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"/* Written by tools/cc/manylinux. */\n{text}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the folder; returns 1 with a message on stderr when it cannot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--compiler", required=True, help="the C compiler that links")
    parser.add_argument("--newer", required=True, type=pathlib.Path, help="archive of replacements")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="folder to write")
    flags = parser.parse_args(arguments)
    try:
        write_folder(flags.output, flags.newer, flags.compiler)
    except StubError as error:
        print(f"stub_libraries: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
