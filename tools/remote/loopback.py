"""Proves remote cache and execution on this machine alone:

    ./bazelw shell python3 -m tools.remote.loopback

starts BuildGrid, its database and a worker, and builds the C++ half of the wheel twice,
`clean` between: through the remote cache, then through remote execution. The second build of each
has to be all hits. README.md beside this file says more.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from tools.remote import install, services

# Without kernels: nvcc's part of an hour would prove nothing more.
TARGETS = ("//c10_cuda:libc10_cuda.so", "//framework", "//python/csrc:module")
WORKSPACE = pathlib.Path(__file__).resolve().parents[2]

HIT = "remote cache hit"
# bazel-bin and its kin stay those of the user's own builds.
_NO_LINKS = "--experimental_convenience_symlinks=ignore"
# What Bazel does itself, such as writing a file with parameters.
INTERNAL = "internal"


@dataclasses.dataclass(frozen=True)
class Build:
    """One build.

    Attributes:
      seconds: from start to end.
      actions: how many actions ran in which way, without those that are Bazel's own.
    """

    seconds: float
    actions: dict[str, int]

    def __str__(self) -> str:
        ran = ", ".join(f"{count} {name}" for name, count in sorted(self.actions.items()))
        return f"{ran or 'nothing'} in {self.seconds:.0f} s"


class ProofError(Exception):
    """A build failed, or did not go the way that is to be proved."""


def _output_base(folder: pathlib.Path) -> pathlib.Path:
    """A folder for Bazel's outputs of this clone: what another clone's links lead to may be out of sight."""
    return folder / f"bazel-{hashlib.sha256(str(WORKSPACE).encode()).hexdigest()[:12]}"


def actions_of(events: str) -> dict[str, int]:
    """How many actions a build ran, by the way they ran.

    Args:
      events: the text that Bazel writes to `--build_event_json_file`.

    Returns:
      The counts of Bazel's own last line, such as "local" and "remote cache hit".
    """
    counts: dict[str, int] = {}
    for line in events.splitlines():
        summary: dict[str, Any] = json.loads(line).get("buildMetrics", {}).get("actionSummary", {})
        for runner in summary.get("runnerCount", []):
            if runner["name"] not in ("total", INTERNAL):
                counts[runner["name"]] = int(runner["count"])
    return counts


def check(first: Build, second: Build, *, execution: bool) -> None:
    """Compares two builds of the same targets, the second after `clean`.

    Args:
      first: the one that had no results to take.
      second: the other.
      execution: whether workers had to run the actions.

    Raises:
      ProofError: the first build took results, or ran actions here that workers had to run; or the
        second build did anything but take results.
    """
    expected = "remote" if execution else "local"
    if set(first.actions) != {expected}:
        raise ProofError(f"first build: {first}; needed {expected} actions only")
    if second.actions != {HIT: sum(first.actions.values())}:
        raise ProofError(
            f"second build: {second}; needed {sum(first.actions.values())} of {HIT!r} and no more"
        )


class Bazel:
    """Bazel with outputs of its own, so that no result of other builds is taken."""

    def __init__(
        self, output_base: pathlib.Path, bazelrc: pathlib.Path, options: Sequence[str]
    ) -> None:
        self._command = [str(WORKSPACE / "bazelw"), f"--output_base={output_base}"]
        self._command.append(f"--bazelrc={bazelrc}")
        self._options = [_NO_LINKS, *options]

    def build(self, targets: Sequence[str], events: pathlib.Path) -> Build:
        """Builds targets from nothing.

        Args:
          targets: their labels.
          events: a file for Bazel's events.

        Returns:
          What it took.

        Raises:
          ProofError: the build failed.
        """
        self.call("clean", _NO_LINKS)
        # Repositories are fetched and packages loaded before the time is taken.
        self.call("build", "--nobuild", *self._options, *targets)
        start = time.monotonic()
        self.call("build", f"--build_event_json_file={events}", *self._options, *targets)
        return Build(time.monotonic() - start, actions_of(events.read_text(encoding="utf-8")))

    def call(self, *arguments: str) -> None:
        """Runs a command of Bazel's."""
        status = subprocess.run([*self._command, *arguments], cwd=WORKSPACE, check=False).returncode
        if status != 0:
            raise ProofError(f"bazel {arguments[0]} ended with {status}")


def prove(
    installation: install.Installation,
    targets: Sequence[str],
    options: Sequence[str],
    *,
    execution: bool,
) -> str:
    """Builds twice through services that start with nothing stored.

    Args:
      installation: the services' programs.
      targets: what to build.
      options: more options for `bazel build`.
      execution: through remote execution; else through the cache only.

    Returns:
      Two lines that say what happened.

    Raises:
      ProofError: see `check`.
    """
    workers = len(os.sched_getaffinity(0)) if execution else 0
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="torch_cuda_remote_"))
        )
        server = stack.enter_context(services.running(installation, folder, workers=workers))
        flag = "remote_executor" if execution else "remote_cache"
        bazel = Bazel(
            _output_base(installation.folder),
            server.bazelrc,
            # No result from this machine's own cache.
            [
                "--config=remote",
                f"--{flag}={server.address}",
                "--disk_cache=",
                *options,
            ],
        )
        stack.callback(bazel.call, "shutdown")
        first, second = (bazel.build(targets, folder / f"{name}.json") for name in ("1st", "2nd"))
    check(first, second, execution=execution)
    mode = "remote execution" if execution else "remote cache"
    return f"{mode}, empty: {first}\n{mode}, again: {second}"


@contextlib.contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    """Makes the signals that end a process end its with blocks, too, as Ctrl-C does."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    yield


def main(arguments: Sequence[str]) -> int:
    """Runs the proof; returns 1 where it fails."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tools.remote.loopback",
        description="Builds twice through a remote cache, and twice through remote execution, "
        "with all services on this machine.",
    )
    parser.add_argument(
        "--only", choices=("cache", "execution"), help="one of the two (default: both)"
    )
    parser.add_argument(
        "--option", action="append", default=[], help="an option for bazel build; may be repeated"
    )
    parser.add_argument("targets", nargs="*", default=TARGETS, help=f"default: {' '.join(TARGETS)}")
    chosen = parser.parse_args(arguments)
    modes = [chosen.only] if chosen.only else ["cache", "execution"]
    lines = []
    with _signals_as_exceptions():
        try:
            installation = install.install(install.cache_folder())
            for mode in modes:
                lines.append(
                    prove(
                        installation,
                        chosen.targets,
                        chosen.option,
                        execution=mode == "execution",
                    )
                )
        except (install.InstallError, services.ServiceError, ProofError) as error:
            print("\n".join([*lines, f"FAILED: {error}"]), file=sys.stderr)
            return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
