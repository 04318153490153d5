"""What compilers make of programs on the simulated device, held against the CPU without a compiler.

    ./bazelw test //tests/stock:compilers_2.15_sim_test
    TORCH_CUDA_SIM=1 python tests/stock/compilers_test.py

Needs Triton of PyPI and a C compiler. Tests of NVIDIA's compilers need packages of PyPI (nvidia-cuda-nvrtc,
nvidia-cuda-nvcc, nvidia-nvvm, nvidia-cuda-crt, nvidia-cuda-runtime, nvidia-cuda-cccl) and are skipped without.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import os
import pathlib
import sysconfig
import tempfile
import unittest
from collections.abc import Callable, Sequence
from unittest import mock

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp())


import numpy as np
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


class Attention(nn.Module):
    """Heads over a sequence, with what stands before added."""

    def __init__(self) -> None:
        super().__init__()
        self.input = nn.Linear(16, 48)
        self.output = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        """Of [batch, length, 16]."""
        q, k, v = self.input(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        result: Tensor = x + self.output(found)
        return result


class Convolutional(nn.Module):
    """A convolution, batch norm and pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.last = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        """Of [batch, 3, height, width]."""
        features = F.relu(self.norm(self.first(x)))
        result: Tensor = self.last(F.max_pool2d(features, 2).mean((2, 3)))
        return result


def perceptron() -> nn.Module:
    """Two layers."""
    return nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 16))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "attention": (Attention, (2, 6, 16)),
    "convolutional": (Convolutional, (2, 3, 8, 8)),
    "perceptron": (perceptron, (8, 32)),
}


