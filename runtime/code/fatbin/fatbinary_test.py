"""Fat binaries that NVIDIA's fatbinary of CUDA 13.5 makes of drawn inputs: the reader finds what cuobjdump finds.

Which PTX a device compiles is held against NVIDIA's nvJitLink, which chooses by the same rules and needs no GPU.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest
from collections.abc import Sequence
from dataclasses import dataclass, replace

_PTX_ARCHITECTURES = (
    *(
        "75",
        "80",
        "86",
        "89",
        "90",
        "90a",
        "100",
        "100a",
        "100f",
        "103",
        "103f",
        "120",
        "120f",
        "121a",
    ),
)
# It tells machine code for sm_100f as that for sm_100.
_ELF_ARCHITECTURES = ("80", "86", "90a")
_DEVICES = ("75", "80", "86", "89", "90", "100", "103", "110", "120", "121")
_SEED = 58
_DRAWS = 60
_FATBIN = 4


@dataclass(frozen=True)
class _Entry:
    """One entry of a fat binary.

    Attributes:
        kind: "ptx", "elf" or "lto".
        architecture: such as "90a".
        content: what it unpacks to, without padding; nothing of LTO IR.
    """

    kind: str
    architecture: str
    content: bytes


def _tool(name: str) -> str:
    return os.path.realpath(os.environ[name])


def _run(arguments: Sequence[str], folder: str) -> bytes:
    done = subprocess.run(arguments, cwd=folder, capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(f"{arguments}: {done.stderr.decode()}")
    return done.stdout


def _own(folder: str, devices: Sequence[str] = ()) -> tuple[list[_Entry], dict[str, bytes | None]]:
    """What the reader finds in the file "image", and what it would choose for devices."""
    text = _run([_tool("SHOW"), "image", *devices], folder)
    entries, chosen = [], {}
    while text:
        line, _, text = text.partition(b"\n")
        kind, name, size = line.decode().split()
        length = 0 if size == "none" else int(size)
        content, text = text[:length], text[length + 1 :]
        if kind == "pick":
            chosen[name] = None if size == "none" else content
        else:
            entries.append(_Entry(kind, name, content.rstrip(b"\0")))
    return entries, chosen


def _cuobjdump(folder: str, kind: str) -> list[_Entry]:
    """What NVIDIA's program takes out of the file "image"."""
    with tempfile.TemporaryDirectory() as out:
        image = str(pathlib.Path(folder) / "image")
        subprocess.run(
            [_tool("CUOBJDUMP"), "-all", f"-x{kind}", "all", image],
            cwd=out,
            capture_output=True,
            check=False,
        )
        found = []
        for file in pathlib.Path(out).iterdir():
            match = re.fullmatch(r"(?:image\.(\d+)|x+)\.sm_(\w+)\.(ptx|cubin)", file.name)
            assert match, file.name
            content = file.read_bytes().rstrip(b"\0")
            found.append((int(match[1] or 0), _Entry(kind, match[2], content)))
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


class FatbinaryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.random = random.Random(_SEED)
        self.cubins = {}
        for architecture in _ELF_ARCHITECTURES:
            (pathlib.Path(self.folder) / "k.ptx").write_bytes(self._kernel(architecture, 0))
            _run(
                [
                    _tool("PTXAS"),
                    f"-arch=sm_{architecture}",
                    "k.ptx",
                    "-o",
                    f"{architecture}.cubin",
                ],
                self.folder,
            )
            self.cubins[architecture] = (
                pathlib.Path(self.folder) / f"{architecture}.cubin"
            ).read_bytes()

    def _kernel(self, architecture: str, number: int) -> bytes:
        lines = "".join(
            f".global .u32 g{self.random.getrandbits(40):x};\n"
            for _ in range(self.random.choice((0, 3, 500)))
        )
        return (
            f".version 8.8\n.target sm_{architecture}\n.address_size 64\n{lines}"
            f".visible .entry k_{architecture}_{number}() {{ ret; }}\n"
        ).encode()

    def _draw(self, kinds: Sequence[str], count: int) -> list[_Entry]:
        entries = []
        for number in range(count):
            kind = self.random.choice(kinds)
            if kind == "ptx":
                architecture = self.random.choice(_PTX_ARCHITECTURES)
                entries.append(_Entry(kind, architecture, self._kernel(architecture, number)))
            else:
                architecture = self.random.choice(_ELF_ARCHITECTURES)
                entries.append(_Entry(kind, architecture, self.cubins[architecture]))
        return entries

    def _pack(self, entries: Sequence[_Entry], options: Sequence[str]) -> None:
        images = []
        for number, entry in enumerate(entries):
            (pathlib.Path(self.folder) / f"in{number}").write_bytes(entry.content)
            images.append(f"--image3=kind={entry.kind},sm={entry.architecture},file=in{number}")
        _run([_tool("FATBINARY"), "-64", "--create=image", *options, *images], self.folder)

    def _options(self) -> list[str]:
        options = [self.random.choice(("--compress-all", "--compress=true"))]
        if self.random.random() < 0.8:
            options.append("--concat")
            options.append(
                f"--compress-mode={self.random.choice(('default', 'size', 'speed', 'balance'))}"
            )
        elif self.random.random() < 0.5:
            options = ["--compress-mode=none"]
        for name in ("--ident", "--cmdline"):
            if self.random.random() < 0.4:
                options.append(f"{name}={'x' * self.random.randrange(1, 40)}")
        return [*options, *(["-g"] if self.random.random() < 0.2 else [])]

    def test_finds_what_cuobjdump_finds(self) -> None:
        bundles = 0
        for draw in range(_DRAWS):
            entries = self._draw(("ptx", "ptx", "elf"), self.random.randrange(1, 7))
            options = self._options()
            with self.subTest(draw=draw, options=options):
                self._pack(entries, options)
                own, _ = _own(self.folder)
                bundles += (
                    b"\x00\x01\x01\x01" in (pathlib.Path(self.folder) / "image").read_bytes()[16:20]
                )
                self.assertCountEqual(
                    own, [replace(entry, content=entry.content.rstrip(b"\0")) for entry in entries]
                )
                for kind in ("ptx", "elf"):
                    real = _cuobjdump(self.folder, kind)
                    mine = [entry for entry in own if entry.kind == kind]
                    if any(option.startswith("--ident") for option in options):
                        # Its files have that name, without a number: the last of an architecture is left.
                        names = {entry.architecture: entry for entry in mine}
                        self.assertEqual({entry.architecture: entry for entry in real}, names)
                    else:
                        self.assertEqual(mine, real)
        self.assertGreater(bundles, _DRAWS // 4)

    def test_chooses_what_nvjitlink_chooses(self) -> None:
        library = ctypes.CDLL(_tool("NVJITLINK"))
        for draw in range(_DRAWS):
            entries = list(
                {
                    entry.architecture: entry
                    for entry in self._draw(("ptx",), self.random.randrange(1, 6))
                }.values()
            )
            with self.subTest(draw=draw, entries=[entry.architecture for entry in entries]):
                self._pack(entries, self._options())
                image = (pathlib.Path(self.folder) / "image").read_bytes()
                _, chosen = _own(self.folder, _DEVICES)
                for device in _DEVICES:
                    ours = re.search(rb"k_(\w+)_\d+\(", chosen[device] or b"")
                    # A device runs what is for it alone, too; nvJitLink has to be told.
                    exact = device + "a" if device not in ("75", "80", "86", "89") else device
                    self.assertEqual(
                        ours and ours[1].decode(), _linked(library, image, exact), device
                    )


def _linked(library: ctypes.CDLL, image: bytes, architecture: str) -> str | None:
    """The architecture of the kernel that NVIDIA's linker takes out of a fat binary; None if there is none."""
    link = ctypes.c_void_p()
    options = (ctypes.c_char_p * 1)(f"-arch=sm_{architecture}".encode())
    assert library.nvJitLinkCreate(ctypes.byref(link), 1, options) == 0
    try:
        if library.nvJitLinkAddData(link, _FATBIN, image, ctypes.c_size_t(len(image)), b"image"):
            return None
        assert library.nvJitLinkComplete(link) == 0
        size = ctypes.c_size_t()
        assert library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size)) == 0
        cubin = ctypes.create_string_buffer(size.value)
        assert library.nvJitLinkGetLinkedCubin(link, cubin) == 0
        found = re.search(rb"\0k_([0-9]+[af]?)_\d+\0", cubin.raw) or re.search(
            rb"\.text\.k_([0-9]+[af]?)_\d+\0", cubin.raw
        )
        assert found
        return found[1].decode()
    finally:
        library.nvJitLinkDestroy(ctypes.byref(link))


if __name__ == "__main__":
    unittest.main()
