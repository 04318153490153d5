"""Builds everything that upstream builds, in slices that may be interrupted at any time.

Usage, from the root of the clone:

    python3 -m upstream.full.build                       everything: operators, then attention, stage after stage
    python3 -m upstream.full.build --until operators     without fused attention
    python3 -m upstream.full.build --list                what would be built; builds nothing
    python3 -m upstream.full.build --costs FILE          writes down what each unit took

A slice is a few units, built with `./bazelw build --config=full`. What was compiled before comes from Bazel's disk
cache, so a second run continues where the first one stopped. When the units of a stage are there, its wheel is linked.
"""

import argparse
import contextlib
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from upstream.full import compilers, costs
from upstream.full.stages import STAGES, Stage, stages_until

_WHEEL = "//python:torch_cuda_wheel"
# Of the time that a slice's compilers take on one core; no machine compiles so much faster.
_CACHED = 0.03
# Options of Bazel that say where sources come from.
_OF_SOURCES = ("--repo_env=", "--override_repository=", "--override_module=", "--registry=")
# What a shell says of a program that was interrupted.
_INTERRUPTED = 128 + signal.SIGINT


def unit_query(package: str) -> str:
    """Returns the query for what a package compiles, unit by unit where it has several."""
    return f'kind("(cc|cuda)_library rule", //{package}:*) except attr(srcs, "^\\[\\]$", //{package}:*)'


def units(stage: Stage, options: Sequence[str] = ()) -> list[str]:
    """Returns the labels of a stage's units, in the order of their names.

    Args:
      stage: the stage.
      options: of `bazel build`; those that say where sources come from count.
    """
    query = " union ".join(f"({unit_query(package)})" for package in stage.packages)
    sources = [option for option in options if option.startswith(_OF_SOURCES)]
    command = ["./bazelw", "query", "--noshow_progress", "--output=label", *sources, query]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return sorted(label for label in result.stdout.split() if stage.has(label))


def output_base() -> str:
    """Returns the folder below which this clone's compilers work."""
    command = ["./bazelw", "info", "output_base"]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return result.stdout.strip()


def slices(labels: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Cuts a list into pieces of at most `size` labels."""
    for start in range(0, len(labels), size):
        yield labels[start : start + size]


def build(targets: Sequence[str], options: Sequence[str]) -> bool:
    """Builds some targets; returns whether all of them were built."""
    command = ["./bazelw", "build", "--config=full", "--keep_going", *options, "--", *targets]
    with subprocess.Popen(command) as process:
        try:
            return process.wait() == 0
        except KeyboardInterrupt:
            # Bazel ends by itself, and takes its compilers with it; killed, it would leave them running.
            process.send_signal(signal.SIGINT)
            process.wait()
            raise


class Progress:
    """How far a build is, and how long it may still take.

    A unit counts as much as the table of costs says of it, and one that is not in the table as much as the table's median.
    """

    def __init__(self, labels: Sequence[str], known: dict[str, float]) -> None:
        usual = statistics.median(known.values()) if known else 1.0
        self._price = {label: known.get(costs.unit_of(label), usual) for label in labels}
        self._left = sum(self._price.values())
        self._done = 0.0
        self._seconds = 0.0

    def add(self, labels: Sequence[str], seconds: float) -> None:
        """Counts units that took so long to build, in seconds by the clock."""
        price = sum(self._price[label] for label in labels)
        self._left -= price
        # What came from Bazel's cache says nothing of the pace.
        if seconds > _CACHED * price:
            self._done += price
            self._seconds += seconds

    @property
    def left(self) -> str:
        """What is said of the time that is left, by the pace so far."""
        if not self._done:
            return "time left: not known yet"
        seconds = self._left * self._seconds / self._done
        return f"about {int(seconds // 3600)} h {int(seconds % 3600 // 60)} min left"


def _build_stage(
    stage: Stage,
    labels: Sequence[str],
    size: int,
    options: Sequence[str],
    progress: Progress,
    after_slice: Callable[[], None],
) -> list[str]:
    """Builds a stage's units and links its wheel; returns what failed."""
    failed = []
    pieces = list(slices(labels, size))
    for number, piece in enumerate(pieces, start=1):
        title = f"{stage.name}, slice {number} of {len(pieces)}"
        print(f"{title}: {', '.join(map(costs.unit_of, piece))}", flush=True)
        start = time.monotonic()
        good = build(piece, options)
        seconds = time.monotonic() - start
        progress.add(piece, seconds)
        after_slice()
        said = "built" if good else "FAILED"
        print(f"{title}: {said} in {seconds:.0f} s, {progress.left}", flush=True)
        if not good:
            failed.append(title)
    if failed:
        return failed
    title = f"{stage.name}, wheel"
    start = time.monotonic()
    good = build([_WHEEL], [f"--//config:attention={stage.attention}", *options])
    said = "linked" if good else "FAILED"
    print(f"{title}: {said} in {time.monotonic() - start:.0f} s", flush=True)
    return [] if good else [title]


def _positive(text: str) -> int:
    """Reads a number of units."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of units")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Build everything that upstream builds, in slices."
    )
    parser.add_argument(
        "--until",
        choices=[stage.name for stage in STAGES],
        default=STAGES[-1].name,
        help="the last stage to build (default: %(default)s)",
    )
    parser.add_argument(
        "--size", type=_positive, default=8, help="units in a slice (default: %(default)s)"
    )
    parser.add_argument("--list", action="store_true", help="print the slices and build nothing")
    parser.add_argument("--costs", type=Path, help="write what each unit took to this file (TSV)")
    parser.add_argument("options", nargs="*", help="options for bazel build, after --")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Builds the chosen stages; returns 1 where something was not built."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.options and not chosen.options[0].startswith("-"):
        parser.error(f"{chosen.options[0]} is no option for bazel build")
    if chosen.costs and not chosen.list:
        try:
            # Not known only after the first slice, which takes minutes.
            costs.write(chosen.costs, {})
        except (OSError, ValueError) as error:
            parser.error(f"--costs: {error}")
    try:
        return _run(chosen)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return _INTERRUPTED


def _run(chosen: argparse.Namespace) -> int:
    labels: dict[Stage, list[str]] = {}
    try:
        for stage in stages_until(chosen.until):
            earlier = {label for found in labels.values() for label in found}
            labels[stage] = [
                label for label in units(stage, chosen.options) if label not in earlier
            ]
    except subprocess.CalledProcessError as error:
        # Bazel has said why.
        return int(error.returncode)
    if chosen.list:
        for stage, found in labels.items():
            for piece in slices(found, chosen.size):
                print(f"{stage.name}: {', '.join(map(costs.unit_of, piece))}")
        return 0

    progress = Progress(
        [label for found in labels.values() for label in found], costs.known_seconds()
    )
    watch = compilers.Watch(output_base() if chosen.costs else "")
    failed: list[str] = []

    def write_costs() -> None:
        if chosen.costs:
            try:
                costs.write(chosen.costs, watch.costs)
            except OSError as error:
                # No reason to stop building; the next slice tries again.
                print(f"--costs: {error}", file=sys.stderr)

    with watch if chosen.costs else contextlib.nullcontext():
        for stage, found in labels.items():
            failed += _build_stage(stage, found, chosen.size, chosen.options, progress, write_costs)
            if failed:
                break
    for title in failed:
        print(f"not built: {title}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
