"""Completes a drop-in library: a function for everything that NVIDIA's exports and ours lacks.

    stubs.py --real libcublas.so --names names.txt --soname libcublas.so.12 --status 15 \
        --status_name CUBLAS_STATUS_NOT_SUPPORTED --source stubs.c --version_script exports.map \
        OBJECT...

A function that nobody wrote answers with the library's own "not supported" status and names itself
once on stderr, so that a program neither fails to load nor gets wrong results. The names come from
the library of the toolkit that this is built with, and from lists of the names of later ones.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Sequence

# Functions that return a text, where a status would be taken for an address.
_TEXTS = ("GetErrorString", "GetErrorName", "GetStatusString", "GetStatusName")

_HEAD = """\
// Written by runtime/dropin/stubs.py: what {soname} exports and this
// runtime does not have.
#include <stdatomic.h>
#include <stdio.h>

static int answer(const char* function, atomic_flag* told) {{
  if (!{quiet} && !atomic_flag_test_and_set(told)) {{
    fprintf(
        stderr,
        "torch_cuda: %s is not supported by this CUDA runtime ({status_name})\\n",
        function);
  }}
  return {status};
}}
"""

_TEXT_HEAD = """
static const char* text(int status) {{
  return status == {status} ? "{status_name}" : "unknown status";
}}
"""

_STATUS = """
int {name}(void) {{
  static atomic_flag told = ATOMIC_FLAG_INIT;
  return answer("{name}", &told);
}}
"""

_NULL = """
void* {name}(void) {{
  static atomic_flag told = ATOMIC_FLAG_INIT;
  answer("{name}", &told);
  return 0;
}}
"""

_TEXT = """
const char* {name}(int status) {{
  return text(status);
}}
"""


class StubError(Exception):
    """The real library cannot be read; the text says why."""


def symbols(path: pathlib.Path, *options: str) -> set[str]:
    """The functions that a library or an object file defines, without symbol versions.

    Args:
        path: the file.
        options: for nm.

    Raises:
        StubError: nm cannot read it.
    """
    done = subprocess.run(
        ["nm", "--defined-only", *options, str(path)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise StubError(f"nm cannot read {path}: {done.stderr.strip()}")
    lines = (line.split() for line in done.stdout.splitlines())
    return {words[-1].partition("@")[0] for words in lines if len(words) == 3 and words[1] in "TWi"}


def names_for(text: str, major: str) -> set[str]:
    """The names of a list that a library has.

    Args:
        text: a name in each line, perhaps followed by the one major version of CUDA that has it.
        major: of the library, such as "13".
    """
    lines = (line.split() for line in text.splitlines())
    return {name for name, *only in lines if only in ([], [major])}


def source(
    soname: str,
    missing: Iterable[str],
    status: int,
    status_name: str,
    quiet: bool = False,
    null: Iterable[str] = (),
) -> str:
    """C code with one function for each name.

    Args:
        soname: of the library, for the comment.
        missing: names of functions.
        status: what they return.
        status_name: its name in the library's API.
        quiet: do not name the function on stderr.
        null: those that return an address, which is then none.
    """
    code = [_HEAD.format(soname=soname, status=status, status_name=status_name, quiet=int(quiet))]
    missing = sorted(missing)
    if any(name.endswith(_TEXTS) for name in missing):
        code.append(_TEXT_HEAD.format(status=status, status_name=status_name))
    for name in missing:
        form = _NULL if name in null else _TEXT if name.endswith(_TEXTS) else _STATUS
        code.append(form.format(name=name))
    return "".join(code)


def version_script(version: str, exported: Iterable[str]) -> str:
    """A linker script that exports these names under the version that NVIDIA's library has.

    Args:
        version: of the symbols, which is the soname in most of NVIDIA's libraries; empty: they have none.
        exported: everything else stays inside.
    """
    names = "".join(f"    {name};\n" for name in sorted(exported))
    return f"{version} {{\n  global:\n{names}  local:\n    *;\n}};\n".lstrip()


def main(argv: Sequence[str] | None = None) -> int:
    """Writes both files; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--real", type=pathlib.Path, help="NVIDIA's library")
    parser.add_argument("--names", type=pathlib.Path, help="a file with a name in each line")
    parser.add_argument("--major", default="", help="of CUDA, whose names of the file are taken")
    parser.add_argument("--version", help="of the symbols, where it is not the soname")
    parser.add_argument(
        "--null",
        action="append",
        default=[],
        help="this function returns 0, an address that is none",
    )
    parser.add_argument("--soname", required=True)
    parser.add_argument("--status", type=int, required=True)
    parser.add_argument("--status_name", required=True)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument(
        "--unversioned", action="store_true", help="NVIDIA's symbols have no version"
    )
    parser.add_argument("--extra", action="append", default=[], help="export this name as well")
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--version_script", type=pathlib.Path, required=True)
    parser.add_argument("objects", nargs="*", type=pathlib.Path)
    args = parser.parse_args(argv)
    try:
        wanted = symbols(args.real, "--dynamic") - {"_init", "_fini"} if args.real else set()
        if args.names:
            wanted |= names_for(args.names.read_text(encoding="utf-8"), args.major)
        ours = {name for file in args.objects for name in symbols(file)}
    except StubError as error:
        print(error, file=sys.stderr)
        return 1
    missing = wanted - ours
    args.source.write_text(
        source(args.soname, missing, args.status, args.status_name, args.quiet, args.null),
        encoding="utf-8",
    )
    exported = wanted | set(args.extra)
    version = "" if args.unversioned else args.version or args.soname
    args.version_script.write_text(version_script(version, exported), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
