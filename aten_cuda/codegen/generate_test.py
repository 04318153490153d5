"""Tests of what torchgen writes for a profile. They read the PyTorch tree that the build uses."""

import json
import os
import re
from pathlib import Path

from absl.testing import absltest

from aten_cuda.codegen import generate
from aten_cuda.codegen.operators import BACKENDS, Operators, TorchgenError
from aten_cuda.codegen.selection import Profile, Selection, resolve

SRCDIR = Path(os.environ["TEST_SRCDIR"])
PYTORCH = (SRCDIR / os.environ["PYTORCH_VERSION_TXT"]).parent


class GenerateTest(absltest.TestCase):
    operators: Operators

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.operators = Operators(PYTORCH)

    def generate(self, *entries: str, backends: tuple[str, ...] = ("CUDA",)) -> Path:
        """Generates for a profile of these operators; `*` alone is the full one."""
        profile = Profile("p", selections=(Selection("//p", entries, backends),))
        if entries == ("*",):
            profile = Profile("full", full=True)
        out = Path(self.create_tempdir().full_path)
        generate.generate(self.operators, resolve(profile, self.operators), out)
        return out

    def kernels(self, out: Path, backend: str = "CUDA") -> set[str]:
        """The functions and structured kernels of at::native that a Register*.cpp mentions."""
        text = (out / f"Register{backend}.cpp").read_text()
        helpers = {"resize_output", "resize_impl_cpu_", "resize_output_check"}
        return set(re.findall(r"at::native::(\w+)", text)) - helpers

    def test_a_small_profile_registers_exactly_what_it_selects(self) -> None:
        out = self.generate("relu", "abs.out", "mm")
        registered = json.loads((out / generate.REGISTRATIONS).read_text())
        self.assertEqual(
            registered["CUDA"],
            ["aten::abs.out", "aten::mm", "aten::mm.out", "aten::relu", "aten::relu_"],
        )
        self.assertEqual({key for key in registered if registered[key]}, {"CUDA"})

    def test_a_small_profile_mentions_exactly_its_kernels(self) -> None:
        out = self.generate("relu", "abs.out", "mm")
        self.assertEqual(self.kernels(out), {"relu", "relu_", "abs_out", "structured_mm_out_cuda"})

    def test_a_structured_kernel_serves_the_overloads_left_out_without_registering_them(
        self,
    ) -> None:
        out = self.generate("mm.out")
        registered = json.loads((out / generate.REGISTRATIONS).read_text())
        self.assertEqual(registered["CUDA"], ["aten::mm.out"])
        self.assertEqual(self.kernels(out), {"structured_mm_out_cuda"})

    def test_the_json_is_what_the_source_registers(self) -> None:
        out = self.generate("add", backends=("CUDA", "SparseCUDA"))
        registered = json.loads((out / generate.REGISTRATIONS).read_text())
        for backend in BACKENDS:
            text = (out / f"Register{backend}.cpp").read_text()
            self.assertEqual(text.count("m.impl("), len(registered[backend]))
        self.assertNotEmpty(registered["SparseCUDA"])

    def test_every_profile_writes_the_declared_files(self) -> None:
        for entries in (("mm",), ("add",), ("*",)):
            names = {path.name for path in self.generate(*entries).iterdir()}
            self.assertEqual(names, set(generate.OUTPUTS))

    def test_the_kernel_of_add_is_there_with_add_only(self) -> None:
        self.assertNotIn("REGISTER_DISPATCH", (self.generate("mm") / generate.UFUNC).read_text())
        self.assertIn("REGISTER_DISPATCH", (self.generate("add") / generate.UFUNC).read_text())

    def test_the_shim_calls_only_what_is_registered(self) -> None:
        called = re.findall(r"at::cuda::(\w+)\(", (self.generate("mm") / generate.SHIM).read_text())
        self.assertEqual(set(called), {"mm_out"})

    def test_the_shim_serves_composed_operators_in_every_profile(self) -> None:
        self.assertIn("at::compositeexplicit", (self.generate("mm") / generate.SHIM).read_text())

    def test_full_registers_every_kernel_of_every_backend(self) -> None:
        registered = json.loads((self.generate("*") / generate.REGISTRATIONS).read_text())
        for backend in BACKENDS:
            known = {
                f"{op.native.namespace}::{op.name}"
                for op in self.operators
                if backend in op.kernels
            }
            self.assertEqual(set(registered[backend]), known)

    def test_a_registration_under_another_key_is_an_error(self) -> None:
        path = Path(self.create_tempfile("RegisterCUDA.cpp").full_path)
        path.write_text('TORCH_LIBRARY_IMPL(aten, CPU, m) {\nm.impl("mm", f);\n}\n')
        with self.assertRaisesRegex(TorchgenError, "registers for CPU; expected CUDA"):
            generate.registered(path, "CUDA")


class OperatorsTest(absltest.TestCase):
    def test_a_folder_without_torchgen_says_which_is_needed(self) -> None:
        folder = self.create_tempdir().full_path
        with self.assertRaisesRegex(TorchgenError, "has no torchgen/gen.py; --pytorch-root is"):
            Operators(Path(folder))


class CommandLineTest(absltest.TestCase):
    def test_an_unknown_operator_ends_with_status_1(self) -> None:
        profile = self.create_tempfile(
            "p.profile.json",
            content=json.dumps(
                {
                    "name": "//p",
                    "full": False,
                    "kernels": [],
                    "runtime_kernels": [],
                    "left_out": [],
                    "selections": [{"label": "//p", "operators": ["nope"], "backends": ["CUDA"]}],
                }
            ),
        ).full_path
        out = self.create_tempdir().full_path
        status = generate.main(["--pytorch-root", str(PYTORCH), "--profile", profile, "--out", out])
        self.assertEqual(status, 1)
        self.assertEmpty(list(Path(out).iterdir()))


if __name__ == "__main__":
    absltest.main()
