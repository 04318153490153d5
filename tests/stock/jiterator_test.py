"""Functions of torch.cuda.jiterator against the CPU's operators, on a device that runs code and on one that does not.

    TORCH_CUDA_DEVICES=fake python tests/stock/jiterator_test.py

Where the device runs code, NVRTC compiles them; where it runs none, the host's compiler of C++.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable
from typing import Any

import torch
from torch.cuda.jiterator import _create_jit_fn, _create_multi_output_jit_fn

_TYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex32, torch.complex64, torch.complex128),
)
_func: Any = torch.func  # its type lacks what it has
_SUM = "template <typename T> T sum_of(T x, T y, T z) { return x + y + z; }"
_AXPY = "template <typename T> T axpy(T x, T y, T a) { return a * x + y; }"


def unary(body: str, **numbers: Any) -> Callable[..., Any]:
    """A function of one element x, and of numbers."""
    parameters = "".join(f", T {name}" for name in numbers)
    return _create_jit_fn(
        f"template <typename T> T unary_function(T x{parameters}) {{ {body} }}", **numbers
    )


def served_by_the_host() -> bool:
    """Whether the device runs no code."""
    return torch.cuda.get_device_name().startswith("Fake")


def in_a_process(program: str, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own.

    Args:
        program: its source.
        *options: of the interpreter.
        **environ: environment variables that it has besides.
    """
    return subprocess.run(
        [sys.executable, *options, "-P", "-c", program],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


class JiteratorTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(5)

    def same(
        self, found: torch.Tensor, wanted: torch.Tensor, precision: float | None = None
    ) -> None:
        """Asserts that a result is on the device, and like the CPU's, with its layout."""
        self.assertEqual(found.device.type, "cuda")
        self.assertEqual(found.stride(), wanted.stride())
        torch.testing.assert_close(
            found.cpu(), wanted, rtol=precision, atol=precision, equal_nan=True
        )

    def test_every_type(self) -> None:
        square = unary("return x * x + x;")
        for dtype in _TYPES:
            with self.subTest(dtype=dtype):
                numbers = torch.arange(-8, 9).to(dtype)
                wide = dtype if dtype.is_complex or dtype.is_floating_point else torch.int64
                if dtype is torch.complex32:
                    wide = torch.complex64
                wanted = (numbers.to(wide) * numbers.to(wide) + numbers.to(wide)).to(dtype)
                self.same(square(numbers.cuda()), wanted)

    def test_types_are_promoted(self) -> None:
        add = _create_jit_fn(_SUM)
        some = [torch.uint8, torch.int16, torch.float16, torch.bfloat16, torch.float32, torch.bool]
        for dtypes in itertools.combinations(some, 3):
            tensors = [torch.randint(0, 9, (4,)).to(dtype) for dtype in dtypes]
            tensors[0] = tensors[0][0]  # without dimensions it counts less
            with self.subTest(dtypes=dtypes):
                x, y, z = tensors
                wanted = (x.double() + y.double() + z.double()).to((x + (y + z)).dtype)
                self.same(add(*(one.cuda() for one in tensors)), wanted)

    def test_half_precision_is_computed_in_single_precision(self) -> None:
        numbers = torch.randn(1000).half()
        wanted = (numbers.float() * numbers.float() * 300 / 7).half()
        self.same(unary("return x * x * 300 / 7;")(numbers.cuda()), wanted, 1e-3)

    def test_broadcast_and_layouts(self) -> None:
        axpy = _create_jit_fn(_AXPY, a=2)
        x = torch.randn(2, 3, 4, 5)
        for y in (
            *(x.transpose(1, 3).contiguous().transpose(1, 3), x[:, :1], x[0, 0], x[:1, :, :1]),
            *(torch.tensor(3.0), x.to(memory_format=torch.channels_last), x.permute(3, 1, 2, 0)),
        ):
            for first in (x, x.to(memory_format=torch.channels_last), x[:, :, ::2, 1:]):
                second = y
                if y.dim() == 4 and y.shape[0] == 5:
                    first, second = (
                        first.permute(3, 1, 2, 0),
                        y[: first.shape[3], :, : first.shape[2]],
                    )
                elif y.dim() >= 2:
                    second = y[..., : first.shape[-2], : first.shape[-1]]
                with self.subTest(first=first.stride(), second=second.stride()):
                    wanted = 2 * first + second
                    found = axpy(self.there(first), self.there(second))
                    # The CPU multiplies first, into a tensor that is dense.
                    order = torch.add(self.there(first), self.there(second)).stride()
                    self.assertEqual(found.stride(), order)
                    torch.testing.assert_close(found.cpu(), wanted)

    def there(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor in a copy of its whole storage on the device."""
        whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage()).cuda()
        return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def test_small_and_empty(self) -> None:
        twice = unary("return 2 * x;")
        self.same(twice(torch.tensor(3, device="cuda")), torch.tensor(6))
        self.same(twice(torch.ones(0, 3, device="cuda")), torch.ones(0, 3))
        # PyTorch compiles for elements only.
        self.same(unary("return undeclared;")(torch.ones(2, 0, device="cuda")), torch.ones(2, 0))

    def test_several_results(self) -> None:
        outs = "".join(f", T& o{i}" for i in range(8))
        body = "".join(f"o{i} = x + {i};" for i in range(8))
        eight = _create_multi_output_jit_fn(
            f"template <typename T> void eight(T x{outs}) {{ {body} }}", num_outputs=8
        )
        for dtype in (torch.float32, torch.float16, torch.int64):
            numbers = torch.arange(6).to(dtype)
            found = eight(numbers.cuda())
            self.assertIsInstance(found, tuple)
            for i, result in enumerate(found):
                self.same(result, numbers + i)
        one = _create_multi_output_jit_fn(
            "template <typename T> void one(T x, T y, T& out) { out = x - y; }", num_outputs=1
        )
        self.same(one(numbers.cuda(), numbers.cuda()), torch.zeros(6, dtype=torch.int64))

    def test_numbers(self) -> None:
        scale = unary("return x * by + T(plus);", by=1, plus=False)
        x = torch.arange(5)
        self.same(scale(x.cuda()), x)
        self.same(scale(x.cuda(), by=3, plus=True), x * 3 + 1)
        self.same(scale(x.cuda(), by=3.9), x * 3)  # a number of T
        self.same(scale(x.float().cuda(), by=-0.5), x * -0.5)
        self.same(scale(x.float().cuda(), by=torch.tensor(2.5)), x * 2.5)
        x = x.to(torch.complex128)
        self.same(scale(x.cuda(), by=1 + 2j), x * (1 + 2j))
        with self.assertRaisesRegex(KeyError, "not declared"):
            scale(x.cuda(), other=1)

    def test_helpers_macros_and_names(self) -> None:
        source = """template <typename T> T helper(T x, T y) { return ::sin(x) + ::cos(y); }
            #define TWICE(x) (2 * (x)) // { a comment
            /* } another */
            template <typename T> T new_function(T x, T y, T least) {
              auto lambda = [&](T z) { return TWICE(z); };
              return ::max(least, ::helper(x, lambda(y)));
            }"""
        x = torch.randn(50)
        found = _create_jit_fn(source, least=0.25)(x.cuda(), x.cuda())
        self.same(found, torch.clamp(x.sin() + (2 * x).cos(), min=0.25))
        for name in ("gamma", "index", "union_", "count"):
            found = _create_jit_fn(f"template <typename T> T {name}(T x) {{ return x + 1; }}")
            self.same(found(x.cuda()), x + 1)

    def test_cuda_mathematics(self) -> None:
        x = torch.rand(100, dtype=torch.float64) + 0.1
        for dtype in (torch.float32, torch.float64):
            for expression, wanted in {
                "rsqrt(x)": x.rsqrt(),
                "rcbrt(x)": x.pow(-1 / 3),
                "sinpi(x) + cospi(x)": (torch.pi * x).sin() + (torch.pi * x).cos(),
                "exp10(x)": torch.pow(10.0, x),
                "normcdf(x)": torch.special.ndtr(x),
                "erf(x) + lgamma(x) + expm1(x)": x.erf() + x.lgamma() + x.expm1(),
                "min(x, T(0.5)) + fmax(x, T(0.75))": x.clamp(max=0.5) + x.clamp(min=0.75),
                "isnan(x) || isinf(x) ? T(1) : abs(-x)": x,
            }.items():
                with self.subTest(expression=expression, dtype=dtype):
                    found = unary(f"return {expression};")(x.to(dtype).cuda())
                    self.same(found, wanted.to(dtype), 1e-5)

    def test_integers_wrap_around(self) -> None:
        for dtype in (torch.int8, torch.int32, torch.int64):
            x = torch.tensor([torch.iinfo(dtype).max, torch.iinfo(dtype).min, 77]).to(dtype)
            self.same(unary("return x * x + x;")(x.cuda()), x * x + x)
        x = torch.arange(-9, 10)
        for expression, wanted in {
            "x / 4": torch.div(x, 4, rounding_mode="trunc"),
            "x % 4": torch.fmod(x, 4),
            "x >> 1": x >> 1,
            "x << 3": x * 8,
            "x == 0 ? 0 : 9 / x": torch.tensor([int(9 / i) if i else 0 for i in x.tolist()]),
        }.items():
            with self.subTest(expression=expression):
                self.same(unary(f"return {expression};")(x.cuda()), wanted)

    def test_flags(self) -> None:
        bits = torch.tensor([2, 0, 7], dtype=torch.uint8)
        found = unary("return !x;")(bits.cuda().view(torch.bool))
        self.same(found, torch.tensor([False, True, False]))
        greater = _create_jit_fn("template <typename T> bool greater(T x) { return x > 0; }")
        self.same(greater(torch.arange(-2.0, 3).cuda()), torch.tensor([0.0, 0, 0, 1, 1]))

    def test_no_derivative(self) -> None:
        x = torch.ones(3, device="cuda", requires_grad=True)
        result = unary("return 2 * x;")(x)
        self.assertFalse(result.requires_grad)
        with torch.inference_mode():
            self.assertTrue(unary("return 2 * x;")(x).is_inference())

    def test_streams_and_threads(self) -> None:
        wrong: list[Any] = []

        def work(number: int) -> None:
            function = unary(f"return x * by + {number % 2};", by=1)
            with torch.cuda.stream(torch.cuda.Stream()):
                for i in range(20):
                    x = torch.full((2000,), i, device="cuda")
                    result = function(x, by=number)
                    x.fill_(-1)
                    if not bool((result == i * number + number % 2).all()):
                        wrong.append((number, i))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_graphs(self) -> None:
        hundredth = unary("return 100 / x;")
        for dtype in (torch.int64, torch.float16):
            x = torch.ones(4, 3, device="cuda", dtype=dtype)
            hundredth(x)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = hundredth(x.t()) + 1
            for i in (2, 5, 50):
                x.fill_(i)
                graph.replay()
                self.same(
                    result, torch.full((3, 4), 100 // i + 1, dtype=dtype).t().contiguous().t()
                )

    def test_errors_of_calls(self) -> None:
        add = _create_jit_fn(_SUM)
        x = torch.ones(3, device="cuda")
        with self.assertRaisesRegex(RuntimeError, "same device"):
            add(x, x, x.cpu())
        with self.assertRaisesRegex(RuntimeError, "must match the size"):
            add(x, x, x[:2])
        with self.assertRaisesRegex(RuntimeError, "not a Tensor"):
            add(x, x, 1)
        with self.assertRaisesRegex(AssertionError, "8 tensor inputs"):
            add(*[x] * 9)
        with self.assertRaises(RuntimeError):
            add(x)
        with self.assertRaises(RuntimeError):
            unary("return x;")(x.to(torch.float8_e4m3fn))
        self.same(add(x, x, x), torch.full((3,), 3.0))

    def test_errors_of_sources(self) -> None:
        x = torch.ones(3, device="cuda")
        with self.assertRaisesRegex(RuntimeError, r"(?s)missing.*(undefined|not declared)"):
            unary("return missing;")(x)
        with self.assertRaises(RuntimeError):
            _create_jit_fn("template <typename T> T union(T x) { return x; }")(x)
        self.same(unary("return x + 1;")(x), torch.full((3,), 2.0))


@unittest.skipUnless(served_by_the_host(), "the device runs code")
class HostTest(unittest.TestCase):
    """What only the host does, for a device that runs no code."""

    def test_what_cpp_leaves_undefined_is_refused(self) -> None:
        x = torch.arange(-3, 4, device="cuda")
        least = torch.tensor([torch.iinfo(torch.int64).min], device="cuda")
        for body, numbers, message in (
            ("return 7 / x;", x, "divides an integer by zero"),
            ("return 7 % x;", x, "divides an integer by zero"),
            ("return x / -1;", least, "the least integer by -1"),
            ("return 1 << x;", x, "negative count"),
            ("return x << 64;", x, "all of its bits"),
            ("return (int) (x * 1e10f);", x.float(), "outside of"),
            ("return llrint(x * 1e19f);", x.float(), "outside of"),
            ("return std::lround(x / 0);", x.double(), "outside of"),
            ("if (x > 0) return x;", x, "ends without returning a value"),
        ):
            with self.subTest(body=body), self.assertRaisesRegex(RuntimeError, message):
                unary(body)(numbers)
        torch.testing.assert_close(unary("return x + 1;")(x).cpu(), torch.arange(-2, 5))

    def test_fast_mathematics_of_cuda(self) -> None:
        x = torch.tensor([4.0, -4.0, torch.inf], device="cuda")
        for expression, wanted in {
            # By the logarithm, which negative numbers do not have.
            "__powf(x, 2.0f)": [16.0, torch.nan, torch.inf],
            "__fdividef(x, 3e38f)": [0.0, 0.0, torch.nan],
            "__fdividef(x, -8.0f)": [-0.5, 0.5, -torch.inf],
            "lrint(x > 4 ? 2.5f : x) + llround(3.5)": [8.0, 0.0, 6.0],
        }.items():
            with self.subTest(expression=expression):
                found = unary(f"return {expression};")(x).cpu()
                torch.testing.assert_close(found, torch.tensor(wanted), equal_nan=True)

    def test_torch_func_gets_no_derivative_of_zero(self) -> None:
        square = unary("return x * x;")
        x = torch.arange(3.0, device="cuda")
        with self.assertRaisesRegex(RuntimeError, "have no derivative"):
            _func.grad(lambda y: square(y).sum())(x)
        with self.assertRaisesRegex(RuntimeError, "have no derivative"):
            _func.jvp(square, (x,), (x,))
        found = _func.grad(lambda y: (square(x) * y).sum())(x)
        torch.testing.assert_close(found.cpu(), torch.tensor([0.0, 1.0, 4.0]))

    def test_torch_compile_does_not_compile_what_calls_it(self) -> None:
        from torch._dynamo.utils import counters

        scale = unary("return x * by;", by=1)
        counters.clear()
        compiled = torch.compile(lambda x, by: scale(x + 1, by=by) * 2, backend="eager")
        for by in (1, 2.5, 3):
            x = torch.arange(3.0)
            torch.testing.assert_close(compiled(x.cuda(), by).cpu(), (x + 1) * by * 2)
        # The function and what follows on the call, for each type of number, and again for a second number.
        self.assertLess(counters["frames"]["total"], 10)

    def test_first_calls_of_threads(self) -> None:
        program = """if True:
            import sys, threading, torch
            from torch_cuda_runtime._jiterator import _calls
            sys.setswitchinterval(1e-6)
            f = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x + 1; }")
            x = torch.ones(4, device="cuda")
            ready = threading.Barrier(8)
            def work():
                ready.wait()
                _calls._operator()
                assert f(x).tolist() == [2.0] * 4
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()"""
        done = in_a_process(program, "-W", "ignore")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_numbers_that_are_none(self) -> None:
        x = torch.ones(2, device="cuda")
        for number, error in (("a", TypeError), (None, TypeError), (1 << 63, OverflowError)):
            with self.assertRaisesRegex(error, "argument by of unary_function is"):
                unary("return x * by;", by=1)(x, by=number)

    def test_views_of_conjugates(self) -> None:
        x = torch.tensor([1 + 2j, 3 - 4j])
        same = unary("return x;")
        there = x.cuda()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            conjugates, numbers = same(there.conj()), same(there.conj().imag)
        graph.replay()
        for found in (same(there.conj()), conjugates):
            torch.testing.assert_close(found.cpu(), x.conj().resolve_conj())
        for found in (same(there.conj().imag), numbers):
            torch.testing.assert_close(found.cpu(), torch.tensor([-2.0, 4.0]))

    def test_a_replay_needs_no_interpreter(self) -> None:
        twice = unary("return 2 * x;")
        x = torch.ones(4, device="cuda")
        stream = torch.cuda.Stream()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            result = twice(x)
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100_000_000)
            graph.replay()
            # Copies of storages wait with Python's lock.
            found = result.untyped_storage().cpu()
        self.assertEqual(torch.tensor([], dtype=torch.float32).set_(found)[:4].tolist(), [2.0] * 4)

    def test_a_fault_in_a_replay_is_the_devices(self) -> None:
        program = """if True:
            import torch
            f = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return 7 / x; }")
            x = torch.ones(4, device="cuda", dtype=torch.int32)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                f(x)
            graph.replay()
            x.zero_()
            graph.replay()
            torch.cuda.synchronize()"""
        done = in_a_process(program)
        self.assertIn(
            "torch.cuda.jiterator: f failed in a CUDA graph on cuda:0: it divides an integer by zero",
            done.stderr,
        )
        self.assertIn("device-side assert triggered", done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_no_compiler(self) -> None:
        program = """if True:
            import torch
            f = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x + 4711; }")
            f(torch.ones(4, device="cuda"))"""
        done = in_a_process(program, CXX="/nowhere/g++")
        self.assertRegex(
            done.stderr, r"RuntimeError: torch.cuda.jiterator: f is computed by the host"
        )
        self.assertIn("found no compiler of C++ (CXX=/nowhere/g++); needed", done.stderr)

    def test_a_process_may_end_while_a_graph_is_replayed(self) -> None:
        program = """if True:
            import torch
            f = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x + 1; }")
            x = torch.ones(4, device="cuda")
            f(x)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                f(x)
            torch.cuda._sleep(100_000_000)
            graph.replay()"""
        done = in_a_process(program, "-W", "ignore")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_router_serves_it(self) -> None:
        import torch_cuda_runtime

        unary("return x;")(torch.ones(2, device="cuda"))
        self.assertEqual(torch_cuda_runtime.served_by("torch_cuda_runtime::jiterator"), "host")


if __name__ == "__main__":
    unittest.main()
