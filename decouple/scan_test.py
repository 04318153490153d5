"""Tests of scan, on small trees."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple import scan
from decouple.errors import DecoupleError
from decouple.gaps import Gaps
from decouple.model import Finding, Inventory, Kind, Unit
from decouple.rules.load import load
from decouple.testing import MINIMAL, make_tree
from decouple.tree import Tree


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

    def _read(self, **changes: str | bytes | None) -> Inventory:
        """A scan that goes on past what cannot be read."""
        files = {path.replace("__", "/"): content for path, content in changes.items()}
        return scan.scan(make_tree(self.root, files, Gaps()), load("cuda"), jobs=1)

    def test_what_cannot_be_read_costs_no_more_than_itself(self) -> None:
        changes: dict[str, str | bytes] = {
            "torch__a.cpp": "#ifdef USE_CUDA\nvoid f() { cudaFoo(); }\n",
            "torch__b.cpp": "#if USE_CUDA $\n#endif\n#ifdef USE_CUDA\nint b;\n#endif\n",
            "torch__c.py": "print 'cuda'\nx = torch.cuda.stream\n",
            "torch__d.h": b"// \xe9\n#ifdef USE_CUDA\nint d;\n#endif\n",
        }
        inventory = self._read(**changes)
        self.assertEqual(
            [(gap.path, gap.line) for gap in inventory.gaps],
            [("torch/a.cpp", 1), ("torch/b.cpp", 1), ("torch/c.py", 1), ("torch/d.h", 1)],
        )
        rules = {
            path: [f.rule for f in self._of(inventory, path)]
            for path in ("torch/a.cpp", "torch/b.cpp", "torch/c.py", "torch/d.h")
        }
        self.assertEqual(rules["torch/a.cpp"], ["cuda-macro", "cuda-identifier"])
        self.assertEqual(rules["torch/b.cpp"], ["cuda-macro", "cuda-guard"])
        self.assertEqual(rules["torch/c.py"], ["python-torch-cuda"])
        self.assertEqual(rules["torch/d.h"], ["cuda-guard"])
        self.assertEqual(Inventory.from_json(inventory.to_json()), inventory)

    def test_several_processes_report_the_same(self) -> None:
        many = {f"torch__m{number}.py": "print 'cuda'\n" for number in range(300)}
        alone = self._read(**many)
        self.assertLen(alone.gaps, 300)
        self.assertEqual(scan.scan(Tree(self.root, Gaps()), load("cuda"), jobs=2), alone)

    def test_a_list_that_is_renamed_is_reported_where_it_is_used(self) -> None:
        lists = MINIMAL["build_variables.bzl"].replace("things_cuda", "pieces_cuda")
        (gap,) = self._read(**{"build_variables.bzl": lists}).gaps
        self.assertEqual((gap.path, gap.line), ("caffe2/CMakeLists.txt", 4))
        self.assertIn("has no list things_cuda", gap.problem)
        self.assertEqual(gap.affects, ("GPU", "torch_cuda"))
        users = MINIMAL["caffe2/CMakeLists.txt"].replace("things_cuda", "pieces_cuda")
        renamed = self._read(**{"build_variables.bzl": lists, "caffe2__CMakeLists.txt": users})
        self.assertEmpty(renamed.gaps)
        self.assertIn(Unit("torch/csrc/fast.cpp", ("pieces_cuda",)), renamed.units)

    def test_a_file_that_is_listed_and_not_there_is_reported(self) -> None:
        lists = MINIMAL["build_variables.bzl"].replace("csrc/fast.cpp", "csrc/faster.cpp")
        (gap,) = self._read(**{"build_variables.bzl": lists}).gaps
        self.assertEqual((gap.line, gap.affects), (2, ("things_cuda",)))

    def test_a_tree_without_lists_is_scanned_by_names(self) -> None:
        inventory = self._read(**{"build_variables.bzl": None, "caffe2__CMakeLists.txt": None})
        self.assertContainsSubset(
            {"build_variables.bzl", "caffe2/CMakeLists.txt"}, {gap.path for gap in inventory.gaps}
        )
        self.assertNotEmpty(self._of(inventory, "aten/add.cu"))

    def test_a_folder_of_a_new_backend_is_found_by_rules_of_the_user(self) -> None:
        rules = self.create_tempfile(
            "xyz.yaml",
            "device: xyz\nwords: [xyz]\nmacros: {build: [USE_XYZ]}\n"
            "files: [{id: xyz-folder, folders: [xyz]}]\nlists: ['.*xyz.*']\n"
            "build: {device: {USE_XYZ: 'ON'}}\n",
        )
        tree = make_tree(
            self.root,
            {
                "c10/CMakeLists.txt": "if(USE_XYZ)\n  add_subdirectory(xyz)\nendif()\n",
                "c10/xyz/CMakeLists.txt": "file(GLOB SRCS *.cpp)\nadd_library(c10_xyz ${SRCS})\n",
                "c10/xyz/Queue.cpp": "#include <c10/xyz/Queue.h>\n",
                "c10/xyz/Queue.h": "",
                "aten/src/ATen/xyz/Add.cpp": "",
                "torch/csrc/engine.cpp": "#ifdef USE_XYZ\nint xyz;\n#endif\n",
            },
        )
        inventory = scan.scan(tree, load("xyz", [pathlib.Path(rules.full_path)]), jobs=1)
        self.assertEqual([unit.path for unit in inventory.units], ["c10/xyz/Queue.cpp"])
        found = {finding.path: finding.rule for finding in inventory.findings}
        self.assertEqual(found["aten/src/ATen/xyz/Add.cpp"], "xyz-folder")
        self.assertEqual(found["c10/xyz/Queue.h"], "xyz-folder")
        self.assertEqual(found["torch/csrc/engine.cpp"], "xyz-guard")

    def test_conditionals_have_to_be_balanced_in_files_without_device_code_too(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^torch/d\.cpp:2: #if has no #endif"):
            self._scan(**{"torch__d.cpp": "int a;\n#if A\n"})

    def test_what_links_lead_to_is_found_once(self) -> None:
        make_tree(self.root)
        (self.root / "torch/link.py").symlink_to("nn.py")
        (self.root / "torch/gone.py").symlink_to("nowhere.py")
        inventory = self._read()
        self.assertEmpty(self._of(inventory, "torch/link.py"))
        self.assertEqual([gap.path for gap in inventory.gaps], ["torch/gone.py"])

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
