"""python -m torch_cuda_runtime run and doctor."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from runtime.python import pretended

_PROGRAM = """
import multiprocessing, sys, threading
class Local: pass
def whose(_):
    import torch
    return torch.libraries, type(Local()).__module__
if __name__ == "__main__":
    import torch
    print(torch.libraries, sys.argv[1:], __file__ == sys.argv[0], sys.modules["__main__"].Local is Local)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(whose, [0]))
    import neighbour
    threading.Timer(0.2, lambda: print("later", len([Local()]))).start()
    if len(sys.argv) > 1: sys.exit(3)
"""
_MODULE = "import sys, torch; print(torch.libraries, sys.argv[1:], __name__)"


class CommandTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        scratch = pathlib.Path(self.create_tempdir().full_path)
        self.env = pretended.Environment(scratch / "venv")
        self.folder = scratch / "programs"
        self.folder.mkdir()
        (self.folder / "program.py").write_text(_PROGRAM)
        (self.folder / "neighbour.py").touch()
        (self.env.site / "acme_program.py").write_text(_MODULE)


class RunTest(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.env.add_torch("2.15.0+cu132", "13.2")
        # Where no .pth is read.
        self.lib = self.folder / "lib"
        self.env.site.rename(self.lib)
        self.environ = {"PYTHONPATH": str(self.lib), "TORCH_CUDA_DEVICES": "fake"}
        self.before = ("-m", "torch_cuda_runtime", "run")

    def test_scripts(self) -> None:
        script = str(self.folder / "program.py")
        done = self.env.run(*self.before, script, "a", "--b", **self.environ)
        self.assertEqual(
            done.stdout.splitlines(),
            ["our_13 ['a', '--b'] True True", "[('our_13', '__mp_main__')]", "later 1"],
            done.stderr,
        )
        self.assertEqual(done.returncode, 3)

    def test_modules(self) -> None:
        done = self.env.run(*self.before, "-m", "acme_program", "a", **self.environ)
        self.assertEqual(done.stdout, "our_13 ['a'] __main__\n", done.stderr)

    def test_without_site(self) -> None:
        done = self.env.run(*self.before, "-m", "acme_program", flags="-S", **self.environ)
        self.assertEqual(done.stdout, "our_13 [] __main__\n", done.stderr)

    def test_processes_that_get_sys_path_alone(self) -> None:
        (self.folder / "program.py").write_text(
            "import os, subprocess, sys\n"
            "env = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}\n"
            "code = 'import torch; print(torch.libraries)'\n"
            "subprocess.run([sys.executable, '-c', code], env=env)\n"
        )
        script = str(self.folder / "program.py")
        for flags in ("", "-P"):
            done = self.env.run(*self.before, script, flags=flags, **self.environ)
            self.assertEqual(done.stdout, "our_13\n", done.stderr)

    def test_a_hidden_sitecustomize_is_run(self) -> None:
        (self.lib / "sitecustomize.py").write_text("print('theirs')\n")
        (self.folder / "program.py").write_text(
            "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', 'import torch; print(torch.libraries)'])\n"
        )
        done = self.env.run(*self.before, str(self.folder / "program.py"), **self.environ)
        self.assertEqual(sorted(done.stdout.split()), ["our_13", "theirs", "theirs"], done.stderr)

    def test_mistakes_are_told_in_a_line(self) -> None:
        done = self.env.run(*self.before, **self.environ)
        self.assertEqual(done.returncode, 2)
        self.assertStartsWith(done.stderr, "usage: python -m torch_cuda_runtime run")
        done = self.env.run(*self.before, str(self.folder / "no.py"), **self.environ)
        self.assertEqual(done.returncode, 1)
        self.assertEndsWith(done.stderr, "no.py: No such file or directory\n")
        done = self.env.run(*self.before, "x.py", PYTHONPATH=str(self.lib))
        self.assertEqual(done.returncode, 1)
        self.assertIn("set one, such as TORCH_CUDA_SIM=1", done.stderr)


class ProgramTest(CommandTest):
    """Programs that are not Python, where NVIDIA's libraries are installed, too."""

    def whose(self, program: pathlib.Path, *options: str) -> str:
        command = ("-m", "torch_cuda_runtime", *options, str(program))
        done = self.env.run(*command, TORCH_CUDA_DEVICES="fake")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    def test_a_runpath_comes_behind_ours(self) -> None:
        for major in (12, 13):
            program = self.env.add_program("runpath", major)
            self.assertEqual(self.whose(program), f"our_{major}")

    def test_an_rpath_comes_before_ours_unless_they_are_preloaded(self) -> None:
        for major in (12, 13):
            program = self.env.add_program("rpath", major)
            self.assertEqual(self.whose(program), "nvidias")
            self.assertEqual(self.whose(program, f"--preload={major}"), f"our_{major}")

    def test_run_takes_an_executable_too(self) -> None:
        program = self.env.add_program("runpath", 13)
        self.assertEqual(self.whose(program, "run"), "our_13")

    def test_what_is_preloaded_already_stays(self) -> None:
        code = "import torch_cuda_runtime as r; print(r.environment(preload=13)['LD_PRELOAD'])"
        asked = {"TORCH_CUDA_DEVICES": "fake"}
        ours = self.env.run(code, **asked).stdout.strip()
        both = self.env.run(code, LD_PRELOAD="libm.so.6", **asked).stdout.strip()
        self.assertEqual(both, f"{ours}:libm.so.6")

    def test_the_folder_of_the_major_that_is_preloaded_comes_first(self) -> None:
        for major, first in (("None", "cu12"), ("12", "cu12"), ("13", "cu13")):
            code = f"import torch_cuda_runtime as r; print(r.environment(preload={major})['LD_LIBRARY_PATH'])"
            path = self.env.run(code, TORCH_CUDA_DEVICES="fake").stdout.strip().split(":")
            self.assertEqual(pathlib.Path(path[0]).name, first)
            self.assertLen(set(path), len(path))

    def test_majors_that_are_not_there(self) -> None:
        for option, text in (
            (
                "--preload=11",
                "no libraries for CUDA 11; needed a CUDA major of this wheel: 12 or 13",
            ),
            ("--preload=cu13", "--preload= takes a CUDA major, such as 13"),
        ):
            done = self.env.run(
                "-m", "torch_cuda_runtime", option, "true", TORCH_CUDA_DEVICES="fake"
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)


