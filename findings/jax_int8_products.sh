#!/bin/bash
# Without autotuning, XLA writes PTX for products of 8-bit integers that counts every term twice.
#
# Versions: jax, jax-cuda13-plugin and jax-cuda13-pjrt 0.12.0.1, nvidia-cuda-nvcc 13.5.37, Python 3.12 or 3.13. Compiled
# for an A100 that is described, without a GPU, with XLA_FLAGS=--xla_gpu_autotune_level=0.
# Seen: jnp.dot of two int8 matrices into int32 becomes a Triton kernel with tiles of 16 terms. Its mma takes 32 terms
# (m16n8k32), and is given the same registers twice, for A and for B: {%a, %b, %a, %b}, {%c, %c}. A product of ones with
# four terms is 8 on whatever executes this.
# Expected: each term once (m16n8k16 for tiles of 16 terms, or zeros in the other half). With autotuning, other tiles are
# tried; with --xla_gpu_enable_triton_gemm=false cuBLAS serves the product.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
version=0.12.0.1
for python in python3.13 python3.12 python3; do
  "$python" -c '' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "jax==$version" "jax-cuda13-plugin==$version" \
  "jax-cuda13-pjrt==$version"
# NVIDIA's assembler, which is looked over the shoulder; not where XLA finds it by itself.
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$folder/nvcc" \
  nvidia-cuda-nvcc==13.5.37
nvcc=$folder/nvcc/nvidia/cu13/bin
mkdir "$folder/bin"
cat >"$folder/bin/ptxas" <<SHELL
#!/bin/bash
for argument in "\$@"; do
  if [[ -f \$argument ]] && grep --quiet mma.sync "\$argument"; then cp "\$argument" "$folder/kernel.ptx"; fi
done
exec "$nvcc/ptxas" "\$@"
SHELL
chmod +x "$folder/bin/ptxas"
cat >"$folder/a100.pbtxt" <<'TARGET'
gpu_device_info {
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 167936
  threads_per_core_limit: 2048
  core_count: 108
  fpus_per_core: 64
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: 1555000000000
  l2_cache_size: 41943040
  clock_rate_ghz: 1.41
  device_memory_size: 42298834944
  shared_memory_per_block_optin: 166912
  cuda_compute_capability { major: 8 }
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
TARGET
PATH="$folder/bin:$PATH" JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 TF_CPP_MIN_LOG_LEVEL=3 \
  XLA_FLAGS="--xla_gpu_autotune_level=0 --xla_gpu_enable_libnvptxcompiler=false" \
  "$folder/venv/bin/python" - "$folder" <<'PYTHON'
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

folder = pathlib.Path(sys.argv[1])
xla_bridge.discover_pjrt_plugins()
described = topologies.get_topology_desc(
    platform="cuda",
    topology_name="",
    target_config=(folder / "a100.pbtxt").read_text(),
    topology="1x1x1",
)
where = NamedSharding(Mesh(np.array(described.devices), ("d",)), PartitionSpec())
product = jax.jit(
    lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.int32),
    in_shardings=(where, where),
    out_shardings=where,
)
four = jax.ShapeDtypeStruct((4, 4), jnp.int8)
product.trace(four, four).lower(lowering_platforms=("cuda",)).compile()
text = (folder / "kernel.ptx").read_text()
products = re.findall(r"(mma\.sync\.\S*s8\.s8\.s32)\s*\{[^}]*\},\s*\{([^}]*)\},\s*\{([^}]*)\}", text)
print("jax", jax.__version__, products)
assert len(products) == 1
name, a, b = products[0]
a, b = (re.findall(r"%\w+", registers) for registers in (a, b))
assert "m16n8k32" in name and len(a) == 4 and len(b) == 2
assert a[:2] == a[2:] and b[0] == b[1], "each half of the terms has registers of its own: mended"
PYTHON
