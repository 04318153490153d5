"""Measures which blocks of programs/fused_moe.py are fastest on the stand-in, and prints the table that its wheel ships.

./bazelw build //adapter/tests:env
./bazelw shell env PYTHONPATH=bazel-bin/adapter/tests/env python3 -m torch_cuda_adapter adapter/tests/tune_moe.py
"""

from __future__ import annotations

import itertools
import json
import pathlib
import runpy
import statistics
import time

import torch

_TOKENS = (1, 8, 64)
_BLOCKS = (16, 32, 64, 128)
_REPEATS = 5

program = runpy.run_path(str(pathlib.Path(__file__).parent / "programs" / "fused_moe.py"))


def seconds(tokens: int, blocks: dict[str, int]) -> float:
    """The median of what a layer takes."""
    arguments = [tensor.cuda() for tensor in program["layer"](tokens)]
    taken = []
    for _ in range(_REPEATS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        program["fused_experts"](*arguments, blocks)
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def best(tokens: int) -> dict[str, int]:
    """The fastest blocks."""
    candidates = [
        dict(zip(program["KEYS"], sizes, strict=True))
        for sizes in itertools.product(_BLOCKS, repeat=3)
    ]
    return min(candidates, key=lambda blocks: seconds(tokens, blocks))


if __name__ == "__main__":
    print(json.dumps({str(tokens): best(tokens) for tokens in _TOKENS}, indent=4))
