"""torch_cuda_runtime and torch_cuda_sim on older systems: installed by pip, and run by that system's Python and loader.

older_systems_test.py NAMES WHEEL…

The system's own loader starts its Python with its libraries, so that nothing of this machine's glibc is in the process.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pip
from absl.testing import absltest

NAMES = pathlib.Path(sys.argv[1]).absolute()
WHEELS = [pathlib.Path(wheel).absolute() for wheel in sys.argv[2:]]
del sys.argv[1:]

SYSTEMS = NAMES.read_text(encoding="ascii").split()

# All libraries of a CUDA major load with all that they refer to, and each device computes.
_USE = """
import ctypes, os, pathlib, subprocess, sys
import torch_cuda_runtime, torch_cuda_sim

sim = torch_cuda_sim.paths()
major = sys.argv[2]
names = [name for folder in torch_cuda_runtime.library_folders(int(major)) for name in sorted(folder.glob("lib*.so.*"))]
for name in [*names, pathlib.Path(sim["library"])]:
    ctypes.CDLL(str(name), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
assert torch_cuda_runtime.environment("fake:2,sim")["TORCH_CUDA_DEVICES"] == "fake:2," + sim["library"]

driver = ctypes.CDLL("libcuda.so.1")
def check(status):
    assert status == 0, status
check(driver.cuInit(0))
count = ctypes.c_int()
check(driver.cuDeviceGetCount(ctypes.byref(count)))
context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
check(driver.cuCtxCreate_v2(ctypes.byref(context), 0, count.value - 1))
source = pathlib.Path(sys.argv[1]).read_bytes()
check(driver.cuModuleLoadData(ctypes.byref(module), source))
check(driver.cuModuleGetFunction(ctypes.byref(function), module, b"scale"))
values = (ctypes.c_float * 64)(*range(64))
check(driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.sizeof(values)))
check(driver.cuMemcpyHtoD_v2(memory, values, ctypes.sizeof(values)))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
check(driver.cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, None, arguments, None))
check(driver.cuMemcpyDtoH_v2(values, memory, ctypes.sizeof(values)))
print(count.value, values[3], values[63], sys.version_info[:2], os.confstr("CS_GNU_LIBC_VERSION"))

blas = ctypes.CDLL(f"libcublas.so.{major}")
handle, result = ctypes.c_void_p(), ctypes.c_float()
check(blas.cublasCreate_v2(ctypes.byref(handle)))
check(blas.cublasSasum_v2(handle, 64, memory, 1, ctypes.byref(result)))
print(result.value)
"""

_PTX = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 values) {
  .reg .b32 %r<5>;
  .reg .b64 %a<4>;
  .reg .f32 %f<3>;
  ld.param.u64 %a1, [values];
  cvta.to.global.u64 %a1, %a1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %a2, %r4, 4;
  add.s64 %a3, %a1, %a2;
  ld.global.f32 %f1, [%a3];
  fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;
  st.global.f32 [%a3], %f2;
  ret;
}
"""


class OlderSystemsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.source = self.folder / "scale.ptx"
        self.source.write_text(_PTX)

    def run_on(
        self, system: str, loader: pathlib.Path, *command: str, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        root = NAMES.parent / system
        folders = [root / "lib/x86_64-linux-gnu", root / "usr/lib/x86_64-linux-gnu"]
        return subprocess.run(
            [loader, "--library-path", ":".join(map(str, folders)), *command],
            env={"PYTHONHOME": str(root / "usr"), "PATH": "/usr/bin:/bin", **settings},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def try_wheels(self, system: str) -> None:
        root = NAMES.parent / system
        loader = root / "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
        (interpreter,) = (root / "usr/bin").glob("python3.*")
        site = self.folder / system
        install = ["install", "--no-index", "--disable-pip-version-check", "--target", str(site)]
        # pip refuses a wheel whose tag this Python or this glibc does not fit.
        package = str(pathlib.Path(pip.__file__).parent)
        done = self.run_on(system, loader, str(interpreter), package, *install, *map(str, WHEELS))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

        device = site / "torch_cuda_sim/lib/libaccel_sim.so"
        settings = {"PYTHONPATH": str(site), "TORCH_CUDA_DEVICES": f"fake:2,{device}"}
        for major in ("12", "13"):
            arguments = ["-c", _USE, str(self.source), major]
            done = self.run_on(system, loader, str(interpreter), *arguments, **settings)
            self.assertEqual(done.returncode, 0, done.stderr)
            numbers, total = done.stdout.splitlines()
            self.assertStartsWith(numbers, "3 7.0 127.0 (3, ")
            self.assertEqual(float(total), sum(2 * value + 1 for value in range(64)))

        # The program finds the device's library beside itself, which is where its loader is.
        ptxas = site / "torch_cuda_sim/bin/ptxas"
        copy = shutil.copy(loader, ptxas.parent / "loader")
        arguments = [str(ptxas), str(self.source), "-o", "out"]
        done = self.run_on(system, pathlib.Path(copy), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        # With the NUL that a text has for cuModuleLoadData.
        self.assertEqual((self.folder / "out").read_text(), _PTX + "\0")

    def test_the_wheels_work_on_older_systems(self) -> None:
        if not SYSTEMS:
            self.skipTest("no mirror of this machine has an older Debian")
        for system in SYSTEMS:
            with self.subTest(system):
                self.try_wheels(system)


if __name__ == "__main__":
    absltest.main()
