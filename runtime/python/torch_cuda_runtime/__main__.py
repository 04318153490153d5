"""Starts a program on other devices than NVIDIA's.

python -m torch_cuda_runtime [--preload=MAJOR] [PROGRAM [ARGUMENT ...]]: a program of any kind. Without
one, prints lines for a shell that set what a program needs. --preload=13 has the libraries of CUDA 13
loaded before all others, for programs that have a DT_RPATH.
python -m torch_cuda_runtime run (SCRIPT.py | -m MODULE) [ARGUMENT ...]: Python, where ``.pth`` files are off;
an executable is started as above.
python -m torch_cuda_runtime doctor: says what is chosen, and why.
python -m torch_cuda_runtime build-operators: compiles operators for a torch that the wheel has none for.
"""

from __future__ import annotations

import shlex
import sys

from torch_cuda_runtime import _program

_PRELOAD = "--preload="


def main() -> int:
    """Replaces this process by the program; returns a status where that cannot be done."""
    command = sys.argv[1:]
    if command[:1] == ["run"]:
        from torch_cuda_runtime import _run

        return _run.main(command[1:])
    if command == ["doctor"]:
        from torch_cuda_runtime import _doctor

        return _doctor.main()
    if command[:1] == ["build-operators"]:
        from torch_cuda_runtime import _build

        return _build.main(command[1:])
    preload = None
    if command and command[0].startswith(_PRELOAD):
        number = command.pop(0)[len(_PRELOAD) :]
        if not number.isdigit():
            print(f"torch_cuda_runtime: {_PRELOAD} takes a CUDA major, such as 13", file=sys.stderr)
            return 2
        preload = int(number)
    variables = _program.settings(preload)
    if variables is None:
        return 1
    if not command:
        for name, value in variables.items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    return _program.start(command, variables)


if __name__ == "__main__":
    sys.exit(main())