class DoctorTest(CommandTest):
    def doctor(self, status: int, flags: str = "", **environ: str) -> str:
        # The pretended torch has no tensors.
        done = self.env.run("-m", "torch_cuda_runtime", "doctor", flags=flags, **environ)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_what_is_chosen(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        self.env.add_distribution("nvidia-cudnn-cu13", "")
        with (self.env.site / "torch" / "__init__.py").open("a") as source:
            source.write(
                "class _Tensor:\n"
                "    def __add__(self, other): return self\n"
                "    def sum(self): return self\n"
                "    def item(self): return 6\n"
                "def ones(*_, device): return _Tensor()\n"
                "cuda.get_device_name = lambda i: 'Acme'\n"
            )
        lines = self.doctor(0, TORCH_CUDA_DEVICES="fake:2")
        package = self.env.site / "torch_cuda_runtime"
        for line in (
            f"torch_cuda_runtime: 1, {package}",
            "compiled for:      torch 2.9 with CUDA 12, torch 2.15 with CUDA 13",
            "TORCH_CUDA_DEVICES: 'fake:2'",
            "TORCH_CUDA_SIM:    not set",
            f"start of Python:   waits for torch and other frameworks ({self.env.site}/torch_cuda_runtime.pth)",
            f"device fake:       {package}/lib/libaccel_fake.so",
            f"torch:             2.15.0+cu132, CUDA 13.2, {self.env.site}/torch",
            f"libraries:         CUDA 13, 4 of them in {package}/lib/cu13 and {package}/lib",
            f"router:            torch 2.15, {package}/routers/cu13/libtorch_cuda_operators-2.15.so",
            "passed over:       nvidia-cudnn-cu13 1",
            "tried:             cuda:0 is Acme",
        ):
            self.assertIn(line, lines.splitlines())

    def test_what_does_not_work(self) -> None:
        self.assertIn("torch:             NOT USABLE: there is none", self.doctor(1))
        self.env.add_torch("2.14.0+cu130", "13.0")
        self.assertIn("set TORCH_CUDA_SIM=1", self.doctor(1))
        asked = {"TORCH_CUDA_DEVICES": "npu"}
        lines = self.doctor(1, **asked)
        self.assertIn("device npu:        NOT USABLE: no installed distribution has it", lines)
        self.assertIn("needed a release of torch 2.9 (CUDA 12) or 2.15 (CUDA 13)", lines)
        (self.env.site / "torch_cuda_runtime.pth").unlink()
        self.assertIn("--force-reinstall --no-deps torch_cuda_runtime", self.doctor(1, **asked))
        lines = self.doctor(1, "-S", PYTHONPATH=str(self.env.site), **asked)
        self.assertIn("`python -S` reads no .pth files; run programs by", lines)

    def test_what_fails_when_it_is_tried(self) -> None:
        self.env.add_torch("2.15.0+cu132", "13.2")
        lines = self.doctor(1, TORCH_CUDA_DEVICES="fake", PRETENDED_ROUTER_FAULT="no such thing")
        self.assertIn("tried:             NOT USABLE: Traceback", lines)

    def test_a_torch_without_cuda(self) -> None:
        self.env.add_torch("2.6.0+cpu", None)
        lines = self.doctor(1, TORCH_CUDA_DEVICES="fake")
        self.assertIn("needed a torch with CUDA, or torch_cuda beside this one", lines)


if __name__ == "__main__":
    absltest.main()
