"""A small plugin tree on disk and its manifest, for the tests of the wheel tools."""

from __future__ import annotations

import pathlib

from tools.wheel import wheel_manifest

# An ELF header is all a fake library needs: nothing loads it.
_LIBRARY = b"\x7fELF" + bytes(range(256)) * 64


def manifest(folder: pathlib.Path) -> wheel_manifest.WheelManifest:
    """Writes a package with a library and describes the wheel made of it.

    Args:
        folder: an empty folder for the sources.

    Returns:
        The manifest of a wheel `torch_cuda_fake` that any Python 3 on Linux accepts.
    """
    sources = {
        "torch_cuda_fake/__init__.py": b'def autoload():\n    """Does nothing."""\n',
        "torch_cuda_fake/py.typed": b"",
        "torch_cuda_fake/lib/libfake.so": _LIBRARY,
    }
    files = []
    for path, data in sources.items():
        source = folder / path
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(data)
        files.append(wheel_manifest.WheelFile(source, path))
    license_file = folder / "LICENSE"
    license_file.write_text("Do as you like.\n", encoding="utf-8")
    readme = folder / "README.md"
    readme.write_text("# A fake\n\nIt does nothing.\n", encoding="utf-8")
    return wheel_manifest.WheelManifest(
        distribution="torch-cuda-fake",
        version="2.6.0+cu124",
        summary="A plugin for nothing.",
        python_tag="py3",
        abi_tag="none",
        platform_tag="linux_x86_64",
        requires_python=">=3.11",
        requires=("torch==2.6.0",),
        extras={"cuda": ("nvidia-cuda-runtime-cu12>=12.4.127,<13",)},
        entry_points={"torch.backends": ("torch_cuda_fake = torch_cuda_fake:autoload",)},
        files=tuple(files),
        license_files=(wheel_manifest.WheelFile(license_file, "LICENSE"),),
        description=readme,
    )
