"""What the layout of @pytorch keeps, hides and reports."""

import pathlib

from absl.testing import absltest

from decouple import testing
from upstream.source import layout

CAFFE2 = """
add_subdirectory(../aten aten)
append_filelist(things_cuda core)
exclude(ATen_CPP "${ATen_CPP}" ${ATen_CU})
add_library(torch_cuda ${ATen_CPP} shim.cpp ${ATen_CU} ${core})
"""
C10 = """
set(C10_CUDA_SRCS
    Stream.cpp
    impl/Guard.cpp
    Driver.cpp
)
torch_cuda_based_add_library(c10_cuda ${C10_CUDA_SRCS} Stream.h)
"""
UTILS = """
function(exclude OUTPUT INPUT)
  list(REMOVE_ITEM INPUT ${ARGN})
  set(${OUTPUT} ${INPUT} PARENT_SCOPE)
endfunction()
"""
CMAKE = """
file(GLOB cuda_cpp "cuda/*.cpp" "cuda/detail/*.cpp")
file(GLOB native_cuda_cu "native/cuda/*.cu")
file(GLOB native_miopen_cpp "native/miopen/*.cpp")
file(GLOB hip_cpp "hip/*.cpp")
set(ATen_CPP ${cuda_cpp} ${native_miopen_cpp})
set(ATen_CU ${native_cuda_cu} ${cuda_generated_sources} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/detail/Late.cpp)
set(ATen_CPP ${ATen_CPP} PARENT_SCOPE)
set(ATen_CU ${ATen_CU} PARENT_SCOPE)
"""


