"""The simulated device's assembler, as compilers call it, and where Triton looks for it."""

from __future__ import annotations

import os
import pathlib
import re
import stat
import subprocess
import sys
from unittest import mock

import torch_cuda_runtime
import torch_cuda_sim
from absl.testing import absltest

PTXAS = pathlib.Path(torch_cuda_sim.paths()["ptxas"])

HEAD = ".version 8.4\n.target sm_90a\n.address_size 64\n"
KERNEL = HEAD + ".visible .entry k() {\n.reg .b32 %r<3>;\nadd.u32 %r1, %r2, 1;\nret;\n}\n"


class PtxasTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def assemble(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        source = self.folder / "in.ptx"
        source.write_text(text)
        return subprocess.run(
            [PTXAS, *options, source.name, "-o", "out"],
            cwd=self.folder,
            check=False,
            capture_output=True,
            text=True,
        )

    def files(self) -> list[str]:
        return sorted(file.name for file in self.folder.iterdir())

    def test_its_version_is_found_as_ptxas_s_is(self) -> None:
        said = subprocess.run([PTXAS, "--version"], capture_output=True, text=True, check=True)
        self.assertRegex(said.stdout, re.compile(r".*release (\d+\.\d+).*", re.MULTILINE))
        # XLA warns of wrong code up to 12.6.2.
        version = re.search(r" V(\d+)\.(\d+)\.(\d+)", said.stdout)
        assert version
        self.assertGreaterEqual(tuple(map(int, version.groups())), (12, 6, 3))

    def test_what_the_device_can_load_is_its_machine_code(self) -> None:
        done = self.assemble(KERNEL, "-lineinfo", "-v", "--gpu-name=sm_90a")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        # XLA hands the bytes of the file to cuModuleLoadData.
        self.assertEqual((self.folder / "out").read_bytes(), KERNEL.encode() + b"\0")
        self.assertEqual(self.files(), ["in.ptx", "out"])

    def test_what_is_no_file_stays_what_it_is(self) -> None:
        """Such as /dev/null, which compilers name where they want no output."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        (self.folder / "in.ptx").write_text(KERNEL)
        with subprocess.Popen([PTXAS, "in.ptx", "-o", "pipe"], cwd=self.folder) as program:
            self.assertEqual(pipe.read_bytes(), KERNEL.encode() + b"\0")
        self.assertEqual(program.returncode, 0)
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
        self.assertEqual(self.files(), ["in.ptx", "pipe"])

    def test_how_kernels_run_is_no_matter(self) -> None:
        for settings in (
            {"CUDASIM_NATIVE": "always"},
            {"CUDASIM_NATIVE": "auto", "CUDASIM_LLVM": "/none"},
            {"CUDASIM_NATIVE": "always", "CUDASIM_LLVM": "/none"},
            {"CUDASIM_NATIVE": "always", "CUDASIM_CHECK": "1"},
        ):
            with self.subTest(settings), mock.patch.dict(os.environ, settings):
                done = self.assemble(KERNEL)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_it_cannot_is_refused_with_its_place(self) -> None:
        for text, said in (
            (KERNEL.replace("%r2", "%r9"), "in.ptx:6:14: found '%r9'"),
            (KERNEL.replace("add.u32", "add.u32.v2"), "in.ptx:6:"),
            (HEAD + ".visible .entry k( {\n", "in.ptx:4:"),
            ("", "in.ptx:1:"),
        ):
            done = self.assemble(text)
            self.assertEqual(done.returncode, 255, text)
            self.assertStartsWith(done.stderr, "ptxas error   : ")
            self.assertIn(said, done.stderr)
            self.assertEndsWith(done.stderr, "ptxas fatal   : Ptx assembly aborted due to errors\n")
            self.assertEqual(self.files(), ["in.ptx"])

    def test_what_the_device_lacks_is_refused_by_all_its_names(self) -> None:
        lacks = "wgmma.fence.sync.aligned;\n@%p wgmma.commit_group.sync.aligned;\n"
        text = KERNEL.replace("add.u32", ".reg .pred %p;\n" + lacks + lacks + "add.u32")
        done = self.assemble(text)
        self.assertEqual(done.returncode, 255)
        said = "wgmma.fence.sync.aligned, wgmma.commit_group.sync.aligned, in k"
        self.assertIn(f"in.ptx:7:1: the simulated device does not have {said}\n", done.stderr)
        self.assertEqual(self.files(), ["in.ptx"])

    def test_files_that_are_not_there(self) -> None:
        for arguments, said in (
            (("none.ptx",), "Could not open input file 'none.ptx'"),
            (("in.ptx", "-o", "no/folder/out"), "Could not write 'no/folder/out'"),
        ):
            (self.folder / "in.ptx").write_text(KERNEL)
            done = subprocess.run(
                [PTXAS, *arguments], cwd=self.folder, check=False, capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 255)
            self.assertStartsWith(done.stderr, "ptxas fatal   : " + said)

    def test_programs_link_with_the_driver_by_its_short_name(self) -> None:
        source = self.folder / "program.c"
        source.write_text("int cuInit(unsigned); int main(void) { return cuInit(0); }\n")
        libraries = torch_cuda_runtime.library_folder()
        program = self.folder / "program"
        command = ["gcc", str(source), "-o", str(program), f"-L{libraries}", "-lcuda"]
        subprocess.run([*command, f"-Wl,-rpath-link,{libraries}"], check=True)
        environment = {**os.environ, **torch_cuda_runtime.environment("sim")}
        subprocess.run([program], check=True, env=environment)


class EnvironmentTest(absltest.TestCase):
    def told(self, *names: str, **variables: str) -> list[str]:
        program = (
            "import os, torch\n"
            f"for name in {names or ('TRITON_PTXAS_PATH', 'TRITON_LIBCUDA_PATH')}:\n"
            "    print(os.environ.get(name, ''))\n"
        )
        inherited = {n: v for n, v in os.environ.items() if not n.startswith("TRITON_")}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**inherited, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    def test_triton_is_told_once_torch_is_imported(self) -> None:
        libraries = str(torch_cuda_runtime.library_folder())
        self.assertEqual(self.told(TORCH_CUDA_SIM="1"), [str(PTXAS), libraries])
        self.assertEqual(
            self.told(TORCH_CUDA_SIM="1", TRITON_PTXAS_PATH="/own/ptxas"),
            ["/own/ptxas", libraries],
        )

    def test_triton_shall_use_no_instruction_of_newer_gpus(self) -> None:
        for profile, arch in (("sm_80", ""), ("sm_90", "sm80")):
            asked = {"TORCH_CUDA_SIM": "1", "CUDASIM_PROFILE": profile}
            self.assertEqual(
                self.told("TRITON_OVERRIDE_ARCH", "CUDASIM_PROFILE", **asked), [arch, profile]
            )

    def test_nothing_is_told_without_the_simulated_device(self) -> None:
        self.assertEqual(self.told(TORCH_CUDA_SIM="0"), ["", ""])


if __name__ == "__main__":
    absltest.main()
