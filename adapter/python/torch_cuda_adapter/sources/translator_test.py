"""What becomes of a text: names wherever they are code, and nothing besides."""

from __future__ import annotations

import random

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import testing
from torch_cuda_adapter.sources.rules import Rules
from torch_cuda_adapter.sources.translator import Translation, translate

SEED = 20261122
PLATFORMS = {name: Rules(platforms.load(name)) for name in platforms.names()}
MUSA = PLATFORMS["musa"]


def findings(translation: Translation) -> list[tuple[int, int, str, str]]:
    return [(f.line, f.column, f.severity, f.name) for f in translation.findings]


class NamesTest(parameterized.TestCase):
    @parameterized.parameters(
        ("cudaMalloc(&p, n);", "musaMalloc(&p, n);"),
        ("::cudaFree(p)", "::musaFree(p)"),
        ("cuda\\\nFree(p);\n", "musaFree\\\n(p);\n"),
        ("#define CHECK(x) \\\n  if ((x) != cudaSuccess) f(x)\n", None),
        ("at::cuda::getCurrentCUDAStream()", "at::musa::getCurrentMUSAStream()"),
        ("::c10 :: cuda::CUDAGuard g;", "::c10::musa::MUSAGuard g;"),
        ("using namespace at::cuda;", "using namespace at::musa;"),
        ("return ::at::cuda::f();", "return ::at::musa::f();"),
        ("namespace at::cuda {}", "namespace at::musa {}"),
        ("my::at::cuda::f()", "my::at::cuda::f()"),
        ("torch::kCUDA, at::kCUDA, kCUDA", "torch::kPrivateUse1, at::kPrivateUse1, kPrivateUse1"),
        ("x.is_cuda() && y->is_cuda()", "x.is_privateuseone() && y->is_privateuseone()"),
        ("bool is_cuda();", "bool is_cuda();"),
        ("c10::DeviceType::CUDA", "c10::DeviceType::PrivateUse1"),
        ("TORCH_LIBRARY_IMPL(ops, CUDA, m) {}", "TORCH_LIBRARY_IMPL(ops, PrivateUse1, m) {}"),
        (
            "STABLE_TORCH_LIBRARY_IMPL(\n _, /* CUDA */ AutogradCUDA, CUDA)",
            "STABLE_TORCH_LIBRARY_IMPL(\n _, /* CUDA */ AutogradPrivateUse1, CUDA)",
        ),
        ("TORCH_LIBRARY_IMPL(CUDA, CPU, m)", "TORCH_LIBRARY_IMPL(CUDA, CPU, m)"),
        ("LIBRARY(ops, CUDA, m); (ops, CUDA)", "LIBRARY(ops, CUDA, m); (ops, CUDA)"),
        (
            "kernel<float><<<grid, block, 0, s>>>(a, b);",
            "kernel<float><<<grid, block, 0, s>>>(a, b);",
        ),
        ("cudaGridDependencySynchronize();", "((void)0);"),
        ("nvjpegStatus_t s = NVJPEG_STATUS_SUCCESS;", "mtjpegStatus_t s = MTJPEG_STATUS_SUCCESS;"),
        ('#include "nvjpeg_helpers.h"', '#include "nvjpeg_helpers.h"'),
        ("#  include <nvjpeg.h>", "#  include <mtjpeg.h>"),
        ("#include <cuda_runtime.h>", "#include <musa_runtime.h>"),
        (
            '#include "c10/cuda/CUDAStream.h" // cuda.h',
            '#include "torch_musa/csrc/core/MUSAStream.h" // cuda.h',
        ),
        ("#if __has_include(<cuda_fp16.h>)", "#if __has_include(<musa_fp16.h>)"),
        ("#include <cub/cub.cuh>", "#include <cub/cub.cuh>"),
        (
            "#ifdef USE_CUDA\n#elif defined(__CUDACC__)\n",
            "#ifdef USE_MUSA\n#elif defined(__MUSACC__)\n",
        ),
    )
    def test_musa(self, source: str, expected: str | None) -> None:
        wanted = source.replace("cudaSuccess", "musaSuccess") if expected is None else expected
        self.assertEqual(translate(source, MUSA).text, wanted)

    @parameterized.parameters(
        "// cudaMalloc at::cuda \\\n cudaFree\n",
        "/* cudaMalloc\n cudaFree */",
        'auto s = "cudaMalloc \\" cudaFree";',
        "auto c = 'cudaFree';",
        'auto r = R"x(cudaMalloc(&p) )" cudaFree )x";',
        'asm volatile("ld.global.u32 %0, [cudaMalloc];");',
        "#pragma unroll cudaFree\n",
        "#error cudaMalloc isn't there; at::cuda\n",
        "#warning cudaFree\n",
        'm.impl("cuda", at::TensorType);',
        "cuda_helper(); mycudaFree(); CUDA_HELPER; std::cuda;",
        "namespace cuda { void f(); }",
        "",
    )
    def test_what_stays(self, source: str) -> None:
        for name, rules in PLATFORMS.items():
            with self.subTest(name):
                translation = translate(source, rules)
                self.assertEqual(translation.text, source)
                self.assertEmpty(translation.findings)

    @parameterized.parameters("\n", "\r\n")
    def test_line_ends_and_marks_stay(self, end: str) -> None:
        source = f"\ufeff#include <cuda.h>{end}cudaFree(p);  {end}\t{end}// caf\udce9"
        expected = source.replace("cuda.h", "musa.h").replace("cudaFree", "musaFree")
        self.assertEqual(translate(source, MUSA).text, expected)


