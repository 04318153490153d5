"""What building costs: each package's CPU time and units, and the way from an edit to a new wheel.

    # Where the time goes. Build without caches, with a profile, then read it:
    ./bazelw build //python:torch_cuda_wheel --disk_cache= --noslim_profile \\
        --experimental_profile_include_target_label --experimental_profile_include_primary_output \\
        --profile=/tmp/profile.gz --build_event_json_file=/tmp/events.json
    ./bazelw run //bench:build_cost -- report --profile=/tmp/profile.gz --events=/tmp/events.json

    # What one edit costs. Edits a copy of PyTorch's sources, builds with it:
    ./bazelw run //bench:build_cost -- edits --source=PYTORCH_SOURCE

Both print tables in Markdown.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence

from bench import bazel_events, edits
from upstream.units import count as upstream_units

TARGET = "//python:torch_cuda_wheel"

# Files that every profile compiles.
CUDA_FILE = "aten/src/ATen/native/cuda/FillKernel.cu"
C10_CUDA_FILE = "c10/cuda/CUDAFunctions.cpp"
PYTHON_FILE = "python/torch_cuda/__init__.py"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Writes a Markdown table.

    Args:
        head: names of the columns.
        rows: the cells.

    Returns:
        The text.
    """
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def package(target: str) -> str:
    """Takes the package out of a label.

    Args:
        target: for example "//aten_cuda/native:copy", or "@@x//:y".

    Returns:
        For example "aten_cuda/native"; the repository for a label of another one.
    """
    repository, _, rest = target.partition("//")
    return repository.lstrip("@") or rest.split(":")[0]


def report(processes: Sequence[bazel_events.Process], build: bazel_events.Build) -> str:
    """Sums up a build by package.

    Args:
        processes: what ran, from the profile.
        build: from the events of the same build.

    Returns:
        A table: for each package its translation units, their CPU seconds and the slowest of them,
        and the CPU seconds of everything else it ran.
    """
    cpu = bazel_events.cpu_seconds(processes, build)
    groups: dict[str, list[bazel_events.Process]] = collections.defaultdict(list)
    for process in processes:
        groups[package(process.target)].append(process)
    rows = []
    for name, members in sorted(groups.items()):
        rows.append((name, *_summary(members, cpu)))
    rows.append(("**all**", *_summary(processes, cpu)))
    head = ("package", "units", "CPU s of units", "slowest unit, s", "CPU s of the rest")
    return table(head, rows)


def _summary(
    processes: Sequence[bazel_events.Process], cpu: dict[bazel_events.Process, float]
) -> tuple[str, str, str, str]:
    units = [cpu[process] for process in processes if process.mnemonic in edits.COMPILERS]
    rest = [cpu[process] for process in processes if process.mnemonic not in edits.COMPILERS]
    slowest = f"{max(units):.0f}" if units else ""
    return str(len(units)), f"{sum(units):.0f}", slowest, f"{sum(rest):.0f}"


def summarize_edits(results: Sequence[edits.Rebuild]) -> str:
    """Sums up rebuilds by what was edited.

    Args:
        results: from edits.measure.

    Returns:
        A table with the median time of each edit, and its range.
    """
    groups: dict[str, list[edits.Rebuild]] = collections.defaultdict(list)
    for result in results:
        groups[result.what].append(result)
    rows = []
    for what, members in groups.items():
        seconds = [member.seconds for member in members]
        ran = {kind: count for kind, count in members[-1].kinds.items() if count}
        rows.append(
            (
                what,
                members[-1].compiled,
                ", ".join(f"{count} {kind}" for kind, count in sorted(ran.items())) or "none",
                f"{statistics.median(seconds):.1f} ({min(seconds):.1f} to {max(seconds):.1f})",
            )
        )
    return table(("edited", "units compiled", "actions", "seconds"), rows)


def summarize_upstream(units: upstream_units.Units) -> str:
    """Writes down the size of upstream's build.

    Args:
        units: from upstream_units.count.

    Returns:
        One line.
    """
    return (
        f"PyTorch's own CUDA build compiles {units.total} units of its own: libc10 {units.c10}, "
        f"libtorch_cpu {units.torch_cpu}, libtorch_python {units.torch_python}, libc10_cuda "
        f"{units.c10_cuda}, libtorch_cuda {units.torch_cuda}."
    )


def _workspace() -> pathlib.Path:
    named = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    return pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parent.parent


def _bazel() -> list[str]:
    here = str(pathlib.Path(__file__).absolute())
    if os.environ.get("BUILD_WORKSPACE_DIRECTORY") and "/execroot/" in here:
        return bazel_of(pathlib.Path(here.split("/execroot/")[0]))
    return ["./bazelw"]


def bazel_of(base: pathlib.Path) -> list[str]:
    """The command of the Bazel that runs this.

    Args:
        base: its output base. bazelw's settings, such as the disk cache that outputs may be in alone, are beside it,
            one file for each entry (tools/buildroot/bazelrc.sh); the server's command line has its own.
    """
    options = []
    server = base / "server/cmdline"
    entry = re.search(r"-Dbazelw\.entry=(\w+)", server.read_text()) if server.is_file() else None
    if entry:
        name = f"{base.parent.name.replace('out-', 'bazelw-', 1)}-{entry[1]}.rc"
        options.append(f"--bazelrc={base.parent.with_name(name)}")
    return ["bazel", *options, f"--output_base={base}"]


def _run_edits(options: argparse.Namespace) -> str:
    workspace = _workspace()
    bazel = options.bazel.split() if options.bazel else _bazel()
    with contextlib.ExitStack() as at_the_end:
        # After the copy is deleted.
        at_the_end.callback(edits.fetch_again, bazel, workspace, "@pytorch", options.flag)
        tree = pathlib.Path(at_the_end.enter_context(tempfile.TemporaryDirectory()), "pytorch")
        shutil.copytree(options.source, tree, symlinks=True)
        flags = [f"--repo_env=PYTORCH_SOURCE_DIR={tree}", *options.flag]
        builder = edits.Builder(bazel, workspace, TARGET, flags)
        print("Building everything once with a copy of the sources ...", file=sys.stderr)
        builder.build("everything")
        files = [
            ("one .cu", tree / CUDA_FILE),
            ("one c10_cuda .cpp", tree / C10_CUDA_FILE),
            ("one Python file", workspace / PYTHON_FILE),
        ]
        results = edits.measure(builder, files, options.rounds)
        units = upstream_units.count(tree)
    return summarize_edits(results) + "\n" + summarize_upstream(units) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Command line of the bench.

    Args:
        argv: see `--help`; the process's own arguments if None.

    Returns:
        0.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    reporter = commands.add_parser("report", help="CPU time and units of each package")
    reporter.add_argument("--profile", type=pathlib.Path, required=True)
    reporter.add_argument("--events", type=pathlib.Path, required=True)
    editor = commands.add_parser("edits", help="from one edit to a new wheel")
    editor.add_argument("--source", type=pathlib.Path, required=True, help="PyTorch's source tree")
    editor.add_argument("--rounds", type=int, default=3, help="(default: 3)")
    editor.add_argument("--bazel", help="command that runs Bazel (default: the one in use)")
    editor.add_argument("--flag", action="append", default=[], help="more flags for the build")
    options = parser.parse_args(argv)
    if options.command == "report":
        processes = bazel_events.read_profile(options.profile)
        print(report(processes, bazel_events.read_build(options.events)), end="")
    else:
        print(_run_edits(options), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
