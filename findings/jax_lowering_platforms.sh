#!/bin/bash
# JAX that is asked to lower for CUDA, and then to compile, compiles for the CPU without a word.
#
# Version: jax 0.10.2 (no CUDA plugin).
# Seen: trace(x).lower(lowering_platforms=("cuda",)).compile() returns an executable of the CPU, which computes there. A
# program that tests "it compiles for CUDA" in this way tests nothing.
# Expected: an error that there is no CUDA compiler here, as jax.jit(..., backend="cuda") gives.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2
"$folder/venv/bin/python" - <<'PYTHON'
import warnings

import jax
import jax.numpy as jnp

warnings.simplefilter("error")
x = jnp.arange(4.0)
compiled = jax.jit(lambda x: jnp.sin(x) * 2).trace(x).lower(lowering_platforms=("cuda",)).compile()
platforms = {device.platform for device in compiled(x).devices()}
print("lowered for cuda, compiled for:", platforms)
assert platforms == {"cpu"}
try:
    jax.devices("cuda")
except RuntimeError as error:
    print("jax.devices('cuda'):", error)
else:
    raise AssertionError("this finding is about machines without CUDA")
PYTHON
