"""BuildGrid with its database, and a worker: started on 127.0.0.1, stopped at the end of a with block."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from tools.remote import install

READY_SECONDS = 120
STOP_SECONDS = 20

# PostgreSQL does not run as root.
DATABASE_USER = "nobody"
_CONFIGURATION = pathlib.Path(__file__).with_name("buildgrid.yml")


class ServiceError(Exception):
    """A service did not start; the text holds the end of what it printed."""


@contextlib.contextmanager
def running(
    installation: install.Installation, folder: pathlib.Path, *, workers: int
) -> Iterator[str]:
    """Runs the services.

    Args:
      installation: their programs.
      folder: new, for what they store and print; other users can enter it.
      workers: how many actions run at a time; 0 for a cache without execution.

    Yields:
      BuildGrid's address as Bazel takes it.

    Raises:
      ServiceError: one of them did not start.
    """
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(_database(installation, folder / "database"))
        port = free_port()
        configuration = folder / "buildgrid.yml"
        text = _CONFIGURATION.read_text(encoding="utf-8")
        for word, value in {
            "{address}": f"127.0.0.1:{port}",
            "{database}": database,
            "{storage}": str(folder / "storage"),
        }.items():
            text = text.replace(word, value)
        configuration.write_text(text, encoding="utf-8")
        program = str(installation.buildgrid)
        _finish([program, "migrate", "apply", database], folder / "migrate.log")
        stack.enter_context(
            service(
                [program, "server", "start", str(configuration)],
                folder / "buildgrid.log",
                lambda: _answers(port),
            )
        )
        if workers:
            stack.enter_context(_worker(installation, folder, port, workers))
        yield f"grpc://127.0.0.1:{port}"


@contextlib.contextmanager
def service(
    command: Sequence[str],
    log: pathlib.Path,
    is_ready: Callable[[], bool],
    *,
    environment: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Runs a program in the background.

    Args:
      command: it and its arguments.
      log: gets what it prints.
      is_ready: whether it can be used already.
      environment: variables beside the caller's.

    Yields:
      When it is ready.

    Raises:
      ServiceError: it ended, or was not ready in time.
    """
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            # Ctrl-C is for us; we stop the services, the last one first.
            start_new_session=True,
        )
    try:
        end = time.monotonic() + READY_SECONDS
        while not is_ready():
            if process.poll() is not None or time.monotonic() > end:
                raise ServiceError(f"{log.stem} did not start:{_tail(log)}")
            time.sleep(0.1)
        yield
    finally:
        _stop(process)


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _database(installation: install.Installation, folder: pathlib.Path) -> Iterator[str]:
    """Runs PostgreSQL on a socket in a folder; yields the address of an empty database."""
    folder.mkdir()
    install.unpack(installation.database_packages, folder)
    programs = folder / "usr/lib/postgresql/17/bin"
    data, sockets = folder / "data", folder / "sockets"
    as_user: list[str] = []
    for path in (data, sockets):
        path.mkdir(mode=0o700)
    if os.getuid() == 0:
        as_user = ["setpriv", f"--reuid={DATABASE_USER}", "--regid=nogroup", "--clear-groups"]
        _finish(["chown", DATABASE_USER, str(data), str(sockets)], folder / "chown.log")
    environment = {"LD_LIBRARY_PATH": str(folder / install.LIBRARIES), "LC_ALL": "C.UTF-8"}
    _finish(
        [
            *as_user,
            str(programs / "initdb"),
            f"--pgdata={data}",
            "--username=buildgrid",
            # The folder of the socket lets nobody else in.
            "--auth=trust",
            "--no-sync",
        ],
        folder / "initdb.log",
        environment,
    )
    command = [*as_user, str(programs / "postgres"), "-D", str(data), "-k", str(sockets)]
    # No network; what a crash would lose is of no use after this run.
    command += ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"]
    with service(
        command,
        folder / "postgresql.log",
        (sockets / ".s.PGSQL.5432").exists,
        environment=environment,
    ):
        yield f"postgresql:///postgres?host={sockets}&user=buildgrid"


@contextlib.contextmanager
def _worker(
    installation: install.Installation, folder: pathlib.Path, port: int, jobs: int
) -> Iterator[None]:
    """Runs a worker, and the cache through which it gets the inputs of its actions."""
    server = f"http://127.0.0.1:{port}"
    cache = folder / "casd.sock"
    log = folder / "worker.log"
    programs = installation.programs
    environment = {"PATH": f"{programs}:{os.environ['PATH']}"}
    with (
        service(
            [
                str(programs / "buildbox-casd"),
                f"--cas-remote={server}",
                f"--bind=unix:{cache}",
                str(folder / "casd"),
            ],
            folder / "casd.log",
            cache.exists,
            environment=environment,
        ),
        service(
            [
                str(programs / "buildbox-worker"),
                f"--bots-remote={server}",
                f"--cas-remote=unix:{cache}",
                f"--buildbox-run={programs / 'buildbox-run-hosttools'}",
                # What an action sees is what Bazel sends, nothing of this process.
                "--runner-arg=--clearenv",
                f"--concurrent-jobs={jobs}",
                "loopback",
            ],
            log,
            lambda: "Starting buildbox-worker" in log.read_text(encoding="utf-8"),
            environment=environment,
        ),
    ):
        yield


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _finish(
    command: Sequence[str], log: pathlib.Path, environment: Mapping[str, str] | None = None
) -> None:
    """Runs a program to its end."""
    with log.open("w", encoding="utf-8") as output:
        status = subprocess.run(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            check=False,
        ).returncode
    if status != 0:
        raise ServiceError(f"{log.stem} failed:{_tail(log)}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a program and what it has started: gently, then not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)


def _tail(log: pathlib.Path) -> str:
    return "\n" + log.read_text(encoding="utf-8", errors="replace")[-3000:].strip()