class GuardsTest(parameterized.TestCase):
    @parameterized.parameters(
        ("#if __CUDA_ARCH__ >= 800", "#if __MUSA_ARCH__ >= 220"),
        (
            "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900u",
            "#if defined(__MUSA_ARCH__) && __MUSA_ARCH__ < 310",
        ),
        ("#ifndef __CUDA_ARCH__", "#ifndef __MUSA_ARCH__"),
        ("#if 700 <= __CUDA_ARCH__", "#if 210 <= __MUSA_ARCH__"),
        ("if (__CUDA_ARCH__ == 800) {}", "if (__MUSA_ARCH__ == 220) {}"),
        # Between two that are known: what needs more than 7.5 has 8.0, and the other way round.
        ("#if __CUDA_ARCH__ >= 750", "#if __MUSA_ARCH__ >= 220"),
        ("#if __CUDA_ARCH__ > 750", "#if __MUSA_ARCH__ >= 220"),
        ("#if __CUDA_ARCH__ <= 750", "#if __MUSA_ARCH__ < 220"),
        ("#if 750 < __CUDA_ARCH__", "#if 220 <= __MUSA_ARCH__"),
        ("#if 750 >= __CUDA_ARCH__", "#if 220 > __MUSA_ARCH__"),
    )
    def test_guards(self, source: str, expected: str) -> None:
        translation = translate(source, MUSA)
        self.assertEqual(translation.text, expected)
        self.assertEmpty(translation.findings)

    @parameterized.parameters(
        # Nothing of MUSA's is that new: the branch is not taken, and somebody is told.
        ("#if __CUDA_ARCH__ >= 1000", "#if __MUSA_ARCH__ >= 1000", "unsupported", "1000"),
        ("#if __CUDA_ARCH__ == 750", "#if __MUSA_ARCH__ == 750", "unsupported", "750"),
        ("#if __CUDA_ARCH__ >= LEAST", "#if __MUSA_ARCH__ >= LEAST", "assumed", "__CUDA_ARCH__"),
        ("int a = __CUDA_ARCH__ / 10;", "int a = __MUSA_ARCH__ / 10;", "assumed", "__CUDA_ARCH__"),
    )
    def test_doubts(self, source: str, expected: str, severity: str, name: str) -> None:
        translation = translate(source, MUSA)
        self.assertEqual(translation.text, expected)
        self.assertEqual([(f.severity, f.name) for f in translation.findings], [(severity, name)])


