"""Says whether all that a shared library refers to is defined by the libraries that it is loaded with.

The linker sees to that itself (`--no-undefined`), but not for extension modules: what they take from Python is defined by
the interpreter, which they are not linked with. Nothing here loads a library.

    closed_link.py --library FILE --with FILE... --compiler FILE --advice TEXT --stamp FILE
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Sequence

# Of the C and C++ run time: what no library has to be named for.
_RUNTIME = (
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
)
_INTERPRETER = ("Py", "_Py")
_MOST = 10


def _symbols(library: pathlib.Path, *options: str) -> list[tuple[str, str]]:
    """The kind and the name, without its version, of dynamic symbols; an archive has none."""
    command = ["nm", "--dynamic", "--portability", *options, str(library)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # The members of an archive have lines of one word.
    fields = [line.split() for line in text.splitlines()]
    return [(parts[1], parts[0].split("@")[0]) for parts in fields if len(parts) > 1]


def unresolved(library: pathlib.Path, others: Iterable[pathlib.Path]) -> list[str]:
    """The symbols of a library that no other one defines, nor the interpreter, sorted.

    Args:
        library: a shared library.
        others: those that are loaded with it.
    """
    wanted = {name for kind, name in _symbols(library, "--undefined-only") if kind == "U"}
    for other in others:
        wanted -= {name for _, name in _symbols(other, "--defined-only")}
    return sorted(name for name in wanted if not name.startswith(_INTERPRETER))


def runtime_libraries(compiler: str) -> list[pathlib.Path]:
    """The libraries of the C and C++ run time that a compiler links with."""
    found = []
    for name in _RUNTIME:
        command = [compiler, f"-print-file-name={name}"]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        # The name itself is the answer for a library that is not there.
        if pathlib.Path(answer).is_absolute():
            found.append(pathlib.Path(answer))
    return found


def _readable(names: Sequence[str]) -> list[str]:
    """Names as they are in the sources."""
    answer = subprocess.run(
        ["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True
    )
    return answer.stdout.splitlines()


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns 1, with one message, where something is not defined."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--with", dest="others", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--advice", required=True)
    parser.add_argument("--stamp", type=pathlib.Path, required=True)
    arguments = parser.parse_args(argv)
    others = [*arguments.others, *runtime_libraries(arguments.compiler)]
    missing = unresolved(arguments.library, others)
    if missing:
        more = f"\n  and {len(missing) - _MOST} more" if len(missing) > _MOST else ""
        print(
            f"{arguments.library.name} would not load: it refers to what no library that it is loaded with defines:\n  "
            + "\n  ".join(_readable(missing[:_MOST]))
            + f"{more}\n{arguments.advice}",
            file=sys.stderr,
        )
        return 1
    arguments.stamp.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
