"""Programs in the background: they are ready when the block begins, and gone when it ends."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import time

from absl.testing import absltest

from tools.remote import services

# Starts a child, as a server with processes of its own does, writes both numbers and waits.
_SERVER = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""


def is_running(number: int) -> bool:
    """Whether a process exists and is not a dead one that nobody has asked about."""
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False
    )
    return bool(done.stdout.strip()) and not done.stdout.strip().startswith("Z")


class ServiceTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.log = self.folder / "server.log"
        self.numbers = self.folder / "numbers"

    def has_started(self) -> bool:
        return self.numbers.is_file() and len(self.numbers.read_text().split()) == 2

    def server(self) -> list[str]:
        return [sys.executable, "-c", _SERVER, str(self.numbers)]

    def assert_gone(self, started: list[int]) -> None:
        # A killed process takes a moment to vanish.
        end = time.monotonic() + 30
        while any(map(is_running, started)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse(any(map(is_running, started)))

    def test_what_it_has_started_ends_with_the_block(self) -> None:
        with services.service(self.server(), self.log, self.has_started):
            started = [int(number) for number in self.numbers.read_text().split()]
            self.assertTrue(all(map(is_running, started)))
        self.assert_gone(started)

    def test_it_ends_after_an_exception_too(self) -> None:
        with (
            self.assertRaises(KeyboardInterrupt),
            services.service(self.server(), self.log, self.has_started),
        ):
            started = [int(number) for number in self.numbers.read_text().split()]
            raise KeyboardInterrupt
        self.assert_gone(started)

    def test_what_does_not_start_is_told_with_its_last_words(self) -> None:
        command = [sys.executable, "-c", "import sys; sys.exit('no such database')"]
        with (
            self.assertRaisesRegex(
                services.ServiceError, "server did not start:\nno such database"
            ),
            services.service(command, self.log, lambda: False),
        ):
            self.fail("it is not ready")


if __name__ == "__main__":
    absltest.main()
