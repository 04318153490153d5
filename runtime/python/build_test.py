"""Compiling a router for a torch that the wheel has none for, in a pretended site-packages."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import time
import zipfile

from absl.testing import absltest

from runtime.python import pretended

_UNITS = "router/operators/stock_units"
# What the trial asks of tensors; both devices give the same.
_TENSORS = """
import types
class _Tensor:
    def __getattr__(self, name): return self
    def __call__(self, *given, **named): return self
    __matmul__ = __mul__ = __gt__ = __getitem__ = __call__
linspace = lambda *given: _Tensor()
bfloat16 = None
nn = types.SimpleNamespace(functional=_Tensor())
def _assert_close(mine, cpus): cuda.init()
testing = types.SimpleNamespace(assert_close=_assert_close)
"""
_HEADER = "include/ATen/core/dispatch/Dispatcher.h"
# Waits for a file before it compiles the second unit.
_SLOW = """#!/bin/sh
case "$*" in *stock_units/unit_1*) while ! [ -e {go} ]; do sleep 0.1; done;; esac
exec g++ "$@"
"""


class BuildTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = pathlib.Path(self.create_tempdir().full_path)
        self.env = pretended.Environment(self.root / "venv")
        self.env.add_torch("2.14.0+cu130", "13.0")
        self.torch = self.env.site / "torch"
        with (self.torch / "__init__.py").open("a") as source:
            source.write(_TENSORS)
        header = self.torch / _HEADER
        header.parent.mkdir(parents=True)
        header.write_text("#define ATEN 1\n")
        for name in ("c10", "c10_cuda", "torch_cpu", "torch_cuda"):
            shutil.copy(self.torch / "lib" / "libtorch.so", self.torch / "lib" / f"lib{name}.so")
        self.cuda = self.env.site / "nvidia" / "cu13" / "include" / "cuda_runtime_api.h"
        self.cuda.parent.mkdir(parents=True)
        self.cuda.write_text("#define CUDART_VERSION 13000\n")
        router = (pathlib.Path(pretended.__file__).parent / "testdata" / "router.c").read_text()
        self.pack(
            router='extern "C" {\n' + router + "\n}\n", other="int another_file() { return 1; }\n"
        )

    def pack(self, **files: str) -> None:
        """Puts sources into the package, a translation unit for each."""
        folder = self.env.site / "torch_cuda_runtime" / "routers"
        with zipfile.ZipFile(folder / "sources.zip", "w") as archive:
            for number, (name, text) in enumerate(files.items()):
                file = f"router/operators/{name}.cpp"
                archive.writestr(file, "#include <ATen/core/dispatch/Dispatcher.h>\n" + text)
                archive.writestr(f"{_UNITS}/unit_{number}.cpp", f'#include "{file}"\n')

    def environ(self, **more: str) -> dict[str, str]:
        return {"TORCH_CUDA_CACHE": str(self.root / "cache"), **more}

    def build(self, status: int, *arguments: str, **environ: str) -> str:
        """What the command says."""
        command = ["-m", "torch_cuda_runtime", "build-operators", *arguments]
        done = self.env.run(*command, **self.environ(**environ))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def routers(self) -> list[pathlib.Path]:
        return sorted(
            path for path in (self.root / "cache").glob("operators/*/*.so") if path.is_file()
        )

    def test_a_torch_gets_what_was_compiled_for_it(self) -> None:
        said = self.build(0)
        [router] = self.routers()
        self.assertIn(f"This torch has operators now: {router}", said)
        self.assertIn("[2/2] compiled", said)
        self.assertIn("Tried: CUDA computes what the CPU does.", said)
        self.assertEqual(list((self.root / "cache").glob("operators/*.work")), [])
        answer = self.env.answers(
            "import torch; torch.cuda.init()\n"
            "answer = [torch.libraries, 'cache/operators' in open('/proc/self/maps').read()]",
            **self.environ(TORCH_CUDA_DEVICES="fake"),
        )
        self.assertEqual(answer, ["our_13", True])
        doctor = self.env.run(
            "-m", "torch_cuda_runtime", "doctor", **self.environ(TORCH_CUDA_DEVICES="fake")
        )
        self.assertIn(f"torch 2.14, {router}, compiled on this machine", doctor.stdout)
        self.assertNotIn("compiled in", self.build(0))
        self.assertIn("compiled in", self.build(0, "--again"))

    def test_another_torch_does_not_get_it(self) -> None:
        self.build(0)
        for version in ("2.14.1+cu130", "2.14.0a0+git1234567", "2.14.0+cu132"):
            shutil.rmtree(self.torch)
            self.env.add_torch(version, "13.2" if version.endswith("cu132") else "13.0")
            done = self.env.run("import torch", **self.environ(TORCH_CUDA_DEVICES="fake"))
            self.assertIn(f"found torch {version}", done.stderr)
            self.assertIn("python -m torch_cuda_runtime build-operators", done.stderr)

    def test_other_sources_do_not_count(self) -> None:
        self.build(0)
        self.pack(router="// an older one\n")
        done = self.env.run("import torch", **self.environ(TORCH_CUDA_DEVICES="fake"))
        self.assertIn("build-operators", done.stderr)

    def test_it_goes_on_where_it_was_interrupted(self) -> None:
        compiler = self.root / "slow"
        compiler.write_text(_SLOW.format(go=self.root / "go"))
        compiler.chmod(0o755)
        environ = self.environ(CXX=str(compiler), PATH=os.environ["PATH"])
        process = subprocess.Popen(
            [str(self.env.python), "-m", "torch_cuda_runtime", "build-operators", "--jobs=2"],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not list((self.root / "cache").glob("operators/*/unit_0-*.o")):
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
        self.assertEqual(process.returncode, 130, error)
        self.assertIn("The same command goes on", error)
        self.assertNotIn("Traceback", error)
        self.assertEqual(self.routers(), [])
        (self.root / "go").touch()
        self.assertIn("1 of 2 parts are compiled already", self.build(0, CXX=str(compiler)))
        self.assertLen(self.routers(), 1)

    def test_a_file_that_needs_a_port(self) -> None:
        self.pack(router="\n", changed="int f() { return at::gone(1); }\n")
        said = self.build(1)
        self.assertIn("torch 2.14.0+cu130 needs a port of these files", said)
        self.assertIn("router/operators/changed.cpp: 'at' has not been declared", said)
        self.assertIn("docs/porting.md", said)
        self.assertIn('pip install "torch==2.15.*"', said)
        self.assertEqual(self.routers(), [])

    def test_a_function_that_torch_lacks(self) -> None:
        self.pack(router="int gone(int);\nint f() { return gone(1); }\n")
        self.assertIn("its libraries lack gone(int)", self.build(1))
        self.assertEqual(self.routers(), [])

    def test_a_trial_that_fails(self) -> None:
        said = self.build(1, PRETENDED_ROUTER_FAULT="wrong numbers")
        self.assertIn("a trial failed; they are not used", said)
        self.assertIn("wrong numbers", said)
        self.assertEqual(self.routers(), [])

    def test_what_is_not_there(self) -> None:
        self.assertIn("found no compiler of C++ (CXX=/nowhere)", self.build(1, CXX="/nowhere"))
        self.cuda.write_text("#define CUDART_VERSION 12080\n")
        said = self.build(1)
        self.assertIn(f"found no whole headers of CUDA 13 in {self.cuda.parent}", said)
        self.assertIn('"nvidia-cuda-runtime==13.*" "nvidia-cuda-crt==13.*"', said)
        (self.torch / _HEADER).unlink()
        self.assertIn("without the headers of C++", self.build(1))
        (self.env.site / "torch_cuda_runtime" / "routers" / "sources.zip").unlink()
        self.assertIn("sources.zip; needed an undamaged wheel", self.build(1))

    def test_a_torch_that_needs_none(self) -> None:
        shutil.rmtree(self.torch)
        self.assertIn("found no torch in this Python", self.build(1))
        self.env.add_torch("2.15.0+cu132", "13.2")
        package = self.env.site / "torch_cuda_runtime"
        self.assertIn(f"{package}/routers/cu13/libtorch_cuda_operators-2.15.so", self.build(0))
        shutil.rmtree(self.torch)
        self.env.add_torch("2.14.0+cpu", None)
        self.assertIn("which is without CUDA", self.build(1))


if __name__ == "__main__":
    absltest.main()
