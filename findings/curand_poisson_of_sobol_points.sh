#!/usr/bin/env bash
# cuRAND 10.4.5 (PyPI, CUDA 13): Poisson numbers of Sobol points with a mean below 10 are no function that grows with
# the point. They come from a table of aliases (Walker's method), for which nearby points mean numbers far apart, so
# that what makes quasirandom points useful is lost. From a mean of 10 on they are the inverse of the distribution
# function. The documentation names no such border.
#
# One would expect: the inverse of the distribution function for every mean, as cuRAND has it for normal numbers of
# quasirandom generators, which keeps the points' order.
#
# Needs Python 3.10 or newer and PyPI; no GPU, no driver. Ends with 1 if the library behaves otherwise.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
  nvidia-curand==10.4.5.25 nvidia-cuda-runtime==13.5.37

"$folder/venv/bin/python" - <<'PROGRAM'
import ctypes
import glob
import sys
import sysconfig

(path,) = glob.glob(sysconfig.get_path("purelib") + "/nvidia/*/lib/libcurand.so.10")
curand = ctypes.CDLL(path)
SOBOL32 = 201
COUNT = 1 << 14


def numbers(mean=None):
    """The first points, or their Poisson numbers."""
    generator = ctypes.c_void_p()
    assert curand.curandCreateGeneratorHost(ctypes.byref(generator), SOBOL32) == 0
    values = (ctypes.c_uint * COUNT)()
    size = ctypes.c_size_t(COUNT)
    if mean is None:
        assert curand.curandGenerate(generator, values, size) == 0
    else:
        assert curand.curandGeneratePoisson(generator, values, size, ctypes.c_double(mean)) == 0
    assert curand.curandDestroyGenerator(generator) == 0
    return list(values)


points = numbers()
falls = {}
for mean in (3.0, 9.9, 10.0, 100.0):
    by_point = [number for _, number in sorted(zip(points, numbers(mean)))]
    falls[mean] = sum(a > b for a, b in zip(by_point, by_point[1:]))
    print(f"mean {mean}: of {COUNT} points in ascending order, the number falls {falls[mean]} times")
as_seen = falls[3.0] > 0 and falls[9.9] > 0 and falls[10.0] == 0 and falls[100.0] == 0
print("as seen before" if as_seen else "the behaviour has changed")
sys.exit(0 if as_seen else 1)
PROGRAM
