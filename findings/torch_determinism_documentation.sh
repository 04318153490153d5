#!/bin/bash
# torch 2.15.0: the list in torch.use_deterministic_algorithms' documentation is not what its CUDA library refuses.
#
# The documentation says that differentiating torch.nn.ReflectionPad2d raises an error for CUDA tensors, and that
# torch.nn.MaxPool3d acts deterministically. In libtorch_cuda.so the kernels of the backward functions ask
# at::Context::alertNotDeterministic, with a name. Read from the machine code: no call has a name of
# reflection_pad2d_backward, so that nothing raises; two calls have names of max_pool3d_with_indices_backward, so that
# MaxPool3d raises. `_bincount_cuda` and the others are as documented.
# One would expect the two lists to be one: who looks for nondeterministic operators reads the first and runs the second.
#
# Needs 600 MB of disk for a while, and no GPU. Exit status 1: it is not so any more.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyelftools==0.33 numpy
"$folder/venv/bin/pip" download --quiet --no-deps --only-binary=:all: --implementation=cp --python-version=3.13 \
    --platform=manylinux_2_28_x86_64 --dest="$folder" torch==2.15.0
"$folder/venv/bin/python" - "$folder" <<'PROGRAM'
import pathlib, re, struct, sys, zipfile

import numpy as np
from elftools.elf.elffile import ELFFile

folder = pathlib.Path(sys.argv[1])
(wheel,) = folder.glob("torch-*.whl")
with zipfile.ZipFile(wheel) as archive:
    documentation = archive.read("torch/__init__.py").decode()
    library = pathlib.Path(archive.extract("torch/lib/libtorch_cuda.so", folder))
wheel.unlink()
begin = documentation.index("def use_deterministic_algorithms")
documentation = documentation[begin : documentation.index('"""', begin + 200)]
acts, throws = documentation.split("operations will throw a")

with library.open("rb") as file:
    elf = ELFFile(file)
    data = library.read_bytes()
    symbols = elf.get_section_by_name(".dynsym")
    slots = {
        entry["r_offset"]
        for name in (".rela.plt", ".rela.dyn")
        if elf.get_section_by_name(name)
        for entry in elf.get_section_by_name(name).iter_relocations()
        if "alertNotDeterministic" in symbols.get_symbol(entry["r_info_sym"]).name
    }
    targets = []
    for name in (".plt", ".plt.sec", ".plt.got"):
        section = elf.get_section_by_name(name)
        code = section.data() if section else b""
        for found in re.finditer(rb"\xff\x25", code):
            at = found.start()
            if at + 6 <= len(code):
                jump = section["sh_addr"] + at + 6 + struct.unpack_from("<i", code, at + 2)[0]
                if jump in slots:
                    targets.append(section["sh_addr"] + at - at % 16)
    parts = [(s["sh_addr"], s["sh_size"], s["sh_offset"]) for s in elf.iter_sections() if s["sh_addr"]]
    text = elf.get_section_by_name(".text")
    first, code = text["sh_addr"], np.frombuffer(data, np.uint8, text["sh_size"], text["sh_offset"])
calls = np.nonzero((code[:-4] == 0xE8) | (code[:-4] == 0xE9))[0]
offsets = sum(code[calls + 1 + i].astype(np.int64) << (8 * i) for i in range(4))
ends = first + calls + 5 + np.where(offsets >= 2**31, offsets - 2**32, offsets)
names = set()
for call in calls[np.isin(ends, targets)]:
    near = code[call - 120 : call].tobytes()
    for at in range(len(near) - 7, -1, -1):
        if near[at] in (0x48, 0x4C) and near[at + 1] == 0x8D and near[at + 2] & 0xC7 == 5:
            address = first + int(call) - 120 + at + 7 + struct.unpack_from("<i", near, at + 3)[0]
            at_file = [o + address - b for b, s, o in parts if b <= address < b + s]
            name = data[at_file[0] : at_file[0] + 120].split(b"\0")[0] if at_file else b""
            if len(name) > 3 and name.isascii():
                names.add(name.decode())
                break

print(f"{len(names)} names that libtorch_cuda.so refuses, among them:")
for name in sorted(n for n in names if "pad2d" in n or "pool3d_with" in n or "bincount" in n):
    print(f"  {name}")
pad, pool = "torch.nn.ReflectionPad2d`", "torch.nn.MaxPool3d`"
print(f"documented: ReflectionPad2d raises: {pad in throws}; MaxPool3d is deterministic: {pool in acts}")
as_seen = (
    len(names) > 30
    and "_bincount_cuda" in names
    and pad in throws
    and not any("reflection_pad2d" in name for name in names)
    and pool in acts
    and any("max_pool3d_with_indices_backward" in name for name in names)
)
sys.exit(0 if as_seen else 1)
PROGRAM
