"""Makes the chroot that runs torch_cuda on a GPU machine without network, as archives in small parts.

    python3 tools/gpu/bundle.py --root ROOT --out DIR --device libaccel_nvidia.so WHEEL ...

ROOT is a Debian root with Python, its packages and CUDA's libraries, which is only read. The sets of parts are: `base`
(Python, torch), `plugin` (the wheels), `cuda` and `fft` (CUDA's libraries, with code for one GPU only), `nvrtc`, `checks`
(the checks of this folder), and `zstd`, which unpacks them.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Sequence

# It runs without Bazel, from anywhere.
sys.path.insert(0, str(pathlib.Path(__file__).absolute().parents[2]))

from tools.gpu import fatbins

_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_SITE = "usr/lib/python3/dist-packages"
_STDLIB = "usr/lib/python3.13"
_PROGRAMS = (
    "bash ls cat cp mv rm mkdir env sleep timeout head tail wc sort uname date id nproc df du stat readlink "
    "realpath chmod touch tee cut tr seq true false ln grep sed find xargs mount umount python3.13 uniq basename dirname"
)
_PACKAGES = (
    "torch torchgen functorch numpy sympy mpmath networkx jinja2 markupsafe yaml _yaml typing_extensions.py filelock "
    "fsspec packaging pytest _pytest pluggy iniconfig py.py expecttest hypothesis _hypothesis_ftz_detector.py "
    "_hypothesis_globals.py _hypothesis_pytestplugin.py attr attrs sortedcontainers psutil setuptools pkg_resources "
    "_distutils_hack"
)
_DISTRIBUTIONS = (
    "torch numpy sympy mpmath networkx jinja2 markupsafe pyyaml typing_extensions filelock fsspec packaging pytest "
    "pluggy iniconfig expecttest hypothesis attrs sortedcontainers psutil setuptools"
)
_LEFT_OUT = shutil.ignore_patterns(
    "__pycache__",
    "idlelib",
    "ensurepip",
    "tkinter",
    "turtledemo",
    "lib2to3",
    "config-3.13*",
    "*.a",
    "*.pyi",
)
# By sets: what PyTorch needs at import, and what it opens later.
_CUDA = {
    "cuda": (
        "libcudart.so.12",
        "libnvToolsExt.so.1",
        "libcublas.so.12",
        "libcublasLt.so.12",
        "libcusparse.so.12",
        "libcusolver.so.11",
        "libnvJitLink.so.12",
        "libcupti.so.12",
    ),
    "fft": ("libcufft.so.11",),
    "nvrtc": ("libnvrtc.so.12", "libnvrtc-builtins.so.12.4"),
}
_LATE = (
    "liblz4.so.1",
    "libgcc_s.so.1",
    "librt.so.1",
    "libpthread.so.0",
    "libdl.so.2",
    "libutil.so.1",
)
_HOSTS_OWN = ("libcuda.so.1", "libnvidia-ml.so.1")
_CHECKS = ("tools/gpu/*.py", "tests/stock/operators.py")
_PART = 48 << 20


def in_root(root: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    """Follows links as they are inside of a root."""
    for _ in range(20):
        if not path.is_symlink():
            return path
        target = path.readlink()
        path = root / str(target).lstrip("/") if target.is_absolute() else path.parent / target
    raise OSError(f"{path}: too many links")


def needed(path: pathlib.Path) -> list[str]:
    """The libraries that a file is linked with; none where it is no ELF file."""
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    text = subprocess.run(
        ["readelf", "-dW", path], capture_output=True, text=True, check=True
    ).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def copy_tree(source: pathlib.Path, target: pathlib.Path, *left_out: str) -> None:
    """Copies a file or a folder with its links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        ignored = shutil.ignore_patterns(*left_out)
        shutil.copytree(
            source,
            target,
            symlinks=True,
            ignore=lambda folder, names: _LEFT_OUT(folder, names) | ignored(folder, names),
        )
    else:
        shutil.copy2(source, target)


