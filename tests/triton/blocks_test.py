"""Triton's operators on blocks: products, reductions, scans, shapes, atomics, pointers, loops, tuning."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from absl.testing import absltest, parameterized

INTEGERS = (torch.int32, torch.int64)
FLOATS = (torch.float16, torch.float32, torch.float64)


def matrix(rows: int, columns: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Numbers on the CPU; whole ones for whole types."""
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(rows, columns, generator=generator).to(dtype)
    return torch.randint(-9, 9, (rows, columns), generator=generator, dtype=dtype)


@triton.jit
def _dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    left = tl.load(a + i[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + j[None, :])
    tl.store(
        c + i[:, None] * N + j[None, :],
        tl.dot(left, right, input_precision=PRECISION, out_dtype=c.dtype.element_ty),
    )


@triton.autotune(
    configs=[
        triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_stages=3, num_warps=4),
        triton.Config({"BM": 64, "BN": 32, "BK": 16}, num_stages=2, num_warps=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def _matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        at = start + k
        left = tl.load(
            a + i[:, None] * K + at[None, :], mask=(i[:, None] < M) & (at[None, :] < K), other=0.0
        )
        right = tl.load(
            b + at[:, None] * N + j[None, :], mask=(at[:, None] < K) & (j[None, :] < N), other=0.0
        )
        sums = tl.dot(left, right, sums)
    tl.store(c + i[:, None] * N + j[None, :], sums, mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def _product(x, y):
    return x * y


@triton.jit
def _reduce(x, out, M: tl.constexpr, N: tl.constexpr, OPERATOR: tl.constexpr, AXIS: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    block = tl.load(x + i[:, None] * N + j[None, :])
    if OPERATOR == "sum":
        found = tl.sum(block, AXIS)
    elif OPERATOR == "amax":
        found = tl.max(block, AXIS)
    elif OPERATOR == "amin":
        found = tl.min(block, AXIS)
    elif OPERATOR == "argmax":
        found = tl.argmax(block, AXIS)
    elif OPERATOR == "argmin":
        found = tl.argmin(block, AXIS)
    elif OPERATOR == "prod":
        found = tl.reduce(block, AXIS, _product)
    elif OPERATOR == "xor":
        found = tl.xor_sum(block, AXIS)
    tl.store(out + (j if AXIS == 0 else i), found)


@triton.jit
def _scan(x, out, M: tl.constexpr, N: tl.constexpr, OPERATOR: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    block = tl.load(x + at)
    if OPERATOR == "cumsum":
        found = tl.cumsum(block, AXIS)
    elif OPERATOR == "cumprod":
        found = tl.cumprod(block, AXIS)
    elif OPERATOR == "backwards":
        found = tl.associative_scan(block, AXIS, _product, reverse=True)
    elif OPERATOR == "sort":
        found = tl.sort(block, AXIS)
    elif OPERATOR == "flip":
        found = tl.flip(block, AXIS)
    tl.store(out + at, found)


@triton.jit
def _shapes(x, transposed, reshaped, joined, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    block = tl.load(x + at)
    tl.store(transposed + at, tl.trans(block))
    tl.store(reshaped + tl.arange(0, N * N), tl.reshape(block, (N * N,)))
    row = tl.load(x + i)
    second = tl.load(x + N + i)
    pairs = tl.join(row, second)
    tl.store(joined + i[:, None] * 2 + tl.arange(0, 2)[None, :], pairs)
    first, other = tl.split(pairs)
    tl.store(joined + 2 * N + tl.arange(0, 2 * N), tl.interleave(first, other))


@triton.jit
def _atomics(out, x, N: tl.constexpr, OPERATOR: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(x + i)
    at = out + i % 4
    if OPERATOR == "add":
        tl.atomic_add(at, value)
    elif OPERATOR == "max":
        tl.atomic_max(at, value)
    elif OPERATOR == "min":
        tl.atomic_min(at, value)
    elif OPERATOR == "and":
        tl.atomic_and(at, value)
    elif OPERATOR == "or":
        tl.atomic_or(at, value)
    elif OPERATOR == "xor":
        tl.atomic_xor(at, value)


@triton.jit
def _lock(mutex, total, ROUNDS: tl.constexpr):
    for _ in range(ROUNDS):
        while tl.atomic_cas(mutex, 0, 1) == 1:
            pass
        tl.store(total, tl.load(total) + 1)
        tl.debug_barrier()
        tl.atomic_xchg(mutex, 0)


@triton.jit
def _softmax(x, out, columns, N: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, N)
    inside = j < columns
    values = tl.load(x + row * columns + j, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + j, powers / tl.sum(powers, 0), mask=inside)


@triton.jit
def _attention(q, k, v, out, LENGTH: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, WIDTH)
    queries = tl.load(q + i[:, None] * WIDTH + d[None, :])
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    sums = tl.zeros((BLOCK, WIDTH), tl.float32)
    for start in range(0, LENGTH, BLOCK):
        j = start + tl.arange(0, BLOCK)
        keys = tl.load(k + j[None, :] * WIDTH + d[:, None])
        scores = tl.dot(queries, keys) / tl.sqrt(WIDTH * 1.0)
        scores = tl.where(i[:, None] >= j[None, :], scores, -float("inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - higher[:, None])
        scale = tl.exp(most - higher)
        total = total * scale + tl.sum(weights, 1)
        values = tl.load(v + j[:, None] * WIDTH + d[None, :])
        sums = sums * scale[:, None] + tl.dot(weights.to(values.dtype), values)
        most = higher
    tl.store(out + i[:, None] * WIDTH + d[None, :], sums / total[:, None])


@triton.jit
def _block_pointers(x, out, M, N, BLOCK: tl.constexpr):
    source = tl.make_block_ptr(
        x,
        shape=(M, N),
        strides=(N, 1),
        offsets=(tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK),
        block_shape=(BLOCK, BLOCK),
        order=(1, 0),
    )
    target = tl.make_block_ptr(
        out,
        shape=(N, M),
        strides=(M, 1),
        offsets=(tl.program_id(1) * BLOCK, tl.program_id(0) * BLOCK),
        block_shape=(BLOCK, BLOCK),
        order=(1, 0),
    )
    block = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    tl.store(target, tl.trans(block), boundary_check=(0, 1))


@triton.jit
def _histogram(x, out, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


@triton.jit
def _collatz(x, out, N: tl.constexpr):
    number = tl.load(x + tl.program_id(0))
    steps = 0
    while number != 1:
        if number % 2 == 0:  # noqa: SIM108 - a branch of the kernel is what is tested
            number = number // 2
        else:
            number = 3 * number + 1
        steps += 1
    tl.store(out + tl.program_id(0), steps)


class BlocksTest(parameterized.TestCase):
    @parameterized.parameters(
        (torch.float16, torch.float32, "tf32", 1e-3),
        (torch.float16, torch.float16, "tf32", 1e-2),
        (torch.bfloat16, torch.float32, "tf32", 1e-3),
        (torch.float32, torch.float32, "tf32", 3e-2),
        (torch.float32, torch.float32, "tf32x3", 1e-5),
        (torch.float32, torch.float32, "ieee", 1e-5),
        (torch.int8, torch.int32, "ieee", 0),
    )
    def test_products(
        self, dtype: torch.dtype, to: torch.dtype, precision: str, error: float
    ) -> None:
        for m, n, k in ((16, 16, 32), (64, 32, 64), (16, 128, 32)):
            a, b = matrix(m, k, dtype), matrix(k, n, dtype, 1)
            c = torch.empty(m, n, dtype=to, device="cuda")
            _dot[(1,)](a.cuda(), b.cuda(), c, M=m, N=n, K=k, PRECISION=precision)
            exact = a.double() @ b.double()
            torch.testing.assert_close(
                c.cpu().double(), exact, rtol=error, atol=error * float(exact.abs().max())
            )

    @parameterized.parameters(torch.float16, torch.float32)
    def test_a_product_in_blocks_is_tuned(self, dtype: torch.dtype) -> None:
        a, b = matrix(100, 90, dtype), matrix(90, 70, dtype, 1)
        c = torch.empty(100, 70, device="cuda")

        def grid(meta: dict[str, int]) -> tuple[int, int]:
            return triton.cdiv(100, meta["BM"]), triton.cdiv(70, meta["BN"])

        _matmul[grid](a.cuda(), b.cuda(), c, 100, 70, 90)
        torch.testing.assert_close(c.cpu(), a.float() @ b.float(), rtol=2e-3, atol=3e-2)
        self.assertIsNotNone(_matmul.best_config)

    @parameterized.product(
        operator=("sum", "amax", "amin", "argmax", "argmin", "prod"),
        dtype=(*INTEGERS, *FLOATS),
        axis=(0, 1),
    )
    def test_reductions(self, operator: str, dtype: torch.dtype, axis: int) -> None:
        x = matrix(32, 64, dtype)
        if operator == "prod":
            x = x.sign().where(x != 0, torch.ones_like(x))
        whole = operator.startswith("arg")
        out = torch.empty(
            64 if axis == 0 else 32, dtype=torch.int32 if whole else dtype, device="cuda"
        )
        _reduce[(1,)](x.cuda(), out, M=32, N=64, OPERATOR=operator, AXIS=axis)
        if whole:
            best = x.gather(axis, out.cpu().long().unsqueeze(axis)).squeeze(axis)
            self.assertTrue(torch.equal(best, getattr(x, "a" + operator[3:])(axis)))
        elif operator == "sum" and dtype.is_floating_point:
            error = 2e-2 if dtype is torch.float16 else 1e-5
            torch.testing.assert_close(out.cpu(), x.sum(axis), rtol=error, atol=error)
        else:
            self.assertTrue(torch.equal(out.cpu(), getattr(x, operator)(axis).to(dtype)))

    def test_xor_sum(self) -> None:
        x = matrix(32, 64, torch.int32)
        out = torch.empty(32, dtype=torch.int32, device="cuda")
        _reduce[(1,)](x.cuda(), out, M=32, N=64, OPERATOR="xor", AXIS=1)
        expected = x[:, 0].clone()
        for column in range(1, 64):
            expected ^= x[:, column]
        self.assertTrue(torch.equal(out.cpu(), expected))

    @parameterized.product(
        operator=("cumsum", "cumprod", "backwards"),
        dtype=(torch.int32, torch.float32),
        axis=(0, 1),
    )
    def test_scans(self, operator: str, dtype: torch.dtype, axis: int) -> None:
        x = matrix(16, 32, dtype)
        if operator != "cumsum":
            x = x.sign().where(x != 0, torch.ones_like(x))
        out = torch.empty(16, 32, dtype=dtype, device="cuda")
        _scan[(1,)](x.cuda(), out, M=16, N=32, OPERATOR=operator, AXIS=axis)
        if operator == "backwards":
            expected = x.flip(axis).cumprod(axis).flip(axis)
        else:
            expected = getattr(x, operator)(axis)
        torch.testing.assert_close(out.cpu(), expected.to(dtype), rtol=1e-5, atol=1e-5)

    @parameterized.parameters(torch.int32, torch.float32)
    def test_sorting(self, dtype: torch.dtype) -> None:
        x = matrix(16, 32, dtype)
        out = torch.empty(16, 32, dtype=dtype, device="cuda")
        _scan[(1,)](x.cuda(), out, M=16, N=32, OPERATOR="sort", AXIS=1)
        self.assertTrue(torch.equal(out.cpu(), x.sort(1).values))
        _scan[(1,)](x.cuda(), out, M=16, N=32, OPERATOR="flip", AXIS=1)
        self.assertTrue(torch.equal(out.cpu(), x.flip(1)))

    def test_shapes(self) -> None:
        x = matrix(32, 32, torch.float32)
        transposed, reshaped = (torch.empty(32, 32, device="cuda") for _ in range(2))
        joined = torch.empty(4 * 32, device="cuda")
        _shapes[(1,)](x.cuda(), transposed, reshaped, joined, N=32)
        self.assertTrue(torch.equal(transposed.cpu(), x.t()))
        self.assertTrue(torch.equal(reshaped.cpu(), x))
        pairs = torch.stack((x[0], x[1]), 1).flatten()
        self.assertTrue(torch.equal(joined.cpu(), torch.cat((pairs, pairs))))

    @parameterized.parameters(
        *(("add", dtype) for dtype in (torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)),
        *((name, dtype) for name in ("max", "min") for dtype in (torch.int32, torch.int64, torch.float32)),
        *((name, torch.int32) for name in ("and", "or", "xor")),
    )  # fmt: skip
    def test_atomics(self, operator: str, dtype: torch.dtype) -> None:
        x = matrix(1, 512, dtype).flatten()
        start = {"max": -1000, "min": 1000, "and": -1}.get(operator, 0)
        out = torch.full((4,), start, dtype=dtype, device="cuda")
        _atomics[(4,)](out, x.cuda(), N=128, OPERATOR=operator)
        columns = x.reshape(128, 4)
        if operator == "add":
            error = 5e-2 if dtype is torch.float16 else 1e-4
            torch.testing.assert_close(out.cpu(), columns.sum(0).to(dtype), rtol=error, atol=error)
            return
        if operator in ("max", "min"):
            expected = getattr(columns, "a" + operator)(0)
        else:
            expected = torch.full((4,), start, dtype=dtype)
            for row in columns:
                if operator == "and":
                    expected &= row
                elif operator == "or":
                    expected |= row
                else:
                    expected ^= row
        self.assertTrue(torch.equal(out.cpu(), expected))

    def test_blocks_take_turns(self) -> None:
        mutex = torch.zeros(1, dtype=torch.int32, device="cuda")
        total = torch.zeros(1, dtype=torch.int32, device="cuda")
        _lock[(6,)](mutex, total, ROUNDS=5)
        self.assertEqual(total.item(), 30)

    def test_softmax(self) -> None:
        x = matrix(9, 100, torch.float32)
        out = torch.empty(9, 100, device="cuda")
        _softmax[(9,)](x.cuda(), out, 100, N=128)
        torch.testing.assert_close(out.cpu(), x.softmax(1))

    def test_attention(self) -> None:
        q, k, v = (matrix(64, 32, torch.float16, seed) for seed in range(3))
        out = torch.empty(64, 32, device="cuda")
        _attention[(4,)](q.cuda(), k.cuda(), v.cuda(), out, LENGTH=64, WIDTH=32, BLOCK=16)
        expected = torch.nn.functional.scaled_dot_product_attention(
            q.float()[None], k.float()[None], v.float()[None], is_causal=True
        )
        torch.testing.assert_close(out.cpu(), expected[0], rtol=1e-2, atol=1e-2)

    def test_block_pointers(self) -> None:
        x = matrix(50, 40, torch.float32)
        out = torch.empty(40, 50, device="cuda")
        _block_pointers[(4, 3)](x.cuda(), out, 50, 40, BLOCK=16)
        self.assertTrue(torch.equal(out.cpu(), x.t()))

    def test_histogram(self) -> None:
        x = torch.randint(0, 16, (256,), dtype=torch.int32)
        out = torch.empty(16, dtype=torch.int32, device="cuda")
        _histogram[(1,)](x.cuda(), out, N=256, BINS=16)
        self.assertEqual(out.tolist(), torch.bincount(x, minlength=16).tolist())

    def test_loops_that_depend_on_data(self) -> None:
        x = torch.tensor([1, 6, 7, 27], dtype=torch.int32, device="cuda")
        out = torch.empty_like(x)
        _collatz[(4,)](x, out, N=4)
        self.assertEqual(out.tolist(), [0, 8, 16, 111])


if __name__ == "__main__":
    absltest.main()
