"""Puts a hook between a test's object files and the functions of an API that they call.

    hooks.py --exports MAP ... --source HOOKS.S --object IN OUT ...

In the copies of the object files each function of the API has another name, which HOOKS.S defines: the hook, which
goes on in dispatch.S. Calls among the library's own objects are as they were.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence

from runtime.coverage.mutants import objects

_PREFIX = "coverage_hook_"

_HEAD = "// Written by runtime/coverage/mutants/hooks.py.\n    .text\n"

_HOOK = """\
    .globl {prefix}{name}
    .type {prefix}{name}, @function
{prefix}{name}:
    movl ${number}, %r11d
    jmp coverage_dispatch
"""

_TABLES = """\
    .section .rodata
{texts}
    .globl coverage_hooked_count
coverage_hooked_count: .long {count}
    .section .data.rel.ro, "aw"
    .balign 8
    .globl coverage_hooked
coverage_hooked:
{functions}
    .globl coverage_hooked_names
coverage_hooked_names:
{names}
    .section .note.GNU-stack, "", @progbits
"""


def exported(version_script: str) -> set[str]:
    """The names that a version script of runtime/dropin exports."""
    return set(re.findall(r"^    (\w+);$", version_script, re.MULTILINE))


def source(functions: Sequence[str]) -> str:
    """Assembler with a hook for each function, and tables of them in the same order."""
    hooks = (
        _HOOK.format(prefix=_PREFIX, name=name, number=number)
        for number, name in enumerate(functions)
    )
    numbers = range(len(functions))
    tables = _TABLES.format(
        texts="\n".join(f'.Lname{number}: .asciz "{functions[number]}"' for number in numbers),
        count=len(functions),
        functions="\n".join(f"    .quad {name}" for name in functions),
        names="\n".join(f"    .quad .Lname{number}" for number in numbers),
    )
    return "".join((_HEAD, *hooks, tables))


def hook(files: Iterable[Sequence[pathlib.Path]], functions: Iterable[str]) -> None:
    """Copies object files so that they call the hooks.

    Args:
        files: pairs of a file and its copy.
        functions: those that have a hook.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".names", encoding="utf-8") as names:
        names.write("".join(f"{name} {_PREFIX}{name}\n" for name in functions))
        names.flush()
        for given, made in files:
            subprocess.run(["objcopy", f"--redefine-syms={names.name}", given, made], check=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the files; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--exports", action="append", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--object", action="append", nargs=2, type=pathlib.Path, required=True)
    args = parser.parse_args(argv)
    api = {name for path in args.exports for name in exported(path.read_text(encoding="utf-8"))}
    try:
        functions = sorted(api & objects.called(given for given, _ in args.object))
    except objects.ObjectError as error:
        print(error, file=sys.stderr)
        return 1
    args.source.write_text(source(functions), encoding="utf-8")
    hook(args.object, functions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
