#!/bin/bash
# The upper half of a .b128 variable with an initial value is not zero.
#
# Version: ptxas 13.5 (nvidia-cuda-nvcc 13.5.37).
# Seen: ".global .b128 x = 5;" is taken. The machine code has 16 bytes for x: the lower 8 are 5, and in the upper 8 is
# something else than zeros, which depends on what else is in the module (memory of the assembler's own, it seems).
# Expected: 5 in 128 bits, or an error as for types without initial values (.f16).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-cuda-nvcc==13.5.37
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import pathlib, struct, subprocess, sys

FOLDER = pathlib.Path(sys.argv[1])
PTXAS = next(FOLDER.rglob("bin/ptxas"))
HEAD = ".version 8.4\n.target sm_80\n.address_size 64\n"


def assembled(text):
    """What ptxas says, and the machine code."""
    (FOLDER / "x.ptx").write_text(HEAD + text + "\n")
    command = [PTXAS, "-arch=sm_80", FOLDER / "x.ptx", "-o", FOLDER / "x.cubin"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr, b"" if done.returncode else (FOLDER / "x.cubin").read_bytes()


def initial(declaration):
    """The bytes of a variable x in the machine code, or None where ptxas refuses it."""
    _, code = assembled(f".visible .global {declaration};")
    if not code:
        return None
    (offset,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, offset + i * size) for i in range(count)]
    for section in sections:
        for at in range(section[4], section[4] + section[5], 24) if section[1] == 2 else ():
            name, _, _, index, value, length = struct.unpack_from("<IBBHQQ", code, at)
            begin = sections[section[6]][4] + name
            if code[begin : code.index(b"\0", begin)] == b"x":
                of = sections[index]
                return bytes(length) if of[1] == 8 else code[of[4] + value : of[4] + value + length]


value = initial(".b128 x = 5")
print("5 in 128 bits:", value.hex())
assert value[:8] == bytes([5, 0, 0, 0, 0, 0, 0, 0]) and any(value[8:])
assert initial(".f16 x = 5") is None
PYTHON
