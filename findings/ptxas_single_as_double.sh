#!/bin/bash
# A constant 0f3F800000 (1.0 in 32 bits) in the place of a double is a subnormal number.
#
# Version: ptxas 13.5 (nvidia-cuda-nvcc 13.5.37).
# Seen: "0f3F800000" as the initial value of a .f64 variable, and as an operand of mov.f64, is taken without a word. The
# double has the 32 bits as its lower half: 5.26e-315. "1.0" at the same place is 1.0.
# Expected: 1.0 ("each constant is converted to the size of its use"), or an error, as for an integer at this place.
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


single = initial(".f64 x = 0f3F800000")
plain = initial(".f64 x = 1.0")
print("0f3F800000 as .f64:", struct.unpack("<d", single)[0], "1.0 as .f64:", struct.unpack("<d", plain)[0])
assert struct.unpack("<d", plain)[0] == 1.0
assert single == bytes.fromhex("0000803f00000000")
assert initial(".f64 x = 1") is None
PYTHON
