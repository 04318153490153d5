"""Tests of reading C++ sources."""

from pathlib import Path

from absl.testing import absltest

from aten_cuda.codegen.source_index import Function, SourceFile, SourceIndex, Use, parse


def only(file: SourceFile) -> Function:
    """The one function of a file."""
    (function,) = file.functions
    return function


class ParseTest(absltest.TestCase):
    def test_a_function_has_its_namespace_and_what_it_uses(self) -> None:
        function = only(
            parse(
                "a.cpp",
                "namespace at::native { Tensor f(const Tensor& x) { return at::sum(g(x)).item(); } }",
            )
        )
        self.assertEqual((function.name, function.namespace), ("f", "at::native"))
        self.assertContainsSubset(
            {Use("sum", "at"), Use("g", ""), Use("item", "member")}, function.uses
        )

    def test_variables_are_not_uses(self) -> None:
        function = only(parse("a.cpp", "void f(int mode) { g(mode, mode + 1); }"))
        self.assertNotIn("mode", {use.name for use in function.uses})

    def test_a_structured_kernel_is_named_as_torchgen_names_its_class(self) -> None:
        function = only(
            parse("a.cpp", "TORCH_IMPL_FUNC(abs_out) (const Tensor& x) { run(x, abs_stub); }")
        )
        self.assertEqual(function.name, "structured_abs_out")
        self.assertIn(Use("abs_stub", ""), function.uses)

    def test_what_other_files_cannot_refer_to_is_local(self) -> None:
        for text in (
            "namespace { void f() {} }",
            "static void f() {}",
            "__global__ void f(int n) {}",
            "__device__ inline int f(int a) { return a; }",
        ):
            self.assertTrue(only(parse("a.cu", text)).local, text)
        self.assertFalse(only(parse("a.cu", "void f() {}")).local)

    def test_launch_bounds_and_templates_do_not_hide_the_name(self) -> None:
        text = "template <typename T, int N> __launch_bounds__(N) __global__ void kernel(T* x) { step(x); }"
        self.assertEqual(only(parse("a.cu", text)).name, "kernel")

    def test_a_method_is_found_through_its_type(self) -> None:
        function = only(
            parse("a.h", "struct Functor { int operator()(int x) const { return h(x); } };")
        )
        self.assertEqual(function.name, "Functor")
        self.assertIn(Use("h", ""), function.uses)

    def test_registrations_of_stubs_are_found(self) -> None:
        file = parse(
            "a.cu",
            "namespace at { REGISTER_DISPATCH(abs_stub, &abs_kernel) REGISTER_CUDA_DISPATCH(neg_stub, &neg) }",
        )
        self.assertEqual(file.stubs, {"abs_stub", "neg_stub"})

    def test_the_function_after_a_macro_without_semicolon_is_found(self) -> None:
        file = parse("a.cu", "REGISTER_DISPATCH(abs_stub, &abs_kernel) void after() { x(); }")
        self.assertEqual([function.name for function in file.functions], ["after"])


class ScanTest(absltest.TestCase):
    def scan(self, text: str) -> SourceIndex:
        root = Path(self.create_tempdir().full_path)
        (root / "a.cpp").write_text(text)
        return SourceIndex.scan(root, ["a.cpp"])

    def test_macros_of_the_file_are_expanded(self) -> None:
        index = self.scan(
            "#define IMPL(name) TORCH_IMPL_FUNC(name##_out)(int x) { run(name##_stub); }\nIMPL(abs)\nIMPL(neg)\n"
        )
        self.assertContainsSubset({"structured_abs_out", "structured_neg_out"}, index.functions)

    def test_the_rocm_half_is_not_read(self) -> None:
        index = self.scan(
            "#ifdef USE_ROCM\nvoid f() { hip(); }\n#else\nvoid g() { cuda(); }\n#endif\n"
        )
        self.assertEqual(set(index.functions), {"g"})

    def test_comments_and_includes_are_not_read(self) -> None:
        index = self.scan('#include "absent.h"\n// void f() {}\n/* void g() {} */ void h() {}\n')
        self.assertEqual(set(index.functions), {"h"})

    def test_declared_stubs_are_known(self) -> None:
        index = self.scan("DECLARE_DISPATCH(void(*)(TensorIteratorBase&, bool), abs_stub)\n")
        self.assertEqual(index.stub_names, {"abs_stub"})


if __name__ == "__main__":
    absltest.main()
