#!/bin/bash
# nvJitLink links symbols that are defined twice, and reports success.
#
# Versions: nvidia-nvjitlink 13.5.37 and nvidia-nvjitlink-cu12 12.8.93, against 12.4.127.
# Seen: two inputs of PTX that both define the kernel `k`. nvJitLinkAddData and nvJitLinkComplete return 0, the error log
# is empty, and there is a cubin with one of the two kernels. "Multiple definition of 'k'" goes to the standard error
# output of the process alone. The same holds for a function whose prototype differs from its declaration.
# Expected: NVJITLINK_ERROR_INVALID_INPUT (3) and a log, as 12.4 gives.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
install() { "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$folder/$1" "$2"; }
install 13.5 nvidia-nvjitlink==13.5.37
install 12.8 nvidia-nvjitlink-cu12==12.8.93
install 12.4 nvidia-nvjitlink-cu12==12.4.127
for version in 13.5 12.8 12.4; do
  "$folder/venv/bin/python" - "$folder/$version" "$version" <<'PYTHON'
import ctypes, pathlib, sys

library = ctypes.CDLL(str(next(pathlib.Path(sys.argv[1]).rglob("libnvJitLink.so.*"))))
HEAD = ".version 8.4\n.target sm_80\n.address_size 64\n"
KERNELS = (".visible .entry k() { ret; }", ".visible .entry k() { .reg .b32 r; mov.u32 r, %clock; ret; }")
link = ctypes.c_void_p()
assert library.nvJitLinkCreate(ctypes.byref(link), 1, (ctypes.c_char_p * 1)(b"-arch=sm_80")) == 0
names = [b"first", b"second"]
statuses = []
for name, kernel in zip(names, KERNELS):
    data = (HEAD + kernel).encode()
    statuses.append(library.nvJitLinkAddData(link, 2, data, ctypes.c_size_t(len(data)), name))
if not any(statuses):
    statuses.append(library.nvJitLinkComplete(link))
size = ctypes.c_size_t()
library.nvJitLinkGetErrorLogSize(link, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value + 1)
library.nvJitLinkGetErrorLog(link, log)
print(f"{sys.argv[2]}: statuses {statuses}, error log {log.value.decode()!r}", flush=True)
if sys.argv[2] == "12.4":
    assert statuses == [0, 3] and log.value
else:
    assert statuses == [0, 0, 0] and not log.value
    assert library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size)) == 0 and size.value > 0
PYTHON
done
