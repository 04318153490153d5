"""Programs in the background: they are ready when the block begins, and gone when it ends."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import hmac
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from unittest import mock

from absl.testing import absltest

from tools.remote import install, services

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


# Stands for each program of the services: it writes down what it was asked and, where it is a server,
# listens there.
_PROGRAM = """
import os, pathlib, re, socket, sys, time
name = pathlib.Path(sys.argv[0]).name
asked = " ".join(sys.argv[1:])
print("Starting", name, flush=True)
if name == "bgd" and sys.argv[1] == "server":
    asked += re.sub('#.*', '', pathlib.Path(sys.argv[-1]).read_text())
with open({record!r}, "a") as record:
    record.write(f"{{name}} {{os.getuid()}} {{asked}}\\n")
listeners = []
def listen(family, address):
    listeners.append(socket.socket(family))
    listeners[-1].bind(address)
    listeners[-1].listen()
for host, port in re.findall(r'address: "(.*):([0-9]+)"', asked):
    listen(socket.AF_INET, (host, int(port)))
for path in re.findall(r"--bind=unix:(\\S+)", asked):
    listen(socket.AF_UNIX, path)
if name == "postgres":
    listen(socket.AF_UNIX, sys.argv[sys.argv.index("-k") + 1] + "/.s.PGSQL.5432")
if listeners or name == "buildbox-worker":
    time.sleep(600)
"""


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a program was asked.

    Attributes:
      program: its name.
      user: whom it ran as.
      arguments: and its configuration.
    """

    program: str
    user: int
    arguments: str


