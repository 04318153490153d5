"""Which types each operator accepts on CUDA, with PyTorch's own sample arguments.

    python3 -m tools.gpu.accepted_types [--part 1/8] > FILE

Prints one line for each operator: its name, the name of its variant, and the types for which one of the first samples
can be computed. Two files, of a GPU and of another device, are compared with diff. Needs the package expecttest, as
PyTorch's tables of samples (`torch.testing._internal`) do.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from typing import Any

import torch

from tools.gpu import sample_table

_SAMPLES = 3
_TYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"),
    *("float32", "float64", "complex32", "complex64", "complex128"),
)


def accepts(operator: Any, dtype: torch.dtype) -> bool:
    """Whether one of the first samples of a type can be computed on CUDA."""
    torch.manual_seed(0)
    try:
        samples = operator.sample_inputs("cuda", dtype, requires_grad=False)
        return any(_computes(operator, sample) for sample in itertools.islice(samples, _SAMPLES))
    except Exception:  # noqa: BLE001  # samples are made for the types of the table only
        return False


def _computes(operator: Any, sample: Any) -> bool:
    try:
        operator(sample.input, *sample.args, **sample.kwargs)
    except sample_table.REFUSALS:
        return False
    return True


def main() -> int:
    """Prints the types of all operators, or of a part of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    sample_table.add_part(parser)
    for operator in sample_table.operators(parser.parse_args().part):
        found = [name for name in _TYPES if accepts(operator, getattr(torch, name))]
        name = " ".join(filter(None, (operator.name, operator.variant_test_name)))
        print(f"{name}: {' '.join(found)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