class LayoutTest(absltest.TestCase):
    """A small tree with upstream's shape."""

    def setUp(self) -> None:
        super().setUp()
        self.tree = pathlib.Path(self.create_tempdir().full_path, "tree")
        testing.make_tree(
            self.tree,
            {
                "aten/CMakeLists.txt": (
                    "add_subdirectory(src/ATen)\n"
                    "set(ATen_CPP ${ATen_CPP} PARENT_SCOPE)\n"
                    "set(ATen_CU ${ATen_CU} PARENT_SCOPE)\n"
                ),
                "aten/src/ATen/CMakeLists.txt": CMAKE,
                "aten/src/ATen/cuda/Context.cpp": "",
                "aten/src/ATen/cuda/Context.h": "",
                "aten/src/ATen/cuda/detail/Hooks.cpp": "",
                "aten/src/ATen/cuda/detail/Late.cpp": "",
                "aten/src/ATen/native/cuda/Abs.cu": "",
                "aten/src/ATen/native/miopen/README": "",
                "aten/src/ATen/native/Sorting.h": "",
                "c10/BUILD.bazel": "",
                "c10/cuda/CMakeLists.txt": C10,
                "c10/cuda/Driver.cpp": "",
                "c10/cuda/impl/Guard.cpp": "",
                "caffe2/CMakeLists.txt": CAFFE2,
                "cmake/public/utils.cmake": UTILS,
                "torch/csrc/Module.cpp": "",
            },
        )

    def units(self) -> dict[str, list[str]]:
        """Upstream's groups of units."""
        return layout.units(layout.configure(self.tree))

    def lay_out(self) -> pathlib.Path:
        """Runs the tool; returns the repository it wrote."""
        out = pathlib.Path(self.create_tempdir().full_path)
        code = layout.main(["--tree", str(self.tree), "--out", str(out)])
        self.assertEqual(code, 0)
        return out

    def test_units_come_from_upstreams_globs_and_lists(self) -> None:
        self.assertEqual(
            self.units(),
            {
                "cuda_cpp": [
                    "aten/src/ATen/cuda/Context.cpp",
                    "aten/src/ATen/cuda/detail/Hooks.cpp",
                    "aten/src/ATen/cuda/detail/Late.cpp",
                ],
                "native_cuda_cu": ["aten/src/ATen/native/cuda/Abs.cu"],
                "native_miopen_cpp": [],
                "c10_cuda": [
                    "c10/cuda/Stream.cpp",
                    "c10/cuda/impl/Guard.cpp",
                    "c10/cuda/Driver.cpp",
                ],
            },
        )

    def test_units_are_in_the_order_in_which_upstream_links_them(self) -> None:
        aten = "aten/src/ATen"
        self.assertEqual(
            layout.link_order(self.tree, self.units())["torch_cuda"],
            [
                f"{aten}/cuda/Context.cpp",
                f"{aten}/cuda/detail/Hooks.cpp",
                "caffe2/shim.cpp",
                f"{aten}/native/cuda/Abs.cu",
                *(
                    f"{aten}/{name}"
                    for name in (
                        "RegisterCUDA.cpp",
                        "RegisterNestedTensorCUDA.cpp",
                        "RegisterQuantizedCUDA.cpp",
                        "RegisterSparseCUDA.cpp",
                        "RegisterSparseCsrCUDA.cpp",
                        "UfuncCUDA_add.cu",
                    )
                ),
                f"{aten}/cuda/detail/Late.cpp",
                "torch/csrc/fast.cpp",
            ],
        )

    def test_a_library_that_vanishes_is_named(self) -> None:
        (self.tree / "caffe2/CMakeLists.txt").write_text(CAFFE2.replace("torch_cuda", "other"))
        with self.assertRaisesRegex(layout.LayoutError, "no longer add the library torch_cuda"):
            layout.link_order(self.tree, self.units())

    def test_a_unit_that_is_in_no_library_is_named(self) -> None:
        (self.tree / "caffe2/CMakeLists.txt").write_text(CAFFE2.replace("${ATen_CU} ${core}", ""))
        with self.assertRaisesRegex(layout.LayoutError, r"Late\.cpp is in no library that caffe2"):
            layout.link_order(self.tree, self.units())

    def test_what_is_around_the_libraries_need_not_be_understood(self) -> None:
        self.assertNotEmpty(self.units())
        (self.tree / "caffe2/CMakeLists.txt").write_text(
            "append_filelist(none other)\nmath(EXPR S 1/0)\n" + CAFFE2
        )
        self.assertIn("torch_cuda", layout.link_order(self.tree, self.units()))

    def test_a_new_file_is_a_new_unit(self) -> None:
        (self.tree / "aten/src/ATen/native/cuda/New.cu").touch()
        self.assertIn("aten/src/ATen/native/cuda/New.cu", self.units()["native_cuda_cu"])

    def test_folders_with_globs_are_watched(self) -> None:
        self.assertEqual(
            layout.watched_folders(layout.configure(self.tree)),
            [
                "aten/src/ATen/cuda",
                "aten/src/ATen/cuda/detail",
                "aten/src/ATen/native/cuda",
                "aten/src/ATen/native/miopen",
            ],
        )

    def test_files_keep_their_paths_and_build_files_are_hidden(self) -> None:
        out = self.lay_out()
        self.assertTrue((out / "c10/core/Device.h").is_file())
        self.assertTrue((out / "torch/csrc/Module.cpp").is_file())
        self.assertFalse((out / "c10/BUILD.bazel").exists())

    def test_an_edit_of_the_tree_is_an_edit_of_the_repository(self) -> None:
        out = self.lay_out()
        (self.tree / "torch/csrc/Module.cpp").write_text("edited")
        self.assertEqual((out / "torch/csrc/Module.cpp").read_text(), "edited")

    def test_the_header_view_holds_the_folders_of_cuda_only(self) -> None:
        view = self.lay_out() / "cuda_include"
        self.assertTrue((view / "ATen/cuda/Context.h").is_file())
        self.assertTrue((view / "c10/cuda/Stream.h").is_file())
        self.assertFalse((view / "ATen/native/Sorting.h").exists())
        self.assertFalse((view / "c10/core").exists())

    def test_a_list_that_vanishes_is_named(self) -> None:
        (self.tree / "c10/cuda/CMakeLists.txt").write_text("set(OTHER a.cpp)\n")
        with self.assertRaisesRegex(layout.LayoutError, "no longer add the library c10_cuda"):
            self.units()

    def test_a_tree_without_cmake_files_is_refused(self) -> None:
        (self.tree / "aten/src/ATen/CMakeLists.txt").unlink()
        with self.assertRaisesRegex(
            layout.LayoutError, r"aten/src/ATen/CMakeLists\.txt: cannot be read"
        ):
            self.units()


if __name__ == "__main__":
    absltest.main()
