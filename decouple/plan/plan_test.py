"""Where findings go."""

from __future__ import annotations

from absl.testing import absltest

from decouple.model import Finding, Inventory, Kind, Unit
from decouple.plan.layout import rfc_layout
from decouple.plan.owners import NOBODY, Owners
from decouple.plan.plan import Action, Placement, make_plan

_DEVICE = "third_device/torch_cuda/torch_cuda"


def _place(
    path: str,
    kind: Kind,
    rule: str,
    lists: tuple[str, ...] | None = None,
    owners: Owners = NOBODY,
) -> Placement:
    whole = kind is not Kind.INTRA_FILE
    finding = Finding(path, 0 if whole else 3, 0 if whole else 5, rule, kind, "")
    units = () if lists is None else (Unit(path, lists),)
    inventory = Inventory("2.6.0", "cuda", "tree", 1, (finding,), units, {}, {path: 10})
    (placement,) = make_plan(inventory, owners).placements
    return placement


class PlanTest(absltest.TestCase):
    def test_units_move_to_the_folders_of_the_rfc(self) -> None:
        for path, folder in (
            ("torch/backends/cuda/__init__.py", "backends/cuda/__init__.py"),
            ("torch/cuda/streams.py", "core/streams.py"),
            ("aten/src/ATen/cuda/CUDAContext.h", "csrc/aten/cuda/CUDAContext.h"),
            ("caffe2/cuda/x.h", "csrc/aten/caffe2/cuda/x.h"),
            ("torch/csrc/cuda/comm.h", "csrc/framework/cuda/comm.h"),
            ("torch/csrc/jit/cuda/x.h", "csrc/jit/cuda/x.h"),
            ("torch/csrc/inductor/cuda/x.h", "csrc/inductor/cuda/x.h"),
            ("torch/csrc/distributed/c10d/NCCLUtils.hpp", "distributed/c10d/NCCLUtils.hpp"),
        ):
            placement = _place(path, Kind.INTER_FILE, "cuda-folder")
            self.assertEqual(placement.action, Action.MOVE, path)
            self.assertEqual(placement.destination, f"{_DEVICE}/{folder}")

    def test_bindings_go_to_python_whatever_their_folder(self) -> None:
        placement = _place(
            "torch/csrc/cuda/Module.cpp",
            Kind.INTER_FILE,
            "cuda-list",
            ("libtorch_python_cuda_core_sources",),
        )
        self.assertEqual(placement.destination, f"{_DEVICE}/csrc/python/cuda/Module.cpp")

    def test_a_source_that_nothing_compiles_for_the_device_stays(self) -> None:
        placement = _place("c10/cuda/test/x.cpp", Kind.INTER_FILE, "cuda-folder")
        self.assertEqual(placement.action, Action.STAY)

    def test_guarded_lines_are_cut_out(self) -> None:
        placement = _place("torch/csrc/Storage.cpp", Kind.INTRA_FILE, "cuda-guard")
        self.assertEqual(placement.action, Action.CUT)
        self.assertEqual(
            placement.destination, f"{_DEVICE}/csrc/framework/intra_file/Storage.cpp.inc"
        )

    def test_names_of_the_device_and_supplements_stay(self) -> None:
        for kind, rule in ((Kind.INTRA_FILE, "cuda-query"), (Kind.SUPPLEMENT, "cuda-include")):
            placement = _place("torch/csrc/utils.cpp", kind, rule)
            self.assertEqual(placement.action, Action.STAY)
            self.assertEqual(placement.destination, "torch/csrc/utils.cpp")
            self.assertNotEmpty(placement.reason)

    def test_tests_and_build_files_stay(self) -> None:
        for path in ("test/x.cu", "c10/cuda/test/x.h", "c10/cuda/CMakeLists.txt"):
            self.assertEqual(_place(path, Kind.INTER_FILE, "cuda-folder").action, Action.STAY, path)

    def test_lines_of_upstreams_build_stay(self) -> None:
        placement = _place("caffe2/CMakeLists.txt", Kind.INTRA_FILE, "cuda-cmake-guard")
        self.assertEqual(placement.action, Action.STAY)
        self.assertIn("upstream's build", placement.reason)

    def test_packages_are_those_of_the_owners(self) -> None:
        owners = Owners({}, lambda path, lists: "/".join(["whole", *lists]), lambda path: "pieces")
        unit = ("torch/csrc/fast.cpp", Kind.INTER_FILE, "cuda-list", ("core",))
        self.assertEqual(_place(*unit, owners=owners).package, "whole/core")
        self.assertEqual(_place(*unit).package, "")
        cut = ("torch/csrc/Storage.cpp", Kind.INTRA_FILE, "cuda-guard")
        self.assertEqual(_place(*cut, owners=owners).package, "pieces")
        self.assertEqual(_place(*cut).action, Action.CUT)


class LayoutTest(absltest.TestCase):
    def test_moved_headers_are_included_from_the_device(self) -> None:
        layout = rfc_layout()
        destination = layout.destination("c10/cuda/CUDAStream.h")
        self.assertEqual(
            layout.include_name(destination), "torch_cuda/csrc/framework/c10/CUDAStream.h"
        )

    def test_a_module_is_a_folder_of_the_device(self) -> None:
        layout = rfc_layout()
        for path, module in (
            ("c10/cuda/CUDAStream.h", "csrc/framework"),
            ("aten/src/ATen/cuda/CUDAContext.h", "csrc/aten"),
            ("torch/cuda/streams.py", "core"),
        ):
            self.assertEqual(layout.module(layout.destination(path)), module)


if __name__ == "__main__":
    absltest.main()
