"""What is read of a wheel of torch."""

from __future__ import annotations

import base64
import hashlib
import io
import pathlib
import zipfile

from absl.testing import absltest

from runtime.releases.wheel import Release

_OPERATORS = """
- func: both(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: both
- func: composed(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: composed
    CUDA: composed_cuda
- func: alone(Tensor self) -> Tensor
  dispatch:
    CUDA: alone_cuda
    MPS: alone_mps
- func: alone.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured_delegate: both
- func: implicit(Tensor self) -> Tensor
"""
FILES = {
    "torch/version.py": "__version__ = '2.14.1+cu130'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n",
    "torch/utils/cpp_extension.py": "flags = ['-std=c++17']\nothers = ['-std=c++20']\n",
    "torch/include/c10/core/Device.h": "// a header\n",
    "torch/include/ATen/ATen.h": "// a header\n",
    "torch/include/caffe2/a.h": "",
    "torch/include/torch/a.h": "",
    "torch/lib/libtorch_cuda.so": "a library",
    "torchgen/packaged/ATen/native/native_functions.yaml": _OPERATORS,
}


def wheel(files: dict[str, str]) -> zipfile.ZipFile:
    """A wheel with these files, and a RECORD of them."""
    lines = []
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()
            lines.append(f"{name},sha256={digest.rstrip('=')},{len(text)}\n")
        archive.writestr("torch-2.14.1.dist-info/RECORD", "".join(lines))
    return zipfile.ZipFile(content)


class ReleaseTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.release = Release(wheel(FILES))

    def test_constants(self) -> None:
        self.assertEqual(self.release.constant("__version__"), "2.14.1+cu130")
        self.assertEqual(self.release.constant("cuda"), "13.0")
        self.assertIsNone(self.release.constant("hip"))
        self.assertEqual(self.release.standard(), "c++20")

    def test_operators_with_a_kernel_of_cudas_alone(self) -> None:
        operators = self.release.operators()
        self.assertLen(operators, 5)
        self.assertEqual([name for name, one in operators.items() if one.cuda_alone], ["alone"])

    def test_headers_and_libraries(self) -> None:
        self.assertLen(self.release.headers(), 4)
        folder = pathlib.Path(self.create_tempdir().full_path)
        self.release.unpack_headers(folder)
        self.assertEqual((folder / "c10/core/Device.h").read_text(), "// a header\n")
        self.assertEqual(list(self.release.libraries()), ["torch/lib/libtorch_cuda.so"])
        library = self.release.unpack_library("torch/lib/libtorch_cuda.so", folder)
        self.assertEqual(library.read_text(), "a library")


if __name__ == "__main__":
    absltest.main()
