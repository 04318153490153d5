"""What libraries need and have, of libraries that a compiler makes here."""

from __future__ import annotations

import pathlib
import subprocess

from absl.testing import absltest

from runtime.releases import symbols

_SCRIPT = """libcublas.so.13 {
  global:
    cublasCreate_v2;
    cublasGone_v2;
};
"""
_STUBS = """int cublasGone_v2(void) {
  return 15;
}
"""


class SymbolsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def compile(self, name: str, code: str, *more: str) -> pathlib.Path:
        target = self.folder / name
        subprocess.run(
            ["g++", "-x", "c++", "-fPIC", "-o", str(target), "-", *more],
            input=code,
            text=True,
            check=True,
        )
        return target

    def library(self, name: str, code: str, *more: str) -> pathlib.Path:
        return self.compile(name, code, "-x", "none", "-shared", f"-Wl,-soname,{name}", *more)

    def test_needed_functions_by_their_library(self) -> None:
        script = self.folder / "script"
        script.write_text("libcudart.so.13 { global: cudaMalloc; };")
        cudart = self.library(
            "libcudart.so.13", 'extern "C" void cudaMalloc() {}', f"-Wl,--version-script={script}"
        )
        torch = self.library(
            "libtorch_cuda.so",
            'extern "C" void cudaMalloc(); extern "C" void ncclSend(); extern "C" void cuInit();'
            'extern "C" void curious(); void f() { cudaMalloc(); ncclSend(); cuInit(); curious(); }',
            str(cudart),
        )
        needed = symbols.needed(torch)
        self.assertIn(("cudaMalloc", "libcudart.so.13"), needed)
        self.assertEqual(
            symbols.of_cuda(needed),
            {
                "libcudart.so.13": {"cudaMalloc"},
                "libcuda.so.1": {"cuInit"},
                "libnccl.so.2": {"ncclSend"},
            },
        )

    def test_names_that_the_router_needs(self) -> None:
        used = "namespace at { void there(); void gone(); } namespace own { void mine(); }"
        first = self.compile(
            "a.o", used + "void f() { at::there(); at::gone(); own::mine(); }", "-c"
        )
        second = self.compile("b.o", "namespace own { void mine() {} }", "-c")
        torch = self.library("libc10.so", "namespace at { void there() {} }")
        missing = symbols.of_torch([first, second]) - symbols.defined([torch])
        self.assertEqual(symbols.demangled(missing), ["at::gone()"])

    def test_names_that_may_be_absent(self) -> None:
        code = "namespace c10 { extern thread_local int state; } int f() { return c10::state; }"
        user = self.compile("a.o", code, "-c")
        c10 = self.library("libc10.so", "namespace c10 { thread_local int state = 1; }")
        self.assertEmpty(symbols.of_torch([user]) - symbols.defined([c10]))

    def test_what_our_libraries_lack(self) -> None:
        script, stubs = self.folder / "map", self.folder / "stubs.c"
        script.write_text(_SCRIPT)
        stubs.write_text(_STUBS)
        own = symbols.own_functions([("libcublas.so.13", str(script), str(stubs))])
        self.assertEqual(own, {"libcublas.so.13": ({"cublasCreate_v2"}, {"cublasGone_v2"})})
        wanted = {
            "libcublas.so.13": {"cublasCreate_v2", "cublasGone_v2", "cublasNew"},
            "libnew.so.1": {"newest"},
        }
        self.assertEqual(
            symbols.lacking(wanted, own),
            (
                {"libcublas.so.13": ["cublasNew"], "libnew.so.1": ["newest"]},
                {"libcublas.so.13": ["cublasGone_v2"]},
            ),
        )


if __name__ == "__main__":
    absltest.main()
