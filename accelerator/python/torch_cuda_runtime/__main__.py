"""Starts a program on other devices than NVIDIA's: ``python -m torch_cuda_runtime [PROGRAM [ARGUMENT ...]]``.

Without a program, prints lines for a shell that set what a program needs.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys

import torch_cuda_runtime


def main() -> int:
    """Replaces this process by the program; returns a status where that cannot be done."""
    try:
        settings = torch_cuda_runtime.environment()
    except torch_cuda_runtime.DeviceError as error:
        print(f"torch_cuda_runtime: {error}", file=sys.stderr)
        return 1
    command = sys.argv[1:]
    if not command:
        for name, value in settings.items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    program = shutil.which(command[0])
    if program is None:
        print(f"torch_cuda_runtime: there is no program {command[0]}", file=sys.stderr)
        return 127
    os.execve(program, command, {**os.environ, **settings})


if __name__ == "__main__":
    sys.exit(main())