def gradients(run: Callable[[Tensor], Tensor], model: nn.Module, x: Tensor) -> list[Tensor]:
    """The result and the gradients of the sum of its squares."""
    model.zero_grad()
    result = run(x)
    result.square().sum().backward()
    return [result.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


@triton.autotune([triton.Config({"BLOCK": size}) for size in (64, 256)], key=["count"])
@triton.heuristics({"EVEN": lambda given: given["count"] % given["BLOCK"] == 0})
@triton.jit
def scaled_sine(x, out, factor, count, BLOCK: tl.constexpr, EVEN: tl.constexpr) -> None:  # type: ignore[no-untyped-def]
    """A kernel of a user's: out = factor * sin(x)."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out + places, factor * tl.sin(tl.load(x + places)))
    else:
        inside = places < count
        tl.store(out + places, factor * tl.sin(tl.load(x + places, mask=inside)), mask=inside)


@torch.library.triton_op("stock_test::scaled_sine", mutates_args={})
def scaled_sine_operator(x: Tensor, factor: float) -> Tensor:
    """The kernel as an operator, which compilers look into."""
    out = torch.empty_like(x)
    count = x.numel()
    torch.library.wrap_triton(scaled_sine)[lambda given: (triton.cdiv(count, given["BLOCK"]),)](
        x, out, factor, count
    )
    return out


# PyTorch calls it by these names.
def _keep(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0])
    ctx.factor = inputs[1]


def _slope(ctx, gradient):  # type: ignore[no-untyped-def]
    (x,) = ctx.saved_tensors
    return gradient * ctx.factor * x.cos(), None


scaled_sine_operator.register_autograd(_slope, setup_context=_keep)


@triton.jit
def random_bits(out, seed, count: tl.constexpr) -> None:  # type: ignore[no-untyped-def]
    """What tl.rand and its kin are made of."""
    places = tl.arange(0, count)
    tl.store(out + places, tl.randint(seed, places))


def philox(seed: int, count: int) -> list[int]:
    """The first word of Philox4x32-10 for each counter. Source: Salmon et al., Parallel Random Numbers, 2011."""
    words = []
    for place in range(count):
        a, b, c, d = place, 0, 0, 0
        keys = [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
            a, b = second >> 32 ^ b ^ keys[0], second & 0xFFFFFFFF
            c, d = first >> 32 ^ d ^ keys[1], first & 0xFFFFFFFF
            keys = [
                (keys[0] + 0x9E3779B9) & 0xFFFFFFFF,
                (keys[1] + 0xBB67AE85) & 0xFFFFFFFF,
            ]
        words.append(a)
    return words


def of_nvidia(name: str) -> pathlib.Path | None:
    """A file of NVIDIA's packages for this torch's CUDA, or None."""
    major = (torch.version.cuda or "").partition(".")[0]
    folder = "cu13" if major == "13" else "cuda_nvrtc"
    found = importlib.util.find_spec("nvidia")
    for place in (found and found.submodule_search_locations) or ():
        file = pathlib.Path(place) / folder / name
        if file.exists():
            return file
    return None


def no_other_torch(folder: pathlib.Path) -> contextlib.AbstractContextManager[object]:
    """Links programs without the torch of a distribution, which lies beside its Python's library and is found first.

    Args:
        folder: an empty one, for the linker to look into.
    """
    return mock.patch.dict(sysconfig.get_config_vars(), LIBDIR=str(folder))


def needs_nvrtc() -> None:
    """Skips a test where NVRTC is not there."""
    major = (torch.version.cuda or "").partition(".")[0]
    if "TORCH_CUDA_NVRTC_PATH" not in os.environ and of_nvidia(f"lib/libnvrtc.so.{major}") is None:
        raise unittest.SkipTest("NVRTC is not there: pip install nvidia-cuda-nvrtc")


class CompilersTest(unittest.TestCase):
    """Each compiler by its own entrance."""

    def setUp(self) -> None:
        torch.manual_seed(0)
        torch._dynamo.reset()

    def close(
        self, found: Sequence[Tensor], expected: Sequence[Tensor], limit: float = 1e-5
    ) -> None:
        """Fails where a tensor is not the CPU's."""
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one.cpu(), other, rtol=10 * limit, atol=limit)

    def with_cuda_home(self) -> pathlib.Path:
        """Has this test build with NVIDIA's compiler and headers of PyPI, laid out as its installer does.

        Where they are not there, with those of CUDA_HOME; skips the test where that is not set.
        """
        from torch.utils import cpp_extension

        nvcc = of_nvidia("bin/nvcc")
        if nvcc is not None:
            root = nvcc.parent.parent
            home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
            for name in ("bin", "include", "nvvm"):
                (home / name).symlink_to(root / name)
            (home / "lib64").mkdir()
            (home / "lib64" / "libcudart.so").symlink_to(root / "lib" / "libcudart.so.13")
        elif "CUDA_HOME" in os.environ:
            home = pathlib.Path(os.environ["CUDA_HOME"])
        else:
            self.skipTest(
                "CUDA's compiler and headers are not there: pip install nvidia-cuda-nvcc, -crt, -runtime, -cccl, "
                "nvidia-nvvm"
            )
        self.enterContext(mock.patch.dict(os.environ, {"CUDA_HOME": str(home)}))
        self.enterContext(mock.patch.object(cpp_extension, "CUDA_HOME", str(home)))
        return home

    def test_models_forward_and_backward(self) -> None:
        for name, (make, shape) in MODELS.items():
            for dynamic in (False, True):
                with self.subTest(name, dynamic=dynamic):
                    torch._dynamo.reset()
                    on_cpu = make()
                    model = copy.deepcopy(on_cpu).cuda()
                    compiled = torch.compile(model, dynamic=dynamic)
                    for batch in (shape[0], shape[0] + 3) if dynamic else (shape[0],):
                        x = torch.randn(batch, *shape[1:])
                        found = gradients(compiled, model, x.cuda())
                        self.close(found, gradients(on_cpu, on_cpu, x))

    def test_reduce_overhead_replays_graphs(self) -> None:
        on_cpu = perceptron()
        model = copy.deepcopy(on_cpu).cuda()
        compiled = torch.compile(model, mode="reduce-overhead")
        with torch.no_grad():
            for _ in range(5):
                torch.compiler.cudagraph_mark_step_begin()
                x = torch.randn(8, 32)
                self.close([compiled(x.cuda())], [on_cpu(x)])

    def test_masks_of_reduce_overhead_differ(self) -> None:
        compiled = torch.compile(lambda x: F.dropout(x, 0.5), mode="reduce-overhead")
        x = torch.ones(4096, device="cuda")
        found = []
        for _ in range(6):
            torch.compiler.cudagraph_mark_step_begin()
            found.append(compiled(x).clone())
        for i, one in enumerate(found):
            self.assertAlmostEqual((one == 0).float().mean().item(), 0.5, delta=0.05)
            self.assertFalse(any(torch.equal(one, other) for other in found[:i]))

    def test_max_autotune_takes_the_library_s_product(self) -> None:
        a, b = torch.randn(64, 48), torch.randn(48, 32)
        compiled = torch.compile(lambda a, b: (a @ b).relu() + 1, mode="max-autotune")
        self.close([compiled(a.cuda(), b.cuda())], [(a @ b).relu() + 1])

    def test_flex_attention(self) -> None:
        def causal(_batch: Tensor, _head: Tensor, row: Tensor, column: Tensor) -> Tensor:
            return row >= column

        size = 128
        mask = create_block_mask(causal, None, None, size, size, device="cuda")
        q, k, v = (torch.randn(2, 2, size, 16, requires_grad=True) for _ in range(3))
        on_cuda = [one.detach().cuda().requires_grad_() for one in (q, k, v)]
        weight = torch.randn(2, 2, size, 16)
        expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        compiled = torch.compile(flex_attention)
        found = compiled(on_cuda[0], on_cuda[1], on_cuda[2], block_mask=mask)
        assert isinstance(found, Tensor)
        (expected * weight).sum().backward()
        (found * weight.cuda()).sum().backward()
        self.close([found.detach()], [expected.detach()], 1e-3)
        for one, other in zip(on_cuda, (q, k, v), strict=True):
            assert one.grad is not None and other.grad is not None
            self.close([one.grad], [other.grad], 1e-3)

    def test_triton_kernels_of_users(self) -> None:
        for count in (512, 300):
            # With a symbolic size inductor 2.15 writes the heuristics' value as a formula of sympy's.
            torch._dynamo.reset()
            x = torch.randn(count, requires_grad=True)
            on_cuda = x.detach().cuda().requires_grad_()
            with torch.no_grad():
                self.close([scaled_sine_operator(on_cuda, 3.0)], [3 * x.sin()])
            compiled = torch.compile(lambda x: scaled_sine_operator(x * 2, 3.0) + 1)
            found = compiled(on_cuda)
            self.close([found.detach()], [(3 * (2 * x).sin() + 1).detach()])
            found.square().sum().backward()
            (3 * (2 * x).sin() + 1).square().sum().backward()
            assert on_cuda.grad is not None and x.grad is not None
            self.close([on_cuda.grad], [x.grad], 1e-4)

    def test_triton_s_random_numbers_are_philox_s(self) -> None:
        for seed in (0, 1234, (5 << 32) + 77):
            found = torch.empty(128, dtype=torch.int32, device="cuda")
            random_bits[(1,)](found, seed, 128)
            np.testing.assert_array_equal(
                found.cpu().numpy().view(np.uint32), np.array(philox(seed, 128), np.uint32)
            )

    def test_compiled_random_numbers(self) -> None:
        compiled = torch.compile(
            lambda n: (
                torch.rand(n, device="cuda"),
                torch.randn(n, device="cuda"),
                torch.randint(0, 7, (n,), device="cuda"),
            )
        )
        size = 20000
        torch.manual_seed(3)
        found = [one.double().cpu() for one in (*compiled(size), *compiled(size))]
        torch.manual_seed(3)
        for one, other in zip(compiled(size), found[:3], strict=True):
            self.assertTrue(torch.equal(one.double().cpu(), other))
        for one, mean, deviation in zip(found, (0.5, 0, 3) * 2, (12**-0.5, 1, 2) * 2, strict=True):
            self.assertAlmostEqual(one.mean().item(), mean, delta=5 * deviation / size**0.5)
            self.assertAlmostEqual(one.std().item(), deviation, delta=0.03 * deviation)
        related = torch.corrcoef(torch.stack(found)) - torch.eye(len(found))
        self.assertLess(related.abs().max().item(), 5 / size**0.5)

    def test_random_numbers_may_be_those_without_a_compiler(self) -> None:
        def noisy(x: Tensor) -> Tensor:
            return F.dropout(x, 0.3) + torch.rand_like(x)

        x = torch.ones(1000, device="cuda")
        with torch._inductor.config.patch(fallback_random=True):
            compiled = torch.compile(noisy)
            torch.manual_seed(5)
            found = compiled(x)
        torch.manual_seed(5)
        self.close([found], [noisy(x).cpu()])

    def test_masks_are_the_same_in_the_backward_pass(self) -> None:
        for functionalized in (False, True):
            with (
                self.subTest(functionalized=functionalized),
                torch._functorch.config.patch(functionalize_rng_ops=functionalized),
            ):
                torch._dynamo.reset()
                compiled = torch.compile(lambda x: F.dropout(x * x, 0.5))
                x = torch.ones(4096, device="cuda", requires_grad=True)
                found = compiled(x)
                found.sum().backward()
                assert x.grad is not None
                # Of x * x by the mask's 0 or 2.
                self.close([x.grad], [2 * found.detach().cpu()])
                self.assertAlmostEqual((found == 0).float().mean().item(), 0.5, delta=0.05)

    def test_optimizer(self) -> None:
        on_cpu = perceptron()
        model = copy.deepcopy(on_cpu).cuda()
        optimizers = [torch.optim.AdamW(one.parameters(), lr=1e-2) for one in (model, on_cpu)]
        steps = [torch.compile(optimizers[0].step), optimizers[1].step]
        for _ in range(3):
            x = torch.randn(8, 32)
            for one, step, inputs in zip((model, on_cpu), steps, (x.cuda(), x), strict=True):
                gradients(one, one, inputs)
                step()
        self.close(list(model.parameters()), list(on_cpu.parameters()), 1e-4)

    def test_compiled_autograd(self) -> None:
        on_cpu = perceptron()
        model = copy.deepcopy(on_cpu).cuda()
        x = torch.randn(8, 32)
        with torch._dynamo.config.patch(compiled_autograd=True):
            compiled = torch.compile(lambda x: gradients(model, model, x))
            found = compiled(x.cuda())
        self.close(found, gradients(on_cpu, on_cpu, x), 1e-4)

    def test_exported_programs(self) -> None:
        on_cpu = Attention().eval()
        model = copy.deepcopy(on_cpu).cuda()
        length = torch.export.Dim("length", min=2, max=32)
        program = torch.export.export(
            model, (torch.randn(2, 6, 16, device="cuda"),), dynamic_shapes=({1: length},)
        )
        for size in (6, 9):
            x = torch.randn(2, size, 16)
            self.close([program.module()(x.cuda()).detach()], [on_cpu(x).detach()])

    def test_ahead_of_time(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.with_cuda_home()
        on_cpu = perceptron().eval()
        model = copy.deepcopy(on_cpu).cuda()
        batch = torch.export.Dim("batch", min=1, max=64)
        (folder / "empty").mkdir()
        with torch.no_grad(), no_other_torch(folder / "empty"):
            program = torch.export.export(
                model, (torch.randn(8, 32, device="cuda"),), dynamic_shapes=({0: batch},)
            )
            package = torch._inductor.aoti_compile_and_package(
                program, package_path=str(folder / "model.pt2")
            )
            run = torch._inductor.aoti_load_package(package)
            for size in (8, 3):
                x = torch.randn(size, 32)
                self.close([run(x.cuda())], [on_cpu(x)])

    def test_kernels_of_nvrtc(self) -> None:
        needs_nvrtc()
        x, y = torch.randn(300), torch.randn(300)
        jiterated = torch.cuda.jiterator._create_jit_fn(
            "template <typename T> T combine(T x, T y, T z) { return z * x + y * y; }", z=2.0
        )
        self.close([jiterated(x.cuda(), y.cuda(), z=3.0)], [3 * x + y * y])
        compile_kernel = getattr(torch.cuda, "_compile_kernel", None)
        if compile_kernel is None:
            return
        reverse = compile_kernel(
            """extern "C" __global__ void reverse(const float* from, float* to, int count) {
                __shared__ float held[256];
                const int i = threadIdx.x;
                if (i < count) held[i] = from[i];
                __syncthreads();
                if (i < count) to[i] = held[count - 1 - i];
            }""",
            "reverse",
        )
        found = torch.empty(200, device="cuda")
        reverse(grid=(1, 1, 1), block=(256, 1, 1), args=[x[:200].cuda(), found, 200])
        self.close([found], [x[:200].flip(0)], 0)

    def test_extensions_in_cuda(self) -> None:
        if not (self.with_cuda_home() / "bin" / "nvcc").exists():
            self.skipTest("nvcc is not there")
        if importlib.util.find_spec("ninja") is None:
            self.skipTest("ninja is not there: pip install ninja")
        from torch.utils import cpp_extension

        os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0+PTX"
        extension = cpp_extension.load_inline(
            "doubling",
            "torch::Tensor doubled(torch::Tensor x);",
            """__global__ void twice(const float* x, float* out, int count) {
                const int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < count) out[i] = 2 * x[i];
            }
            torch::Tensor doubled(torch::Tensor x) {
                auto out = torch::empty_like(x);
                twice<<<(x.numel() + 127) / 128, 128>>>(
                    x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
                return out;
            }""",
            functions=["doubled"],
            build_directory=self.enterContext(tempfile.TemporaryDirectory()),
        )
        x = torch.randn(1000)
        self.close([extension.doubled(x.cuda())], [2 * x], 0)


if __name__ == "__main__":
    unittest.main()
