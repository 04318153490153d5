"""One observed process for each device, and what they have told."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from examples.devices.events import State
from examples.devices.targets import Target

_OBSERVER = pathlib.Path(__file__).with_name("observe.py")


class Runs:
    """Runs a program on devices, one after another or as many at once as there are processors.

    Args:
      command: the program and its arguments.
      targets: the devices.
      at_once: how many processes at a time.
    """

    def __init__(self, command: Sequence[str], targets: Sequence[Target], at_once: int) -> None:
        self._command, self._targets = tuple(command), tuple(targets)
        self._states = [State(target.name) for target in targets]
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(at_once)
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._stopped = False
        self._threads = [
            threading.Thread(target=self._run, args=pair, daemon=True)
            for pair in zip(self._targets, self._states, strict=True)
        ]

    def start(self) -> None:
        """Starts them."""
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Waits until all have ended."""
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """Ends what still runs."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.kill()

    def snapshot(self) -> list[dict[str, Any]]:
        """The states as plain data, for JSON."""
        with self._lock:
            return [dataclasses.asdict(state) for state in self._states]

    def _run(self, target: Target, state: State) -> None:
        with self._turns:
            reading, writing = os.pipe()
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            for name, value in target.settings.items():
                environment.pop(name, None)
                if value is not None:
                    environment[name] = value
            with self._lock:
                if self._stopped:
                    os.close(reading)
                    os.close(writing)
                    return
                process = subprocess.Popen(
                    [sys.executable, str(_OBSERVER), str(writing), *self._command],
                    env=environment,
                    pass_fds=[writing],
                    stderr=subprocess.PIPE,
                    stdin=subprocess.DEVNULL,
                )
                self._processes.add(process)
            os.close(writing)
            errors: list[bytes] = []
            drain = threading.Thread(target=lambda: errors.extend(process.stderr or ()))
            drain.start()
            with os.fdopen(reading, encoding="utf-8") as lines:
                for line in lines:
                    with self._lock:
                        state.take(json.loads(line))
            code = process.wait()
            drain.join()
            with self._lock:
                self._processes.discard(process)
                if code == 0:
                    state.status = "done"
                elif state.status in ("waiting", "running"):
                    last = errors[-1].decode(errors="replace").strip() if errors else ""
                    state.status = f"exit status {code}: {last}"
