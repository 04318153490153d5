#!/bin/bash
# An integer of PTX that does not fit into 64 bits is another number, unless it is written in binary digits.
#
# Version: ptxas 13.5 (nvidia-cuda-nvcc 13.5.37).
# Seen: 2^64 + 5 in decimal, octal or hexadecimal digits is 5, without a warning; in binary digits it is refused
# ("Constant overflow").
# Expected: refused in all notations, as a double that is too large is.
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


value = 2**64 + 5
for text in (str(value), f"0{value:o}", hex(value), bin(value), "1e400"):
    kind = ".f64" if "e" in text and "x" not in text else ".u64"
    seen = initial(f"{kind} x = {text}")
    print(text, "is", "refused" if seen is None else hex(int.from_bytes(seen, "little")))
assert initial(f".u64 x = {value}") == initial(f".u64 x = 0{value:o}") == bytes([5, 0, 0, 0, 0, 0, 0, 0])
assert initial(f".u64 x = {value:#x}") == bytes([5, 0, 0, 0, 0, 0, 0, 0])
assert initial(f".u64 x = {value:#b}") is None and initial(".f64 x = 1e400") is None
PYTHON