class CallsTest(parameterized.TestCase):
    @parameterized.parameters(
        (
            "npu",
            "cudaMalloc((void**)&p, n)",
            "aclrtMalloc((void**)&p, n, ACL_MEM_MALLOC_HUGE_FIRST)",
        ),
        (
            "npu",
            "cudaMemcpy(d, s, n, cudaMemcpyHostToDevice)",
            "aclrtMemcpy(d, n, s, n, ACL_MEMCPY_HOST_TO_DEVICE)",
        ),
        (
            "npu",
            "CHECK(cudaMemset( p , 0, (size_t)(n) ))",
            "CHECK(aclrtMemset(p, (size_t)(n), 0, (size_t)(n)))",
        ),
        (
            "npu",
            "CHECK(cudaMemset( p , 0, f(a, b)[1] ))",
            (
                "CHECK([&](auto&& argument_3) { return aclrtMemset(p, argument_3, 0, argument_3); }"
                "(f(a, b)[1]))"
            ),
        ),
        ("npu", "cudaEventRecord(e)", "aclrtRecordEvent(e, nullptr)"),
        ("npu", "cudaGetLastError()", "aclrtGetLastError(ACL_RT_THREAD_LEVEL)"),
        ("npu", "cudaGetLastError( /* none */ )", "aclrtGetLastError(ACL_RT_THREAD_LEVEL)"),
        ("npu", "ncclCommInitRank(&c, n, id, r)", "HcclCommInitRootInfo(n, &(id), r, &c)"),
        ("mlu", "cudaStreamWaitEvent(s, e, 0)", "cnrtQueueWaitNotifier(e, s, 0)"),
        ("mlu", "cudaEventElapsedTime(&ms, a, b)", "cnrtNotifierElapsedTime(a, b, &ms)"),
        (
            "mlu",
            "#define T(a) cudaEventRecord(a, \\\n s)\n",
            "#define T(a) cnrtPlaceNotifier(a, s)\n",
        ),
        ("mlu", "cudaEventRecord(e, /* on */ s)", "cnrtPlaceNotifier(e, /* on */ s)"),
    )
    def test_arguments(self, platform: str, source: str, expected: str) -> None:
        self.assertEqual(translate(source, PLATFORMS[platform]).text, expected)

    @parameterized.parameters(
        ("auto f = &cudaMalloc;", "not called"),
        ("cudaMalloc<float>(&p, n)", "not called"),
        ("cudaMalloc(&p)", "called with 1 arguments; the rule knows 2"),
        ("cudaMalloc(&p, n, x)", "called with 3 arguments"),
        ("cudaMalloc(&p,\n#if A\n n\n#endif\n)", "a directive stands among its arguments"),
        ("cudaMalloc(&p, // where\n n)", "a // comment stands"),
        ("cudaMalloc // what\n(&p, n)", "a // comment stands"),
        ("cudaMalloc(&p, n", "not called"),
        ("cudaMalloc(&p, [n)])", "not called"),
    )
    def test_what_is_no_such_call_stays(self, source: str, reason: str) -> None:
        translation = translate(source, PLATFORMS["npu"])
        self.assertEqual(translation.text, source)
        self.assertEqual([f.severity for f in translation.findings], ["unsupported"])
        self.assertIn(reason, translation.findings[0].reason)

    @parameterized.parameters(
        "cudaError_t cudaMalloc(void** p, size_t n);",
        "int cudaMalloc(int a, int b) { return 0; }",
        "typedef cudaError_t (*F)(void**, size_t); F cudaMalloc(p, n);",
    )
    def test_a_declaration_is_no_call(self, source: str) -> None:
        translation = translate(source, PLATFORMS["npu"])
        self.assertIn("cudaMalloc(", translation.text)
        self.assertIn("looks like a declaration", translation.findings[-1].reason)

    def test_a_call_behind_a_keyword_is_one(self) -> None:
        text = translate(
            "if (a) return cudaMalloc(p, n); else cudaMalloc(p, n); return ::cudaMalloc(p, n);",
            PLATFORMS["npu"],
        ).text
        self.assertEqual(text.count("aclrtMalloc"), 3)

    def test_a_members_call_is_somebody_elses(self) -> None:
        source = "pool.cudaMalloc(p, n); pool->cudaMalloc(p, n);"
        self.assertEqual(translate(source, PLATFORMS["npu"]).text, source)

    @parameterized.parameters(
        ("n++", 1), ("next()", 1), ("sizes[i]", 1), ("n * sizeof(float)", 2), ("n", 2)
    )
    def test_what_is_evaluated_once(self, size: str, written: int) -> None:
        translation = translate(f"cudaMemset(p, 0, {size})", PLATFORMS["npu"])
        self.assertEqual(translation.text.count(size), written)
        self.assertEmpty(translation.findings)


