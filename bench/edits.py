"""What one edit costs: changes a file, builds the wheel again, reads what Bazel ran.

PyTorch's sources are edited in a copy of the tree; a Python file of this repository is edited in
place and put back.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence

from bench import bazel_events

# What compiles a translation unit. Everything else links, packs or writes a few lines.
COMPILERS = frozenset({"CppCompile", "CudaCompile"})


@dataclasses.dataclass(frozen=True)
class Rebuild:
    """One build after one edit.

    Attributes:
        what: what was edited.
        seconds: from the start of Bazel's command to its end.
        kinds: mnemonic to the number of actions that ran.
    """

    what: str
    seconds: float
    kinds: dict[str, int]

    @property
    def compiled(self) -> int:
        """How many translation units were compiled."""
        return sum(count for kind, count in self.kinds.items() if kind in COMPILERS)


class Builder:
    """Builds one target with Bazel, and reads what that did."""

    def __init__(
        self, bazel: Sequence[str], workspace: pathlib.Path, target: str, options: Sequence[str]
    ) -> None:
        """Remembers how to build.

        Args:
            bazel: the command, for example ["./bazelw"].
            workspace: the clone.
            target: label to build.
            options: options of `bazel build`.
        """
        self._command = [*bazel, "build", target, *options]
        self._workspace = workspace

    def build(self, what: str) -> Rebuild:
        """Builds.

        Args:
            what: name of the edit, for the result.

        Returns:
            What ran. Actions of Bazel's own bookkeeping are left out.

        Raises:
            RuntimeError: the build failed; the message ends with Bazel's output.
        """
        with tempfile.TemporaryDirectory() as scratch:
            events = pathlib.Path(scratch, "events.json")
            start = time.monotonic()
            done = subprocess.run(
                [*self._command, f"--build_event_json_file={events}", "--color=no", "--curses=no"],
                cwd=self._workspace,
                capture_output=True,
                text=True,
                check=False,
            )
            seconds = time.monotonic() - start
            if done.returncode:
                command = " ".join(self._command)
                raise RuntimeError(f"{command} failed:\n{done.stderr[-4000:]}")
            build = bazel_events.read_build(events)
        kinds = {
            mnemonic: kind.actions
            for mnemonic, kind in build.kinds.items()
            if mnemonic != "BazelWorkspaceStatusAction"
        }
        return Rebuild(what, seconds, kinds)


def fetch_again(
    bazel: Sequence[str], workspace: pathlib.Path, repository: str, options: Sequence[str]
) -> None:
    """Fetches a repository again, for which Bazel took a folder that is not there any more.

    Bazel keeps looking into such a folder, and every build that needs the repository fails.

    Args:
        bazel: the command.
        workspace: the clone.
        repository: its name, with an @.
        options: options of `bazel build` without the one that names the folder.

    Raises:
        RuntimeError: it cannot be had; the message ends with Bazel's output.
    """
    command = [*bazel, "fetch", "--force", f"--repo={repository}", *options]
    done = subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")


@contextlib.contextmanager
def edited(path: pathlib.Path) -> Iterator[None]:
    """Adds a constant to a source file for a while.

    A comment would not do: it gives the same object file, and Bazel then rightly does not link
    again.

    Args:
        path: a C++, CUDA or Python file. Its contents are put back at the end; its time is not.

    Yields:
        None, while the file is changed.
    """
    before = path.read_bytes()
    number = time.time_ns()
    if path.suffix == ".py":
        line = f"_BENCH_EDIT = {number}\n"
    else:
        line = f'extern "C" __attribute__((used)) const long torch_cuda_bench_edit = {number};\n'
    try:
        path.write_bytes(before + b"\n" + line.encode())
        yield
    finally:
        path.write_bytes(before)


def measure(
    builder: Builder, files: Sequence[tuple[str, pathlib.Path]], rounds: int
) -> list[Rebuild]:
    """Measures no edit and each edit in turn.

    Args:
        builder: builds the wheel; everything has to be built before.
        files: name and path of each file to edit.
        rounds: how often to go through the list.

    Returns:
        One result for each edit and round, and a "nothing" before each round.
    """
    results = []
    for _ in range(rounds):
        results.append(builder.build("nothing"))
        for what, path in files:
            with edited(path):
                results.append(builder.build(what))
            # Back to the state before, so that the next edit is the only difference.
            builder.build(f"undo {what}")
    return results
