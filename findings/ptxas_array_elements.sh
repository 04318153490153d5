#!/bin/bash
# An element of an array by a register of 64 bits is found by the register's lower half, without a sign.
#
# Version: ptxas and cuobjdump 13.5 (nvidia-cuda-nvcc 13.5.37, nvidia-cuda-cuobjdump 13.5.37).
# Seen: "mov.u64 %rd1, g[%rd0+-1]" subtracts and scales 32 bits, and adds the result to the address without a sign:
# with 0 in %rd0 that is 16 GB above g, not 4 bytes below. The index of an array of vectors (.v4 .f32 v[4]) counts
# floats, so that "ld.global.v4.f32 …, v[1]" is a misaligned access.
# Expected: the element below g, as "[%rd0+-4]" is the word below an address; and the second vector.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-cuda-nvcc==13.5.37 \
  nvidia-cuda-cuobjdump==13.5.37 nvidia-cuda-nvdisasm==13.5.37
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


import os, re


def instructions(body):
    """The machine instructions of a kernel."""
    registers = ".reg .b64 %rd<4>; .reg .f32 %f<4>; ld.param.u64 %rd2, [p]; ld.global.u64 %rd0, [%rd2];"
    said, code = assembled(
        ".global .u32 g[8]; .global .align 16 .v4 .f32 v[4];\n"
        f".visible .entry k(.param .u64 p) {{ {registers} {body} ret; }}"
    )
    assert code, said
    path = f"{PTXAS.parent}:{os.environ['PATH']}"
    dump = [PTXAS.parent / "cuobjdump", "-sass", FOLDER / "x.cubin"]
    text = subprocess.run(dump, capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}).stdout
    lines = re.findall(r"/\*[0-9a-f]{4}\*/ +([^;]*;)", text)
    print(body, *lines[: next(i for i, line in enumerate(lines) if "EXIT" in line)], sep="\n    ")
    return "\n".join(lines)


found = instructions("mov.u64 %rd1, g[%rd0+-1]; st.global.u64 [%rd2+8], %rd1;")
# The index is loaded as 32 bits (no .64), and above them comes RZ, a zero.
assert re.search(r"LDG\.E R\d+,", found) and re.search(r"IADD3 R\d+, R\d+, -0x1, RZ", found)
assert re.search(r"(IADD3\.X|IMAD\.X|LEA\.HI\.X)[^;]*RZ", found)
found = instructions("mov.u64 %rd1, v[1]; st.global.u64 [%rd2+8], %rd1;")
assert re.search(r"0x4\b", found) and not re.search(r"0x10\b", found)
PYTHON
