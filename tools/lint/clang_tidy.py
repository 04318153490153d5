"""Looks for likely errors in C++: ./bazelw run //tools/lint:clang_tidy -- FILES OR FOLDERS [--include=FOLDER].

.clang-tidy has the checks. No part of `bazel test`: a file that includes torch takes ten seconds. It is compiled with
the headers of the workspace, of torch and of the system, and of the folders that --include names. A header that is in
none of them, such as one that the build generates, is told as an error of clang's.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath

from tools.lint import checks, workspace

_FINDING = re.compile(r"^(?=\S[^\n]*:\d+:\d+: (?:warning|error): )", re.MULTILINE)


def selected(paths: Iterable[PurePath], asked: Sequence[PurePath]) -> list[PurePath]:
    """The sources of C++ among the files of the workspace that are asked for, by their names or by a folder's.

    Raises:
        ValueError: something that is asked for names none.
    """
    sources = [path for path in paths if path.suffix in (".cc", ".cpp")]
    for one in asked:
        if not any(path.is_relative_to(one) for path in sources):
            raise ValueError(
                f"found no C++ source in {one}; needed a file (.cpp, .cc) or a folder with some"
            )
    return [path for path in sources if any(path.is_relative_to(one) for one in asked)]


def command(source: PurePath, tool: Path, includes: Sequence[str]) -> list[str]:
    """The command that checks one source, to be run in the root of the workspace.

    Args:
        source: relative to the root.
        tool: clang-tidy; its headers are beside it.
        includes: folders with headers of others, in which nothing is checked.
    """
    flags = ["-std=c++17", "-I.", f"-resource-dir={tool.parent}", "-Wno-everything"]
    for folder in includes:
        flags += ["-isystem", folder]
    return [str(tool), "--quiet", str(source), "--", *flags]


def findings(outputs: Iterable[str]) -> Iterator[str]:
    """The findings in what the commands print. Those in a header come once, however many sources include it."""
    seen = set()
    for output in outputs:
        for finding in _FINDING.split(output):
            text = finding.strip()
            if text and text not in seen:
                seen.add(text)
                yield text


def _torch_headers() -> list[str]:
    spec = importlib.util.find_spec("torch")
    folders = (spec and spec.submodule_search_locations) or []
    names = ("include", "include/torch/csrc/api/include")
    return [str(Path(folder, name)) for folder in folders for name in names]


def main(arguments: Sequence[str]) -> int:
    """Runs the command line and returns the exit status: 1 where something is found."""
    parser = argparse.ArgumentParser(prog="./bazelw run //tools/lint:clang_tidy --")
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="a C++ source, or a folder with some"
    )
    parser.add_argument("--include", action="append", default=[], help="a folder with more headers")
    given = parser.parse_args(arguments)
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    try:
        root = workspace.root().resolve()
        asked = [PurePath(os.path.relpath((here / path).resolve(), root)) for path in given.paths]
        sources = selected(workspace.files(root), asked)
        tool, macros = Path(checks.tool("clang_tidy")), Path(checks.tool("cuda_macros"))
    except (checks.ToolError, workspace.WorkspaceError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    # The header's name is c10/cuda/impl/cuda_cmake_macros.h.
    generated = macros.parents[3]
    includes = [str((here / path).resolve()) for path in given.include]
    includes += [str(generated), *_torch_headers()]

    def run(source: PurePath) -> str:
        done = subprocess.run(
            command(source, tool, includes), cwd=root, capture_output=True, text=True, check=False
        )
        # Without a finding, what goes wrong (a crash, a configuration that it cannot read) is told there.
        failed = done.returncode != 0 and not done.stdout.strip()
        return done.stderr if failed else done.stdout

    found = 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for finding in findings(pool.map(run, sources)):
            print(finding, flush=True)
            found += 1
    print(f"{len(sources)} sources checked, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
