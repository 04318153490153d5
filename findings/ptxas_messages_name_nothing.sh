#!/usr/bin/env bash
# Package: nvidia-cuda-nvcc 13.5.37 (ptxas, PTX ISA 9.5). Run on 2026-11-28, no GPU, no driver.
#
# What is expected: for valid PTX that a target lacks, ptxas names the instruction or modifier of the line.
# What happens:
# - mbarrier.arrive_drop.shared.b64 with a count (without .noComplete, so only from sm_90 on): for sm_80 the message is
#   "Feature '(null)' requires .target sm_90 or higher".
# - cvt.rz.ftz.f32.f64 into a register of 64 bits: "Arguments mismatch for instruction 'mov'", though the source has no
#   mov. cvt may write wider registers, and without .ftz ptxas takes the same line.
# Output seen: the three lines that the script compares with.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile --no-deps --target "$tmp/site" nvidia-cuda-nvcc==13.5.37
cd "$tmp"

say() {
  local target=$1 instruction=$2
  cat > k.ptx <<P
.version 9.5
.target sm_$target
.address_size 64
.visible .entry k() {
.reg .b32 %r; .reg .b64 %d; .shared .align 8 .b8 s[8];
$instruction
ret;
}
P
  site/nvidia/cu13/bin/ptxas "-arch=sm_$target" -o k.cubin k.ptx > said 2>&1 && echo "sm_$target: taken" && return
  echo "sm_$target: $(sed -n 's/.*error   : //p' said | head -1)"
}

{
  say 80 'mbarrier.arrive_drop.shared.b64 %d, [s], 2;'
  say 90 'cvt.rz.ftz.f32.f64 %d, 0d4004000000000000;'
  say 90 'cvt.rz.f32.f64 %d, 0d4004000000000000;'
} | tee seen

diff seen - <<'P'
sm_80: Feature '(null)' requires .target sm_90 or higher
sm_90: Arguments mismatch for instruction 'mov'
sm_90: taken
P
