"""Tests of scan, on small trees."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple import scan
from decouple.errors import DecoupleError
from decouple.model import Finding, Inventory, Kind, Unit
from decouple.rules.load import load
from decouple.testing import make_tree


class ScanTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = pathlib.Path(self.create_tempdir().full_path)

    def _scan(self, **changes: str | bytes) -> Inventory:
        files = {path.replace("__", "/"): content for path, content in changes.items()}
        tree = make_tree(self.root, {**files})
        return scan.scan(tree, load("cuda"), jobs=1)

    def _of(self, inventory: Inventory, path: str) -> list[Finding]:
        return [finding for finding in inventory.findings if finding.path == path]

    def test_units_are_what_the_device_build_adds(self) -> None:
        self.assertEqual(
            self._scan().units,
            (
                Unit("aten/add.cu", ("kernels_cu",)),
                Unit("c10/cuda/Stream.cpp", ("c10_cuda",)),
                Unit("torch/csrc/fast.cpp", ("things_cuda",)),
            ),
        )

    def test_file_of_a_list_is_the_devices_whatever_its_name_is(self) -> None:
        (finding,) = self._of(self._scan(), "torch/csrc/fast.cpp")
        self.assertEqual(finding.rule, "cuda-list")
        self.assertEqual(finding.kind, Kind.INTER_FILE)
        self.assertTrue(finding.whole_file)

    def test_branches_are_found_with_their_lines_and_function(self) -> None:
        found = [
            (finding.rule, finding.first_line, finding.last_line, finding.symbol)
            for finding in self._of(self._scan(), "torch/csrc/engine.cpp")
        ]
        self.assertEqual(
            found,
            [
                ("cuda-guard", 1, 2, ""),
                ("cuda-guard", 5, 6, "run"),
                ("cuda-guard-without", 7, 8, "run"),
            ],
        )

    def test_python_is_found_with_its_function(self) -> None:
        found = [
            (finding.rule, finding.first_line, finding.symbol)
            for finding in self._of(self._scan(), "torch/nn.py")
        ]
        self.assertEqual(
            found,
            [
                ("python-cuda-string", 3, "Module.move"),
                ("python-torch-cuda", 3, "Module.move"),
            ],
        )

    def test_headers_that_device_code_includes_are_supplements(self) -> None:
        (finding,) = self._of(self._scan(), "c10/core/Device.h")
        self.assertEqual(finding.kind, Kind.SUPPLEMENT)
        self.assertEqual(finding.detail, "included by c10/cuda/Stream.h")

    def test_header_that_the_cpu_build_includes_is_not_taken_for_its_name(self) -> None:
        inventory = self._scan(
            **{
                "torch__csrc__engine.cpp": '#include "cuda_hooks.h"\nint run() { return 0; }\n',
                "torch__csrc__cuda_hooks.h": "int hooks();\n",
            }
        )
        (finding,) = self._of(inventory, "torch/csrc/cuda_hooks.h")
        self.assertEqual(finding.kind, Kind.INTRA_FILE)
        self.assertEqual((finding.first_line, finding.last_line), (1, 1))
        self.assertIn("included by torch/csrc/engine.cpp", finding.detail)

    def test_includes_hold_what_device_files_reach(self) -> None:
        includes = self._scan().includes
        self.assertEqual(includes["c10/cuda/Stream.h"], ("c10/core/Device.h",))
        self.assertNotIn("torch/csrc/engine.cpp", includes)

    def test_inventory_survives_being_written(self) -> None:
        inventory = self._scan()
        text = inventory.to_json()
        self.assertEqual(Inventory.from_json(text).to_json(), text)

    def test_several_processes_find_the_same(self) -> None:
        many = {f"torch__m{number}.py": "x = 'cuda'\n" for number in range(300)}
        alone = self._scan(**many)
        tree = make_tree(self.root, {path.replace("__", "/"): text for path, text in many.items()})
        self.assertEqual(scan.scan(tree, load("cuda"), jobs=2), alone)

    def test_bad_files_are_named_with_their_line(self) -> None:
        cases: dict[str, tuple[str | bytes, str]] = {
            "torch__a.cpp": ("#ifdef USE_CUDA\n", r"^torch/a\.cpp:1: #ifdef has no #endif"),
            "torch__b.py": ("def cuda(:\n", r"^torch/b\.py:1: is not Python"),
            "torch__c.h": (b"\n\xe9\n", r"^torch/c\.h:2: byte 0xe9 is not UTF-8"),
        }
        for path, (content, message) in cases.items():
            with self.subTest(path), self.assertRaisesRegex(DecoupleError, message):
                self._scan(**{path: content})
            (self.root / path.replace("__", "/")).unlink()

    def test_conditionals_have_to_be_balanced_in_files_without_device_code_too(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^torch/d\.cpp:2: #if has no #endif"):
            self._scan(**{"torch__d.cpp": "int a;\n#if A\n"})

    def test_what_links_lead_to_is_found_once(self) -> None:
        make_tree(self.root)
        (self.root / "torch/link.py").symlink_to("nn.py")
        (self.root / "torch/gone.py").symlink_to("nowhere.py")
        self.assertEmpty(self._of(self._scan(), "torch/link.py"))

    def test_cmake_is_found_by_its_conditions_and_its_commands(self) -> None:
        found = [
            (finding.rule, finding.first_line, finding.last_line)
            for finding in self._of(self._scan(), "caffe2/CMakeLists.txt")
        ]
        self.assertEqual(found, [("cuda-cmake-guard", 3, 6)])

    def test_files_of_rocm_are_not_taken_for_their_names(self) -> None:
        inventory = self._scan(
            **{
                "aten__src__ATen__hip__HIPMasqueradingAsCUDA.h": "",
                "torch__utils__hipify__cuda.py": "",
            }
        )
        self.assertEmpty(self._of(inventory, "aten/src/ATen/hip/HIPMasqueradingAsCUDA.h"))
        self.assertEmpty(self._of(inventory, "torch/utils/hipify/cuda.py"))


if __name__ == "__main__":
    absltest.main()
