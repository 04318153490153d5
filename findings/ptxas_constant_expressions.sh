#!/bin/bash
# A constant expression of PTX is not worth what the manual's table of types says.
#
# Version: ptxas 13.5 (nvidia-cuda-nvcc 13.5.37). PTX ISA, "Constant Expression Evaluation" and "Summary of Constant
# Expression Evaluation Rules".
# Seen, in initial values of 64 bits: a shift takes its count modulo 64, so 1 << 64 is 1, while the instruction shl
# gives 0; % gives an unsigned number, which makes (5 % 3 - 5) / 2 a huge one; & and ^ of signed numbers stay signed; of "? :"
# the chosen operand keeps its type; a divisor of zero is refused also in the operand that is not chosen.
# Expected: no bits left of a shift by 64 or more; by the table, % gives .s64, & and ^ give .u64, and "? :" converts
# both operands to one type; a ternary operator that evaluates one operand, as C's does.
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



def worth(expression):
    """The value of an expression."""
    value = initial(f".u64 x = {expression}")
    print(expression, "=", "refused" if value is None else hex(int.from_bytes(value, "little")))
    return None if value is None else int.from_bytes(value, "little")


assert worth("1 << 64") == 1 and worth("1 << 65") == 2 and worth("-1 >> 64") == 2**64 - 1
assert worth("(5 % 3 - 5) / 2") == (2**64 - 3) // 2
assert worth("(5 & 7) > -1") == 1 and worth("(5 & 7U) > -1") == 0
assert worth("(1 ? -5 : 3U) / 2") == 2**64 - 2
assert worth("1 ? 5 : 1 / 0") is None
PYTHON
