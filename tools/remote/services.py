"""BuildGrid with its database, and a worker: started when a with block begins, stopped when it ends.

Whom BuildGrid serves has its worker run programs, as this user, and anybody on this machine can connect
to a port on 127.0.0.1. So BuildGrid takes requests with a token only, which is new for each run and lies
in a folder that nobody else can enter; so do the sockets of the others. Debian's Bazel can connect to
ports alone, and without TLS (its Java libraries have neither the native part nor ALPN). The worker sends
a token through TLS alone. So BuildGrid has a port of each kind.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hmac
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from tools.remote import install

READY_SECONDS = 120
STOP_SECONDS = 20

# PostgreSQL does not run as root, nor as a user without a name. Other programs run as this one, too:
# a group that nobody else is in tells them apart.
DATABASE_USER = "nobody"
_GROUPS = range(1 << 30, 1 << 31)

# Longer than any build; it ends with the services, which forget the secret.
_TOKEN_SECONDS = 7 * 24 * 3600
_TOKEN_HEADER = {"alg": "HS256", "typ": "JWT"}
_CONFIGURATION = pathlib.Path(__file__).with_name("buildgrid.yml")


class ServiceError(Exception):
    """A service did not start; the text holds the end of what it printed."""


@dataclasses.dataclass(frozen=True)
class Server:
    """BuildGrid for Bazel.

    Attributes:
      address: as Bazel takes it.
      bazelrc: a file of settings with which it is let in: the token is on no command line, which
        others can read.
    """

    address: str
    bazelrc: pathlib.Path


@contextlib.contextmanager
def running(
    installation: install.Installation, folder: pathlib.Path, *, workers: int
) -> Iterator[Server]:
    """Runs the services.

    Args:
      installation: their programs.
      folder: new, for what they store and print, and for their sockets; it is closed to others.
      workers: how many actions run at a time; 0 for a cache without execution.

    Yields:
      BuildGrid.

    Raises:
      ServiceError: one of them did not start.
    """
    with contextlib.ExitStack() as stack:
        as_database_user = _close(folder)
        database = stack.enter_context(
            _database(installation, folder / "database", as_database_user)
        )
        secret, token = folder / "secret", folder / "token"
        secret.write_text(secrets.token_hex(32), encoding="utf-8")
        token.write_text(_token(secret.read_text(encoding="utf-8")), encoding="utf-8")
        bazelrc = folder / "bazelrc"
        header = f"Authorization=Bearer {token.read_text(encoding='utf-8')}"
        bazelrc.write_text(f'build "--remote_header={header}"\n', encoding="utf-8")
        port, worker_port = free_port(), free_port()
        certificate, key = _certificate(folder)
        configuration = folder / "buildgrid.yml"
        text = _CONFIGURATION.read_text(encoding="utf-8")
        for word, value in {
            "{address}": f"127.0.0.1:{port}",
            "{worker_address}": f"127.0.0.1:{worker_port}",
            "{certificate}": str(certificate),
            "{key}": str(key),
            "{secret}": str(secret),
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
                lambda: _answers(port) and _answers(worker_port),
            )
        )
        if workers:
            entry = [f"--server-cert={certificate}", f"--access-token={token}"]
            stack.enter_context(_worker(installation, folder, worker_port, entry, workers))
        yield Server(f"grpc://127.0.0.1:{port}", bazelrc)


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


def _certificate(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Makes a certificate of 127.0.0.1 and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-noenc", "-days", "7", "-subj", "/CN=loopback"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    _finish([*command, "-keyout", str(key), "-out", str(certificate)], folder / "openssl.log")
    return certificate, key


def _token(secret: str) -> str:
    """A JSON Web Token (RFC 7519) that a server with this secret takes."""

    def encoded(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    claims = {"sub": "loopback", "exp": int(time.time()) + _TOKEN_SECONDS}
    text = ".".join(encoded(json.dumps(part).encode()) for part in (_TOKEN_HEADER, claims))
    signature = hmac.digest(secret.encode(), text.encode(), "sha256")
    return f"{text}.{encoded(signature)}"


def _close(folder: pathlib.Path) -> list[str]:
    """Closes a folder to all but this user and the database.

    Args:
      folder: this user's.

    Returns:
      What to put before a command of the database's.
    """
    if os.getuid() != 0:
        folder.chmod(0o700)
        return []
    group = secrets.choice(_GROUPS)
    os.chown(folder, 0, group)
    folder.chmod(0o710)
    return ["setpriv", f"--reuid={DATABASE_USER}", f"--regid={group}", "--clear-groups"]


@contextlib.contextmanager
def _database(
    installation: install.Installation, folder: pathlib.Path, as_user: Sequence[str]
) -> Iterator[str]:
    """Runs PostgreSQL on a socket in a folder; yields the address of an empty database."""
    folder.mkdir()
    install.unpack(installation.database_packages, folder)
    programs = folder / "usr/lib/postgresql/17/bin"
    data, sockets = folder / "data", folder / "sockets"
    for path in (data, sockets):
        path.mkdir(mode=0o700)
    if as_user:
        _finish(["chown", DATABASE_USER, str(data), str(sockets)], folder / "chown.log")
    environment = {"LD_LIBRARY_PATH": str(folder / install.LIBRARIES), "LC_ALL": "C.UTF-8"}
    _finish(
        [
            *as_user,
            str(programs / "initdb"),
            f"--pgdata={data}",
            "--username=buildgrid",
            # The folder lets nobody else in.
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
    installation: install.Installation,
    folder: pathlib.Path,
    port: int,
    entry: Sequence[str],
    jobs: int,
) -> Iterator[None]:
    """Runs a worker, and the cache through which it gets the inputs of its actions."""
    server = f"https://127.0.0.1:{port}"

    def let_in(service: str) -> list[str]:
        return [option.replace("--", f"--{service}-", 1) for option in entry]

    cache = folder / "casd.sock"
    log = folder / "worker.log"
    programs = installation.programs
    environment = {"PATH": f"{programs}:{os.environ['PATH']}"}
    with (
        service(
            [
                str(programs / "buildbox-casd"),
                f"--cas-remote={server}",
                *let_in("cas"),
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
                *let_in("bots"),
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
