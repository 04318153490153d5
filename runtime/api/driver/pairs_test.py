"""What one of CUDA's two APIs can do, the other can: they are two faces of one core."""

from __future__ import annotations

import pathlib
import re
import sys
from dataclasses import dataclass

from absl.testing import absltest

# Functions of the runtime whose names are not the driver's with another prefix, and the driver's.
_OTHER_NAMES = {
    "deviceenablepeeraccess": "ctxenablepeeraccess",
    "devicedisablepeeraccess": "ctxdisablepeeraccess",
    "devicegetcacheconfig": "ctxgetcacheconfig",
    "devicegetlimit": "ctxgetlimit",
    "devicegetstreampriorityrange": "ctxgetstreampriorityrange",
    "devicesetcacheconfig": "ctxsetcacheconfig",
    "devicesetlimit": "ctxsetlimit",
    "devicesynchronize": "ctxsynchronize",
    "eventcreatewithflags": "eventcreate",
    "free": "memfree",
    "freeasync": "memfreeasync",
    "freehost": "memfreehost",
    "hostalloc": "memhostalloc",
    "hostgetdevicepointer": "memhostgetdevicepointer",
    "hostgetflags": "memhostgetflags",
    "hostregister": "memhostregister",
    "hostunregister": "memhostunregister",
    "ipcclosememhandle": "ipcclosememhandle",
    "launchkernelexc": "launchkernelex",
    "malloc": "memalloc",
    "mallocasync": "memallocasync",
    "mallocfrompoolasync": "memallocfrompoolasync",
    "mallocmanaged": "memallocmanaged",
    "mallocpitch": "memallocpitch",
    "memset": "memsetd8",
    "memset2d": "memsetd2d8",
    "memset2dasync": "memsetd2d8async",
    "memsetasync": "memsetd8async",
    "pointergetattributes": "pointergetattribute",
    "streamcreatewithflags": "streamcreate",
}

# What one has and the other has not, with the reason.
_GAPS = {
    "runtime: memcpy3dbatchasync": "12.4's header has it not; CUDA 13's library does it",
    "runtime: memcpybatchasync": "12.4's header has it not; CUDA 13's library does it",
    "runtime: streamgetdevice": "12.4's header has it not; CUDA 13's library does it",
    "runtime: getexporttable": "NVIDIA's libraries ask the driver for tables, which says what it has not",
}


@dataclass(frozen=True)
class Interface:
    """A drop-in library's functions.

    Attributes:
        exported: the names of all.
        missing: of those that are stubs.
    """

    exported: set[str]
    missing: set[str]

    @staticmethod
    def read(stubs: pathlib.Path, version_script: pathlib.Path) -> Interface:
        """From the files that //runtime/dropin writes for the library."""
        exported = set(re.findall(r"^ {4}(\w+);$", version_script.read_text(), re.MULTILINE))
        functions = set(
            re.findall(r"^(?:int|void\*|const char\*) (\w+)\(", stubs.read_text(), re.MULTILINE)
        )
        return Interface(exported, exported & functions)

    def has(self, prefix: str) -> dict[str, bool]:
        """By the functions' names without prefix and version, whether there is one that is no stub."""
        has: dict[str, bool] = {}
        for name in self.exported:
            if found := re.fullmatch(prefix + r"([A-Z]\w*?)(_v\d+|_ptsz|_ptds)*", name):
                stem = found.group(1).lower()
                has[stem] = has.get(stem, False) or name not in self.missing
        return has


class PairsTest(absltest.TestCase):
    driver: Interface
    runtime: Interface

    def test_both_have_the_same(self) -> None:
        driver = self.driver.has("cu")
        runtime = {
            _OTHER_NAMES.get(name, name): has for name, has in self.runtime.has("cuda").items()
        }
        pairs = driver.keys() & runtime.keys()
        self.assertGreater(len(pairs), 200)
        lacks = {
            f"{'driver' if runtime[name] else 'runtime'}: {name}"
            for name in pairs
            if driver[name] != runtime[name]
        }
        self.assertSameElements(lacks, _GAPS)

    def test_what_is_called_otherwise_is_there(self) -> None:
        for name, other in _OTHER_NAMES.items():
            self.assertIn(name, self.runtime.has("cuda"))
            self.assertIn(other, self.driver.has("cu"))

    def test_a_stub_is_told_from_a_function(self) -> None:
        self.assertTrue(self.driver.has("cu")["memalloc"])
        self.assertFalse(self.driver.has("cu")["importexternalmemory"])


if __name__ == "__main__":
    files = [pathlib.Path(name) for name in sys.argv[1:5]]
    del sys.argv[1:5]
    PairsTest.driver = Interface.read(*files[:2])
    PairsTest.runtime = Interface.read(*files[2:])
    absltest.main()
