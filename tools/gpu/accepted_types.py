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
import warnings
from typing import Any

import torch

_SAMPLES = 3
_TYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"),
    *("float32", "float64", "complex32", "complex64", "complex128"),
)
_REFUSED = (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError)


def accepts(operator: Any, dtype: torch.dtype) -> bool:
    """Whether one of the first samples of a type can be computed on CUDA."""
    torch.manual_seed(0)
    try:
        samples = operator.sample_inputs("cuda", dtype, requires_grad=False)
        for sample in itertools.islice(samples, _SAMPLES):
            try:
                operator(sample.input, *sample.args, **sample.kwargs)
                return True
            except _REFUSED:
                continue
    except Exception:  # noqa: BLE001  # samples are made for the types of the table only
        return False
    return False


def main() -> int:
    """Prints the types of all operators, or of a part of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="1/1", help="of the table, for several processes")
    part, parts = map(int, parser.parse_args().part.split("/"))
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.simplefilter("ignore")
    for operator in op_db[part - 1 :: parts]:
        found = [name for name in _TYPES if accepts(operator, getattr(torch, name))]
        name = " ".join(filter(None, (operator.name, operator.variant_test_name)))
        print(f"{name}: {' '.join(found)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