def close(root: pathlib.Path, made: pathlib.Path, seeds: Iterable[pathlib.Path]) -> None:
    """Copies the libraries that files need, and that those need, by their sonames."""
    waiting = list(seeds)
    while waiting:
        for name in needed(waiting.pop()):
            target = made / _LIBRARIES / name
            if target.exists() or name in _HOSTS_OWN or name.startswith("ld-linux"):
                continue
            source = in_root(root, root / _LIBRARIES / name)
            if not source.exists():
                found = sorted((root / "usr/lib").glob(f"**/{name}"))
                if not found:
                    print(f"not found: {name}")
                    continue
                source = in_root(root, found[0])
            shutil.copy2(source, target)
            waiting.append(target)


def make_base(root: pathlib.Path, made: pathlib.Path) -> None:
    """Python, its packages with torch, and some programs."""
    for folder in (_LIBRARIES, "usr/bin", "usr/sbin", "usr/lib64", "etc", "tmp", "root"):
        (made / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("dev", "proc", "sys", "run", "usr/lib/nvidia-driver"):
        (made / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("bin", "sbin", "lib", "lib64"):
        (made / folder).symlink_to(f"usr/{folder}")
    for name in _PROGRAMS.split():
        shutil.copy2(in_root(root, root / "usr/bin" / name), made / "usr/bin" / name)
    (made / "usr/bin/sh").symlink_to("bash")
    (made / "usr/bin/python3").symlink_to("python3.13")
    shutil.copy2(root / "usr/sbin/ldconfig", made / "usr/sbin/ldconfig")
    loader = in_root(root, root / "usr/lib64/ld-linux-x86-64.so.2")
    shutil.copy2(loader, made / "usr/lib64/ld-linux-x86-64.so.2")
    for name, text in {
        "passwd": "root:x:0:0:root:/root:/bin/bash\n",
        "group": "root:x:0:\n",
        "hosts": "127.0.0.1 localhost\n",
        "ld.so.conf": f"/{_LIBRARIES}\n",
    }.items():
        (made / "etc" / name).write_text(text)
    copy_tree(root / _STDLIB, made / _STDLIB, "test")
    for path in sorted((made / _STDLIB).rglob("*")):
        if path.is_symlink() and not path.exists():
            path.unlink()
    for name in _PACKAGES.split():
        copy_tree(root / _SITE / name, made / _SITE / name, "include")
    for path in sorted((root / _SITE).glob("*-info")):
        if path.name.split("-")[0].lower() in _DISTRIBUTIONS.split():
            copy_tree(path, made / _SITE / path.name)
    for path in (made / _SITE / "torch/bin").iterdir():
        if path.name != "torch_shm_manager":
            path.unlink()
    seeds = [path for path in (made / "usr").rglob("*") if path.is_file() and not path.is_symlink()]
    # The targets of torch/lib are beside the system's libraries.
    links = [path.readlink().name for path in (made / _SITE / "torch/lib").iterdir()]
    for name in links:
        target = made / _LIBRARIES / name
        if not target.exists():
            shutil.copy2(in_root(root, root / _LIBRARIES / name), target)
        seeds.append(target)
    # fatbins.py opens the first; NVIDIA's libraries, also the driver's, need the rest.
    for name in _LATE:
        target = made / _LIBRARIES / name
        shutil.copy2(in_root(root, root / _LIBRARIES / name), target)
        seeds.append(target)
    close(root, made, seeds)


def make_plugin(
    root: pathlib.Path, made: pathlib.Path, wheels: Sequence[pathlib.Path], device: pathlib.Path
) -> None:
    """The wheels, as an installer unpacks them, and the library of the device."""
    site = made / "usr/local/lib/python3.13/dist-packages"
    site.mkdir(parents=True)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    for path in sorted(site.rglob("*.so")):
        if path.name == "libtorch_cuda.so":
            fatbins.expand(path)
    for path in site.rglob("bin/*"):
        path.chmod(0o755)
    (made / "opt").mkdir()
    shutil.copy2(device, made / "opt/libaccel_nvidia.so")
    # What CUDA's libraries are is the GPU's matter; the rest must be there.
    names = {name for path in site.rglob("*.so*") for name in needed(path)}
    for name in sorted(names):
        if not (root / _LIBRARIES / name).exists() and not list(site.rglob(name)):
            print(f"not found: {name}")


def make_cuda(
    root: pathlib.Path, made: pathlib.Path, names: Iterable[str], architecture: int
) -> None:
    """CUDA's libraries, with code for one architecture."""
    folder = made / _LIBRARIES
    folder.mkdir(parents=True)
    for name in names:
        shutil.copy2(in_root(root, root / _LIBRARIES / name), folder / name)
        # cuFFT compiles kernels at link time only for callbacks, and for plans that ask for it.
        link_time = name.startswith("libcufft")
        whole, emptied = fatbins.empty(folder / name, architecture, link_time)
        print(f"{name}: {emptied:,} of {whole:,} bytes of code emptied")
        if whole:
            fatbins.expand(folder / name)


def make_checks(made: pathlib.Path) -> None:
    """The checks of this folder, and what they import."""
    repository = pathlib.Path(__file__).absolute().parents[2]
    for pattern in _CHECKS:
        for path in repository.glob(pattern):
            copy_tree(path, made / "checks" / path.relative_to(repository))


def make_zstd(root: pathlib.Path, made: pathlib.Path) -> None:
    """The program that unpacks the other sets, with its own loader."""
    made.mkdir(parents=True)
    program = root / "usr/bin/zstd"
    if not program.exists():
        program = pathlib.Path("/usr/bin/zstd")
    shutil.copy2(program, made / "zstd")
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for path in re.findall(r"(/\S+) \(0x", text):
        shutil.copy2(path, made / pathlib.Path(path).name)


def pack(made: pathlib.Path, parts: pathlib.Path, name: str, level: str) -> None:
    """Writes a set as parts."""
    parts.mkdir(parents=True, exist_ok=True)
    for old in parts.glob(f"{name}.tar.*"):
        old.unlink()
    archive = parts / f"{name}.tar.{'gz' if name == 'zstd' else 'zst'}"
    how = "gzip -9" if name == "zstd" else f"zstd -{level} --long=27 -B128M -T2"
    with archive.open("wb") as file:
        subprocess.run(
            f"tar --sort=name --owner=0 --group=0 -c -C '{made}' . | {how}",
            shell=True,
            check=True,
            stdout=file,
        )
    size = archive.stat().st_size
    if size > _PART:
        subprocess.run(["split", "-d", "-b", str(_PART), archive, f"{archive}.part_"], check=True)
        archive.unlink()
    print(f"{name}: {size:,} bytes", flush=True)


def main(command_line: Sequence[str]) -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheels", nargs="*", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--device", type=pathlib.Path, help="libaccel_nvidia.so")
    parser.add_argument("--architecture", type=int, default=90)
    parser.add_argument("--level", default="9", help="of zstd")
    parser.add_argument("--sets", default="zstd,checks,base,plugin,cuda,fft,nvrtc")
    options = parser.parse_args(command_line)
    for name in options.sets.split(","):
        made = options.out / "sets" / name
        if made.exists():
            shutil.rmtree(made)
        if name == "base":
            make_base(options.root, made)
        elif name == "plugin":
            make_plugin(options.root, made, options.wheels, options.device)
        elif name == "checks":
            make_checks(made)
        elif name == "zstd":
            make_zstd(options.root, made)
        else:
            make_cuda(options.root, made, _CUDA[name], options.architecture)
        pack(made, options.out / "parts", name, options.level)


if __name__ == "__main__":
    main(sys.argv[1:])
