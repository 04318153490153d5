"""A stock torch gets our libraries in the place of NVIDIA's where devices are asked for, and only there."""

from __future__ import annotations

import pathlib
import shutil

from absl.testing import absltest

from runtime.python import pretended

_WHOSE = "import torch; answer = torch.libraries"
_DEVICE = """
import pathlib
here = pathlib.Path(__file__).parent
def paths():
    return {name: str(here / file) for name, file in
            (("library", "libaccel_acme.so"), ("operators", "operators.so"), ("ptxas", "ptxas"))}
"""


class StockTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.env = pretended.Environment(pathlib.Path(self.create_tempdir().full_path) / "venv")

    def test_ours_come_before_nvidias(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        self.assertEqual(self.env.answers(_WHOSE, TORCH_CUDA_DEVICES="fake"), "our_13")

    def test_the_set_is_that_of_torchs_cuda(self) -> None:
        self.env.add_torch("2.9.1+cu128", "12.8")
        self.assertEqual(self.env.answers(_WHOSE, TORCH_CUDA_DEVICES="fake"), "our_12")

    def test_nothing_is_loaded_unless_asked_for(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        code = (
            "import sys\nimport torch\nmaps = open('/proc/self/maps').read()\n"
            "answer = [torch.libraries, 'torch_cuda_runtime/lib' in maps,"
            " 'torch_cuda_runtime._hook' in sys.modules, len(torch.cuda.queued)]"
        )
        for environ in ({}, {"TORCH_CUDA_SIM": "0", "TORCH_CUDA_DEVICES": "fake"}):
            loaded, maps, _, queued = self.env.answers(code, **environ)
            self.assertEqual((loaded, maps, queued), ("nvidias", False, 0), environ)
        self.assertFalse(self.env.answers(code)[2])

    def test_asking_whether_torch_is_there_loads_nothing(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        code = (
            "import importlib.util\nspec = importlib.util.find_spec('torch')\n"
            "maps = open('/proc/self/maps').read()\n"
            "answer = [spec.name, 'Loads its' in spec.loader.get_source('torch'),"
            " 'torch_cuda_runtime/lib' in maps]\n"
            "import torch\nanswer.append(torch.libraries)\n"
            "answer.append(type(torch.__spec__.loader).__name__)"
        )
        self.assertEqual(
            self.env.answers(code, TORCH_CUDA_DEVICES="fake"),
            ["torch", True, False, "our_13", "SourceFileLoader"],
        )

    def test_a_torch_without_cuda_is_left_to_torch_cuda(self) -> None:
        self.env.add_torch("2.6.0+cpu", None)
        (self.env.site / "torch_cuda").mkdir()
        code = "import sys, torch\nanswer = [torch.libraries, len(torch.cuda.queued)]"
        done = self.env.run(f"{code}\nprint(answer)", TORCH_CUDA_DEVICES="fake")
        self.assertEqual((done.stdout, done.stderr), ("['none', 0]\n", ""))

    def test_processes_that_are_started_get_it(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        program = self.env.site / "program.py"
        program.write_text(
            "import multiprocessing, subprocess, sys\n"
            "def whose(_):\n    import torch; return torch.libraries\n"
            "if __name__ == '__main__':\n"
            "    for method in ('spawn', 'forkserver', 'fork'):\n"
            "        with multiprocessing.get_context(method).Pool(1) as pool:\n"
            "            print(pool.map(whose, [0]))\n"
            "    print(subprocess.check_output(\n"
            "        [sys.executable, '-c', 'import torch; print(torch.libraries)'], text=True))\n"
        )
        for flags in ("", "-I"):
            done = self.env.run(str(program), "x", flags=flags, TORCH_CUDA_DEVICES="fake")
            self.assertEqual(done.stdout.split(), ["['our_13']"] * 3 + ["our_13"], done.stderr)

    def test_the_router_starts_when_cuda_is_first_used(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        (self.env.site / "acme_device.py").write_text(_DEVICE)
        for name in ("libaccel_acme.so", "operators.so", "ptxas"):
            (self.env.site / name).touch()
        self.env.add_distribution("acme_device", "[torch_cuda.devices]\nacme = acme_device:paths\n")
        code = (
            "import ctypes, os, torch\n"
            "loaded = lambda: 'libtorch_cuda_operators-2.15.so' in open('/proc/self/maps').read()\n"
            "def says(library, function):\n"
            "    f = getattr(ctypes.CDLL(library), function); f.restype = ctypes.c_char_p\n"
            "    return f().decode()\n"
            "answer = [loaded(), says('libaccel_runtime.so', 'announced_libraries')]\n"
            "torch.cuda.init()\n"
            "router = next(l.split()[-1] for l in open('/proc/self/maps') if 'operators-2.15' in l)\n"
            "answer += [loaded(), says(router, 'announced_operators'),\n"
            "  os.environ['TRITON_PTXAS_PATH'], os.environ['TRITON_LIBCUDA_PATH']]\n"
            "try: torch._C._cuda_sleep(0)\n"
            "except AssertionError: answer.append('upstream')\n"
        )
        site = str(self.env.site)
        for environ in ({}, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}):
            self.assertEqual(
                self.env.answers(code, TORCH_CUDA_DEVICES="acme:2", **environ),
                [
                    False,
                    f"acme={site}/libaccel_acme.so;",
                    True,
                    f"acme={site}/operators.so;",
                    f"{site}/ptxas",
                    f"{site}/torch_cuda_runtime/lib",
                    "upstream",
                ],
            )

    def test_libraries_that_come_after_the_first_use_are_served(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        code = (
            "import ctypes, pathlib, sys, sysconfig, torch\n"
            "answer = [torch.ops.load_library('early')]\n"
            "torch.cuda.init()\n"
            "router = next(l.split()[-1] for l in open('/proc/self/maps') if 'operators-2.15' in l)\n"
            "again = ctypes.CDLL(router).how_often_again\n"
            "def looks_again(load):\n"
            "    before = again(); return [load(), again() > before]\n"
            "folder = pathlib.Path(sysconfig.get_config_var('DESTSHARED'))\n"
            "names = sorted(path.name.partition('.')[0] for path in folder.glob('_*.so'))\n"
            "module = next(name for name in names if name not in sys.modules)\n"
            "answer += looks_again(lambda: torch.ops.load_library('late'))\n"
            "answer += looks_again(lambda: ctypes.CDLL(None) is None)\n"
            "answer += looks_again(lambda: __import__(module).__name__ == module)\n"
            "answer += looks_again(lambda: torch._ops._OpNamespace().twice)\n"
            "answer += looks_again(lambda: not __import__('this_has_no_extension'))\n"
        )
        (self.env.site / "this_has_no_extension.py").touch()
        self.assertEqual(
            self.env.answers(code, TORCH_CUDA_DEVICES="fake"),
            [
                "loaded early",
                "loaded late",
                True,
                False,
                True,
                True,
                True,
                "operator twice",
                True,
                False,
                False,
            ],
        )
        done = self.env.run(
            "import torch; torch.cuda.init(); torch.ops.load_library('late')",
            TORCH_CUDA_DEVICES="fake",
            PRETENDED_LIBRARY_FAULT="1",
        )
        self.assertIn("RuntimeError: no such libraries", done.stderr)

    def test_what_the_router_cannot_serve_is_an_error_of_the_first_use(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        done = self.env.run(
            "import torch; print('imported'); torch.cuda.init()",
            TORCH_CUDA_DEVICES="fake",
            PRETENDED_ROUTER_FAULT="cuda:0 hides its memory",
        )
        self.assertEqual((done.returncode, done.stdout), (1, "imported\n"))
        self.assertIn("RuntimeError: cuda:0 hides its memory", done.stderr)


class RefusalsTest(absltest.TestCase):
    """One warning, torch's own libraries, and no device in sight."""

    def setUp(self) -> None:
        super().setUp()
        self.env = pretended.Environment(pathlib.Path(self.create_tempdir().full_path) / "venv")

    def refused(self, *texts: str, before: str = "", **environ: str) -> None:
        code = f"{before}\nimport os, torch; print(torch.libraries, os.environ['CUDA_VISIBLE_DEVICES'])"
        for flags in ("", "-W error"):
            done = self.env.run(
                "-c", code, flags=flags, **{"TORCH_CUDA_DEVICES": "fake", **environ}
            )
            self.assertEqual(done.stdout, "nvidias -1\n", done.stderr)
            self.assertEqual(
                done.stderr.count("DeviceWarning: torch_cuda_runtime: "), 1, done.stderr
            )
            for text in texts:
                self.assertIn(text, done.stderr)

    def test_a_minor_without_a_router(self) -> None:
        self.env.add_torch("2.14.0+cu130", "13.0")
        self.refused(
            f"found torch 2.14.0+cu130 in {self.env.site}; needed a release of torch 2.9 (CUDA 12) ",
            "or 2.15 (CUDA 13), which this torch_cuda_runtime has kernels for",
            'python -m pip install "torch==2.15.*"',
        )

    def test_a_state_before_the_release(self) -> None:
        """Its ABI is another one than that of the release."""
        self.env.add_torch("2.15.0a0+git1234567", "13.2")
        self.refused("found torch 2.15.0a0+git1234567", "needed a release of torch 2.9")

    def test_a_minor_for_another_cuda(self) -> None:
        """The router asks the loader for the runtime of its own CUDA."""
        self.env.add_torch("2.9.1+cu130", "13.0")
        self.refused("found torch 2.9.1+cu130", "needed a release of torch 2.9 (CUDA 12)")

    def test_a_minor_without_a_router_and_without_nvidias_packages(self) -> None:
        """The import fails, and that is one message, too."""
        self.env.add_torch("2.14.0+cu130", "13.0")
        shutil.rmtree(self.env.site / "nvidia")
        for flags in ("", "-W error"):
            done = self.env.run("-c", "import torch", flags=flags, TORCH_CUDA_DEVICES="fake")
            self.assertEqual(done.returncode, 1)
            self.assertNotIn("DeviceWarning", done.stderr)
            last = done.stderr[done.stderr.rindex("ImportError: torch_cuda_runtime: ") :]
            for text in (
                "TORCH_CUDA_DEVICES is set, but this torch gets no devices",
                "libraries that it needs are not there (libcudart.so.13: ",
                f"found torch 2.14.0+cu130 in {self.env.site}; needed a release of torch 2.9 (CUDA 12) ",
                "or 2.15 (CUDA 13), which this torch_cuda_runtime has kernels for",
                "To fix it: compile them for this torch, minutes with g++: ",
                "python -m torch_cuda_runtime build-operators",
                'or python -m pip install "torch==2.15.*"',
            ):
                self.assertIn(text, last)

    def test_an_import_that_fails_for_reasons_of_its_own(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        (self.env.site / "torch" / "cuda.py").write_text("raise ImportError('of its own')\n")
        done = self.env.run("-c", "import torch", TORCH_CUDA_DEVICES="fake")
        self.assertEndsWith(done.stderr, "\nImportError: of its own\n")
        self.assertNotIn("torch_cuda_runtime: ", done.stderr)

    def test_neither_cuda_nor_torch_cuda(self) -> None:
        self.env.add_torch("2.14.0+cpu", None)
        for flags in ("", "-W error"):
            done = self.env.run(
                "-c", "import torch; print(torch.libraries)", flags=flags, TORCH_CUDA_SIM="1"
            )
            self.assertEqual(done.stdout, "none\n", done.stderr)
            self.assertEqual(done.stderr.count("DeviceWarning: "), 1, done.stderr)
            self.assertIn(
                "which is without CUDA, and no torch_cuda; needed a torch with", done.stderr
            )
            self.assertIn('pip install --force-reinstall "torch==2.15.*" from PyPI', done.stderr)

    def test_a_cuda_without_libraries(self) -> None:
        self.env.add_torch("2.9.1+cu128", "12.8")
        (self.env.site / "torch_cuda_runtime/lib/cu12/libcudart.so.12").unlink()
        self.refused("built for CUDA 12.8; needed a torch for CUDA 13", "torch==2.9.1")

    def test_nvidias_libraries_that_are_loaded_already(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        theirs = str(self.env.site / "nvidia" / "lib" / "libcudart.so.13")
        self.refused(
            f"found {theirs}, loaded into this process before torch",
            "import torch before what loads it",
            before=f"import ctypes; ctypes.CDLL({theirs!r})",
        )

    def test_a_library_that_does_not_load(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        broken = self.env.site / "torch_cuda_runtime/lib/cu13/libcudart.so.13"
        broken.write_text("no library")
        self.refused("a library that does not load", f"needed {broken}", "--force-reinstall")

    def test_a_python_that_did_not_look(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        (self.env.site / "torch_cuda_runtime.pth").unlink()
        self.refused("python -m torch_cuda_runtime run PROGRAM.py")


class LateRefusalsTest(absltest.TestCase):
    def test_a_device_that_nobody_brings(self) -> None:
        env = pretended.Environment(pathlib.Path(self.create_tempdir().full_path) / "venv")
        env.add_torch("2.15.0+cu132", "13.2")
        done = env.run(
            "import os, torch; print(len(torch.cuda.queued), os.environ['CUDA_VISIBLE_DEVICES'])",
            TORCH_CUDA_SIM="1",
        )
        self.assertEqual(done.stdout, "0 -1\n", done.stderr)
        self.assertEqual(done.stderr.count("DeviceWarning"), 1, done.stderr)
        self.assertIn("found TORCH_CUDA_SIM=1, but no torch_cuda_sim in this Python", done.stderr)
        self.assertIn("python -m pip install torch_cuda_sim", done.stderr)


if __name__ == "__main__":
    absltest.main()
