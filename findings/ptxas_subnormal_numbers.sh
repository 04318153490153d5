#!/bin/bash
# ptxas takes no decimal number below the normal doubles: "Constant overflow", although it is an underflow.
#
# Version: ptxas 13.5 (nvidia-cuda-nvcc 13.5.37).
# Seen: 1e-310, a subnormal double, is refused as "Constant overflow", as an operand and as an initial value. The same
# bits behind 0d are taken, and so is 1e-300. An operand of .f32 may be 1e-45, which is a normal double.
# Expected: the nearest subnormal double, as C compilers have it, or a message that says what is wrong.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-cuda-nvcc==13.5.37
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import pathlib, struct, subprocess, sys

FOLDER = pathlib.Path(sys.argv[1])
PTXAS = next(FOLDER.rglob("bin/ptxas"))


def said(kind, number):
    """What ptxas says of a number of a type, as an initial value and as an operand; empty where it takes both."""
    text = f""".version 8.4
.target sm_80
.address_size 64
.visible .global .{kind} x = {number};
.visible .entry k() {{
.reg .{kind} %x;
mov.{kind} %x, {number};
st.global.{kind} [x], %x;
ret;
}}
"""
    (FOLDER / "x.ptx").write_text(text)
    command = [PTXAS, "-arch=sm_80", FOLDER / "x.ptx", "-o", FOLDER / "x.cubin"]
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


bits = struct.pack(">d", 1e-310).hex().upper()
for kind, number in (("f64", "1e-310"), ("f64", "0d" + bits), ("f64", "1e-300"), ("f32", "1e-45")):
    print(kind, number, "->", said(kind, number).splitlines()[:1] or "taken")
assert said("f64", "1e-310").count("Constant overflow") == 2
assert not said("f64", "0d" + bits)
assert not said("f64", "1e-300")
assert not said("f32", "1e-45")
PYTHON