class LaunchesTest(parameterized.TestCase):
    @parameterized.parameters(
        ("k<<<1, n>>>(a, b);", "standLaunch(1, n, 0, nullptr, k, a, b);"),
        ("k<<<1, n>>>();", "standLaunch(1, n, 0, nullptr, k);"),
        (
            "ns::k<T, 4> <<< dim3(1, 2), n, 8, s >>> (a);",
            "standLaunch(dim3(1, 2), n, 8, s, ns::k<T, 4>, a);",
        ),
        (
            "if (a < b) k<F<T>><<<1, 2>>>(a);",
            "if (a < b) standLaunch(1, 2, 0, nullptr, k<F<T>>, a);",
        ),
        (
            "f([] { k<<<1, 2>>>(cudaSuccess); });",
            "f([] { standLaunch(1, 2, 0, nullptr, k, standSuccess); });",
        ),
    )
    def test_launches(self, source: str, expected: str) -> None:
        translation = translate(source, PLATFORMS["stand-in"])
        self.assertEqual(translation.text, expected)
        self.assertEmpty(translation.findings)

    @parameterized.parameters(
        *("(k)<<<1, 2>>>(a);", "k<<<1>>>(a);", "k<<<1, 2>>>;", "k<<<1, 2;"),
        *("k // a\n<<<1, 2>>>(b);", "k<<<1, // a\n2>>>(b);", "k<<<1, 2>>>(b // a\n);"),
        *(
            "k<<<1, f<a, b>(c)>>>(d);",
            "k<<<1, config...>>>(a);",
            "k<<<1, 2>>>(\n#if 1\na\n#endif\n);",
        ),
    )
    def test_what_is_no_launch_stays(self, source: str) -> None:
        translation = translate(source, PLATFORMS["stand-in"])
        self.assertEqual(translation.text, source)
        self.assertEqual([f.name for f in translation.findings], ["<<<"])

    def test_kernels_that_nothing_translates_are_reported(self) -> None:
        source = "__global__ void k() {}\nvoid f() { k<<<1, 2>>>(); }"
        translation = translate(source, PLATFORMS["npu"])
        self.assertEqual(
            findings(translation),
            [(1, 1, "unsupported", "__global__"), (2, 13, "unsupported", "<<<")],
        )


class FindingsTest(absltest.TestCase):
    def test_where_they_are(self) -> None:
        source = "#include <nvml.h>\r\n\tcudaFooBar(1);\n  cub::X x; nvtxRangePop();\ncute::A::b c;"
        self.assertEqual(
            findings(translate(source, MUSA, "a.cu")),
            [
                (1, 10, "unsupported", "<nvml.h>"),
                (2, 2, "assumed", "cudaFooBar"),
                (3, 13, "unsupported", "nvtxRangePop"),
                (4, 1, "unknown", "cute::A::b"),
            ],
        )

    def test_as_a_compiler_writes_them(self) -> None:
        translation = translate("\n  cudaFooBar();", PLATFORMS["npu"], "a.cu")
        self.assertEqual(
            str(translation.findings[0]),
            "a.cu:2:3: unknown: cudaFooBar (runtime): no rule knows it",
        )

    def test_a_name_is_found_once_a_place(self) -> None:
        translation = translate("cudaMemset(nvml::x, 0, cudaFooBar);", PLATFORMS["npu"])
        self.assertEqual([f.name for f in translation.findings], ["cudaFooBar"])

    def test_names_that_are_pasted_together(self) -> None:
        source = "#define F(x) cublas##x(cuda ## x, CUDA_R_##x, my##x, x##cudaFree)\n"
        translation = translate(source, MUSA)
        self.assertEqual([f.name for f in translation.findings], ["cublas", "cuda", "CUDA_R_"])
        self.assertIn("pasted together", translation.findings[0].reason)

    def test_what_is_counted(self) -> None:
        translated = translate("cudaFree(p); cudaFree(q); cublasCreate(&h);", MUSA).translated
        self.assertEqual({k: n for k, n in translated.items() if n}, {"runtime": 2, "cublas": 1})


class IdempotentTest(absltest.TestCase):
    def test_random_programs(self) -> None:
        pieces = (
            *[
                "cudaMalloc",
                "cudaMemcpyAsync",
                "at",
                "::",
                "cuda",
                "CUDAStream",
                ".",
                "->",
                "is_cuda",
                "kCUDA",
                "ncclBcast",
            ],
            *[
                "(",
                ")",
                "<",
                ">",
                "<<<",
                ">>>",
                ",",
                ";",
                "{",
                "}",
                "[",
                "]",
                "/*",
                "*/",
                "//",
                "#",
                "include",
                "if",
                "define",
                "namespace",
                "cub",
                "##",
            ],
            *[
                "__CUDA_ARCH__",
                ">=",
                "750",
                "<cuda.h>",
                "1",
                "x",
                "=",
                "nvtxMarkA",
                "CUDA_VERSION",
                "return",
            ],
            *(" ", "\n", "\r\n", "\\\n", '"', "'", 'R"(', ')"'),
        )
        generator = random.Random(SEED)
        for _ in range(1000):
            source = "".join(generator.choices(pieces, k=generator.randint(1, 40)))
            for name, rules in PLATFORMS.items():
                once = translate(source, rules).text
                self.assertEqual(translate(once, rules).text, once, f"{name}: {source!r}")

    def test_in_a_made_up_platform(self) -> None:
        rules = testing.rules(
            '[sources.families.runtime]\nreplace = [["cuda", "x"]]\nnames = "cudaFree"'
        )
        self.assertEqual(
            translate("cudaFree; cudaFoo; cublasX", rules).text, "xFree; xFoo; cublasX"
        )


if __name__ == "__main__":
    absltest.main()