class AccessTest(absltest.TestCase):
    """Who can reach the services: a worker runs, as this user, whatever they send."""

    def setUp(self) -> None:
        super().setUp()
        # Where sockets have short names, and where no folder above is closed.
        self.folder = pathlib.Path(self.enter_context(_short_folder()))
        self.record = self.folder / "record"
        self.record.touch()
        self.record.chmod(0o666)
        self.state = self.folder / "state"
        self.state.mkdir()

    def program(self, path: pathlib.Path) -> pathlib.Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = textwrap.dedent(_PROGRAM).format(record=str(self.record))
        path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        path.chmod(0o755)
        return path

    def installation(self) -> install.Installation:
        """Installs programs that stand for the real ones."""
        package = self.folder / "package"
        for name in ("initdb", "postgres"):
            self.program(package / "usr/lib/postgresql/17/bin" / name)
        control = package / "DEBIAN/control"
        control.parent.mkdir()
        control.write_text(
            "Package: database\nVersion: 1\nArchitecture: all\nMaintainer: me\nDescription: one\n"
        )
        packages = self.folder / "packages"
        packages.mkdir()
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "--build", str(package), str(packages)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        for name in install.WORKER_PROGRAMS:
            self.program(self.folder / "programs" / name)
        return install.Installation(
            self.folder,
            self.program(self.folder / "bgd"),
            self.folder / "programs",
            packages,
        )

    def asked(self) -> dict[str, Asked]:
        """What the programs that ran last under a name were asked."""
        found = re.findall(
            r"^(bgd|initdb|postgres|buildbox-\S+) (\d+) (.*?)(?=^bgd|^initdb|^postgres|^buildbox|\Z)",
            self.record.read_text(),
            re.MULTILINE | re.DOTALL,
        )
        return {name: Asked(name, int(user), text) for name, user, text in found}

    def assert_nobody_else_gets_in(self) -> None:
        installation = self.installation()
        with services.running(installation, self.state, workers=1) as server:
            asked = self.asked()
            self.assertContainsSubset(
                ["bgd", "postgres", "buildbox-casd", "buildbox-worker"], asked.keys()
            )
            buildgrid = asked["bgd"].arguments
            addresses = re.findall(r'address: "(.*):\d+"', buildgrid)
            self.assertEqual(addresses, ["127.0.0.1"] * buildgrid.count("!channel"))
            self.assertIn("listen_addresses= ", asked["postgres"].arguments)
            self.assertRegex(
                asked["buildbox-casd"].arguments, r"--cas-remote=https://127\.0\.0\.1:"
            )
            self.assertRegex(
                asked["buildbox-worker"].arguments, r"--bots-remote=https://127\.0\.0\.1:"
            )
            self.assert_a_token_is_asked_for(buildgrid, server, asked)
            self.assertEqual(stat.S_IMODE(self.state.stat().st_mode) & 0o007, 0)
            sockets = [path for path in self.folder.rglob("*") if path.is_socket()]
            self.assertLen(sockets, 2)
            for path in sockets:
                self.assertTrue(path.is_relative_to(self.state), str(path))

    def assert_a_token_is_asked_for(
        self, buildgrid: str, server: services.Server, asked: dict[str, Asked]
    ) -> None:
        self.assertIn("method: jwt", buildgrid)
        self.assertNotIn("allow-localhost", buildgrid)
        self.assertNotIn("allow-unauthenticated", buildgrid)
        found = re.search(r'secret: "(.+)"', buildgrid)
        assert found is not None
        secret = pathlib.Path(found[1])
        self.assertTrue(secret.is_relative_to(self.state))
        self.assertTrue(server.bazelrc.is_relative_to(self.state))
        header = re.fullmatch(
            r'build "--remote_header=Authorization=Bearer (\S+)"\n', server.bazelrc.read_text()
        )
        assert header is not None
        text, _, signature = header[1].rpartition(".")
        self.assertEqual(
            base64.urlsafe_b64decode(signature + "="),
            hmac.new(secret.read_bytes(), text.encode(), hashlib.sha256).digest(),
        )
        claims = json.loads(base64.urlsafe_b64decode(text.partition(".")[2] + "=="))
        self.assertGreater(claims["exp"], time.time())
        # Others can read command lines.
        for one in asked.values():
            self.assertNotIn(header[1], one.arguments)
            self.assertNotIn(secret.read_text(), one.arguments)

    def test_each_run_has_a_secret_of_its_own(self) -> None:
        found = set()
        installation = self.installation()
        for name in ("one", "other"):
            state = self.folder / name
            state.mkdir()
            with (
                mock.patch.object(os, "getuid", return_value=1000),
                services.running(installation, state, workers=0) as server,
            ):
                found.add(server.bazelrc.read_text())
        self.assertLen(found, 2)

    def test_a_user_closes_the_folder(self) -> None:
        with mock.patch.object(os, "getuid", return_value=1000):
            self.assert_nobody_else_gets_in()
        self.assertEqual(stat.S_IMODE(self.state.stat().st_mode), 0o700)

    def test_root_lets_the_database_in_and_no_other_program_of_that_user(self) -> None:
        if os.getuid() != 0 or not _knows_other_users():
            self.skipTest("needs root, and the users that it can be")
        self.assert_nobody_else_gets_in()
        self.assertNotEqual(self.asked()["postgres"].user, 0)
        for groups in (["--clear-groups"], ["--init-groups"]):
            done = subprocess.run(
                ["setpriv", f"--reuid={services.DATABASE_USER}", "--regid=nogroup", *groups]
                + ["ls", str(self.state)],
                capture_output=True,
                check=False,
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b"denied", done.stderr)


def _short_folder() -> contextlib.AbstractContextManager[str]:
    """A temporary folder that others can enter."""
    folder = tempfile.TemporaryDirectory(prefix="remote_", dir="/tmp")
    pathlib.Path(folder.name).chmod(0o755)
    return folder


def _knows_other_users() -> bool:
    """Whether root can be another user here: not where a namespace maps root alone."""
    done = subprocess.run(
        ["setpriv", f"--reuid={services.DATABASE_USER}", "--regid=1073741824"]
        + ["--clear-groups", "true"],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


if __name__ == "__main__":
    absltest.main()
