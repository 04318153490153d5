"""Runs Bazel on this workspace from within a test of it, with an output base of its own.

The output base is kept beside the outer one, so that the next run of the test finds what this one built.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Result:
    """What Bazel answered.

    Attributes:
        succeeded: whether its exit status was 0.
        text: what it printed to both streams, without its lines of progress.
    """

    succeeded: bool
    text: str


@dataclasses.dataclass(frozen=True)
class Bazel:
    """A Bazel of one's own.

    Attributes:
        workspace: root of the workspace.
        base: the output base.
        options: options of every command that builds.
    """

    workspace: Path
    base: Path
    options: tuple[str, ...] = ()

    @staticmethod
    def output_base(name: str) -> Path:
        """The output base for a test: the outer one with a name behind it."""
        outer = Path(os.environ["TEST_SRCDIR"]).resolve()
        while outer.name != "execroot":
            outer = outer.parent
        return outer.parent.with_name(f"{outer.parent.name}-{name}")

    def run(self, command: str, *arguments: str) -> Result:
        """Runs a command that builds."""
        done = subprocess.run(
            [
                "bazel",
                f"--output_base={self.base}",
                command,
                "--color=no",
                "--curses=no",
                *self.options,
                *arguments,
            ],
            cwd=self.workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        progress = ("Analyzing", "Computing", "Loading", "    currently")
        lines = [line for line in done.stdout.splitlines() if not line.startswith(progress)]
        return Result(done.returncode == 0, "\n".join(lines))

    def shut_down(self) -> None:
        """Ends the server."""
        subprocess.run(
            ["bazel", f"--output_base={self.base}", "shutdown"],
            cwd=self.workspace,
            capture_output=True,
            check=False,
        )
