"""What it costs that an operator of a device without CUDA code is served by the CPU's kernel.

    ./bazelw run -c opt //bench/routing

Compares calls on the device `fake` with the same calls on the CPU, in one process and in turns; the best of many rounds
of each. A call on fake is the CPU's call, and the routing; where it allocates, the caching allocator of CUDA, too, which
`empty` shows by itself.
"""

from __future__ import annotations

import ctypes
import os
import sys

OPERATORS = ("add.out", "add_", "add", "empty")
ROUNDS = 60
CALLS = 5000
CPU = -1
FAKE = 0


def main() -> int:
    """Prints a line for each operator."""
    os.environ["TORCH_CUDA_DEVICES"] = "fake"
    os.environ["TORCH_CUDA_SIM"] = "1"
    import torch

    torch.set_num_threads(1)
    torch.ones(1, device="cuda")
    library = ctypes.CDLL(sys.argv[1])
    library.calls.restype = ctypes.c_double
    for number, name in enumerate(OPERATORS):
        rounds = [
            [library.calls(number, device, CALLS) for device in (CPU, FAKE)] for _ in range(ROUNDS)
        ]
        cpu, fake = (min(spent) for spent in zip(*rounds, strict=True))
        if min(cpu, fake) < 0:
            print(f"{name} does not run on both devices", file=sys.stderr)
            return 1
        print(
            f"{name:8} CPU {cpu:.3f} us, fake {fake:.3f} us, difference {fake - cpu:+.3f} us",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
