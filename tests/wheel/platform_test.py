"""The wheels that need neither Python's nor torch's ABI run where their tag says: asked of auditwheel.

platform_test.py WHEEL…
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

from absl.testing import absltest, parameterized

from tools.wheel import unpack_wheel

WHEELS = [pathlib.Path(wheel).absolute() for wheel in sys.argv[1:]]
del sys.argv[1:]

PLATFORM = "manylinux_2_28_x86_64"
# What a program has that loads the operators for a PyTorch of PyPI. auditwheel has no option for it.
_OTHERS = ["libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so"]
_OTHERS += ["libcudart.so.12", "libcudart.so.13"]
_ASK = f"""
import pathlib, sys
from auditwheel import wheel_abi
from auditwheel.wheeltools import get_wheel_architecture, get_wheel_libc
wheel = pathlib.Path(sys.argv[1])
print(wheel_abi.analyze_wheel_abi(get_wheel_libc(wheel.name), get_wheel_architecture(wheel.name), wheel,
    frozenset({_OTHERS}), disable_isa_ext_check=False, allow_graft=False).overall_policy.name)
"""
# What auditwheel says may be older still.
_FOUND = re.compile(r"^manylinux_2_(\d+)_x86_64$", re.MULTILINE)


def _symbols(wheel: pathlib.Path, folder: pathlib.Path) -> dict[str, list[str]]:
    """The names in the symbol tables of the wheel's libraries, by file."""
    unpack_wheel.unpack(wheel, folder)
    found = {}
    for library in sorted(folder.glob("*/lib/lib*.so.*")) + sorted(folder.glob("*/lib/libaccel_*")):
        command = ["nm", "--dynamic", "--demangle", str(library)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[library.name] = [line.split(maxsplit=1)[-1] for line in done.stdout.splitlines()]
    return found


class PlatformTest(parameterized.TestCase):
    @parameterized.parameters(*WHEELS)
    def test_auditwheel_says_what_the_tag_says(self, wheel: pathlib.Path) -> None:
        done = subprocess.run(
            [sys.executable, "-c", _ASK, wheel],
            env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        found = _FOUND.search(done.stdout)
        assert found is not None, done.stdout
        self.assertLessEqual(int(found[1]), 28, done.stdout)
        self.assertEndsWith(wheel.name, f"-py3-none-{PLATFORM}.whl")

    def test_cuda_s_libraries_name_no_device(self) -> None:
        (wheel,) = (wheel for wheel in WHEELS if "_runtime-" in wheel.name)
        symbols = _symbols(wheel, pathlib.Path(self.create_tempdir().full_path))
        self.assertContainsSubset(["libcuda.so.1", "libaccel_runtime.so"], symbols)
        for library, names in symbols.items():
            self.assertNotEmpty(names, library)
            self.assertEmpty([name for name in names if "sim" in name.lower().split("_")], library)
            self.assertEmpty([name for name in names if "cudasim" in name.lower()], library)


if __name__ == "__main__":
    absltest.main()
