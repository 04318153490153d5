"""Arguments of calls are counted: commas in brackets and in templates are none of the call's."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import macros
from torch_cuda_adapter.sources.calls import read_arguments
from torch_cuda_adapter.sources.rules import Rules
from torch_cuda_adapter.sources.tokenizer import tokenize
from torch_cuda_adapter.sources.translator import translate

NPU = Rules(platforms.load("npu"))


def counts(source: str) -> list[int]:
    """How many arguments each reading has of the call that a text begins with."""
    tokens = tokenize(source)
    found = read_arguments(tokens, 1, len(tokens))
    assert found is not None, source
    return [len(reading) for reading in found.readings]


class CountTest(parameterized.TestCase):
    @parameterized.parameters(
        ("g()", [0]),
        ("g(/* none */)", [0]),
        ("g(a)", [1]),
        ("g(f<int, float>(p))", [1]),
        ("g(f<int, float>(p), b)", [2]),
        ("g(f<T*, a>(p))", [1]),
        ("g(f<T&&, a>(p))", [1]),
        ("g(f<T..., a>(p))", [1]),
        ("g(f<g<int>, h<int, char>>(p))", [1]),
        ("g(f<g<h<int>>, 3>(p))", [1]),
        ("g(f<decltype(a, b), int>{1, 2})", [1]),
        ("g(std::pair<int, int>(1, 2), n)", [2]),
        ("g(static_cast<F<int, int>>(p))", [1]),
        ("g(f < int /* , */ , float > (p))", [1]),
        ("g(f<:1, 2:>, T<%1, 2%>, (1, 2))", [3]),
        ("g([](int a, int b) { return a, b; }, c)", [2]),
        # One argument with a template, or two comparisons.
        ("g(a<b, c>(d))", [1, 2]),
        ("g(a < 1, b > (2))", [1, 2]),
        # Comparisons and nothing else.
        ("g(a < b, c > d)", [2]),
        ("g(a < b, c)", [2]),
        ("g(a < b && c, d > (e))", [2]),
        ("g(1 < b, c > (d))", [2]),
        ("g(a < size_t(b), c > d)", [2]),
        ("g(a < b || c, d > (e))", [2]),
        ("g((a < b), (c > (d)))", [2]),
        ("g(a << 1, b >> (2))", [2]),
        ("g(a <= b, c >= (d))", [2]),
    )
    def test_counts(self, source: str, expected: list[int]) -> None:
        self.assertEqual(counts(source), expected)

    @parameterized.parameters(
        *("g(", "g(a", "g(a]", "g(a; b)", "g(a<:1)", "g a"),
        f"g({'a < b + ' * 5000}c, d)",
    )
    def test_what_is_no_call(self, source: str) -> None:
        tokens = tokenize(source)
        self.assertIsNone(read_arguments(tokens, 1, len(tokens)))


class ChosenTest(parameterized.TestCase):
    @parameterized.parameters(
        (
            "cudaMalloc(f<int, float>(p), n)",
            "aclrtMalloc(f<int, float>(p), n, ACL_MEM_MALLOC_HUGE_FIRST)",
        ),
        # The rule's number of arguments says which reading is right.
        ("cudaMemset(f<a, b>(p), 0, n)", "aclrtMemset(f<a, b>(p), n, 0, n)"),
        ("cudaMemset(p, a < b, c > - d)", "aclrtMemset(p, c > - d, a < b, c > - d)"),
    )
    def test_the_reading_that_fits(self, source: str, expected: str) -> None:
        translation = translate(source, NPU)
        self.assertEqual(translation.text, expected)
        self.assertEmpty(translation.findings)

    @parameterized.parameters(
        (
            "cudaMemcpyAsync(f<a, b>(p), s, n, k)",
            "commas are those of a template or of comparisons",
        ),
        ("cudaMemset(args..., n)", "called with 2 arguments"),
        ("cudaMemset(args..., 0, n)", "stands for several arguments"),
        ("#define M(...) cudaMalloc(p, __VA_ARGS__)\n", "stands for several arguments"),
        ("#define M(a, r...) cudaMemcpyAsync(a, s, n, r)\n", "stands for several arguments"),
        ("#define TWO n, 0\ncudaMemcpyAsync(d, s, TWO, k);", "stands for several arguments"),
        (
            "#define TWO n, 0\n#define ALSO TWO\ncudaMalloc(d, ALSO);",
            "stands for several arguments",
        ),
        ("cudaError_t* cudaMemset(void* p, int v, size_t n);", "looks like a declaration"),
        ("auto cudaGetErrorString(Error error) -> const char*;", "looks like a declaration"),
    )
    def test_what_is_not_known_is_reported(self, source: str, reason: str) -> None:
        translation = translate(source, NPU)
        self.assertIn("cudaM" if "cudaM" in source else "cudaGet", translation.text)
        self.assertIn(reason, " ".join(f.reason for f in translation.findings))

    def test_what_packs_are_in_is_one_argument(self) -> None:
        source = "cudaMalloc(&p, sum(args...));"
        self.assertIn("aclrtMalloc(&p, sum(args...), ", translate(source, NPU).text)


class MacrosTest(parameterized.TestCase):
    @parameterized.parameters(
        ("#define F(a, b) a + c\n", {"a"}, set()),
        ("#define F (a)\na;", set(), set()),
        ("#define F \\\n (a)\na; F", set(), set()),
        ("#define F\\\n(a) a\n", {"a"}, set()),
        ("#define F(...) __VA_ARGS__\n", {"__VA_ARGS__"}, {"__VA_ARGS__"}),
        ("#define F(a, ...) a, __VA_ARGS__\n", {"a", "__VA_ARGS__"}, {"__VA_ARGS__"}),
        ("#define F(a, rest...) a(rest)\n", {"a", "rest"}, {"rest"}),
        ("#define N next()\nN;", {"N"}, set()),
        ("#define N i++\n#define M (N)\nM;", {"N", "M"}, set()),
        ("BYTES; __bytes; NULL; K1; Bytes; CUDA_R_32F;", {"BYTES"}, set()),
        ("#define BYTES 4\nBYTES;", set(), set()),
        ("#define N 3, 4\nN;", set(), {"N"}),
        ("#define N f<3, 4>\nN;", set(), {"N"}),
        ("#define N (3, 4)\nN;", set(), set()),
        ("#define N 1024\nN;", set(), set()),
        ("%:define F(a) a\n", {"a"}, set()),
        ("#undef define\n#if define\n#endif\ndefine N next()\n", set(), set()),
    )
    def test_unknown_names(self, source: str, opaque: set[str], several: set[str]) -> None:
        tokens = tokenize(source)
        found = macros.read(tokens)
        self.assertEqual({tokens[index].spelling for index in found.opaque}, opaque)
        self.assertEqual({tokens[index].spelling for index in found.several}, several)


if __name__ == "__main__":
    absltest.main()
