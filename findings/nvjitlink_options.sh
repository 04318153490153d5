#!/bin/bash
# nvJitLink knows options by their first letters: "-relocatable-device-code=false" turns relocatable code on.
#
# Version: nvidia-nvjitlink 13.5.37.
# Seen: "-relocatable-device-code=false" gives a relocatable object (ELF type 1), as does anything that begins with "-r".
# "-no-cacheX" and "-time=never" are taken. "-device-stack-protector", which nvJitLink.h of the same version
# lists, is refused as unrecognized (1); "--device-stack-protector=true", which it does not list, is taken.
# Expected: NVJITLINK_ERROR_UNRECOGNIZED_OPTION for what is no option, and success for what the header lists.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nvidia-nvjitlink==13.5.37
"$folder/venv/bin/python" - "$folder/venv" <<'PYTHON'
import ctypes, pathlib, struct, sys

root = pathlib.Path(sys.argv[1])
library = ctypes.CDLL(str(next(root.rglob("libnvJitLink.so.13"))))
assert r"-device-stack-protector \n" in next(root.rglob("nvJitLink.h")).read_text()
PTX = b".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }"
RELOCATABLE, EXECUTABLE = 1, 2


def linked(*options):
    """The status of creating a link, and the type of the ELF file that comes of it."""
    link, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (b"-arch=sm_80", *options)
    status = library.nvJitLinkCreate(ctypes.byref(link), len(options), (ctypes.c_char_p * len(options))(*options))
    kind = None
    if status == 0:
        assert library.nvJitLinkAddData(link, 2, PTX, ctypes.c_size_t(len(PTX)), b"x") == 0
        assert library.nvJitLinkComplete(link) == 0
        library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        library.nvJitLinkGetLinkedCubin(link, code)
        (kind,) = struct.unpack_from("<H", code.raw, 16)
    print(b" ".join(options).decode(), "-> status", status, "ELF type", kind)
    return status, kind


assert linked() == (0, EXECUTABLE)
assert linked(b"-r") == (0, RELOCATABLE)
assert linked(b"-relocatable-device-code=false") == (0, RELOCATABLE)
assert linked(b"-time=never") == (0, EXECUTABLE)
assert linked(b"-no-cacheX") == (0, EXECUTABLE)
assert linked(b"-device-stack-protector") == (1, None)
assert linked(b"--device-stack-protector=true") == (0, EXECUTABLE)
PYTHON
