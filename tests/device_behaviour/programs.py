"""Programs in interpreters of their own: with other settings of the device, or because they break it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

from tools.testing import paused_import

# Whether the device is the simulated one; --//config:test_device=gpu makes it a real GPU.
IS_SIMULATED = os.environ.get("TORCH_CUDA_SIM") != "0"

# The simulated device reads these when a program first uses it.
_LATE = ("CUDASIM_", "CUDA_VISIBLE_DEVICES")


def run(program: str, **settings: str | None) -> subprocess.CompletedProcess[str]:
    """Runs a program and waits for it; those with the same settings share most of torch's import.

    Args:
        program: Python source; common leading white space is removed.
        **settings: environment variables; None takes one out.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for name, value in settings.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    late = {name: environment.pop(name) for name in set(environment) if name.startswith(_LATE)}
    return paused_import.run(
        sys.executable, textwrap.dedent(program), environ=environment, changes=late
    )


def output(program: str, **settings: str | None) -> str:
    """What a program writes to its standard output, without the last line break.

    Args:
        program: as for `run`.
        **settings: as for `run`.

    Raises:
        AssertionError: the program failed; the message has what it wrote.
    """
    done = run(program, **settings)
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.rstrip("\n")
