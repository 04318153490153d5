"""What kernels write arrives: running statistics, results in a tensor that is an argument as well."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest, parameterized

_func: Any = torch.func


class WritesTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("batch_norm", lambda: torch.nn.BatchNorm1d(3), (8, 3)),
        ("batch_norm_of_images", lambda: torch.nn.BatchNorm2d(3), (8, 3, 2, 2)),
        ("without_momentum", lambda: torch.nn.BatchNorm1d(3, momentum=None), (8, 3)),
        ("instance_norm", lambda: torch.nn.InstanceNorm1d(3, track_running_stats=True), (8, 3, 5)),
    )
    def test_running_statistics(
        self, make: Callable[[], torch.nn.Module], sizes: tuple[int, ...]
    ) -> None:
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            host = make()
            device = copy.deepcopy(host).to("cuda", dtype)
            for step in range(3):
                x = torch.randn(sizes, generator=torch.Generator().manual_seed(step)) + 5
                host(x)
                device(x.to("cuda", dtype))
            tolerance = {torch.float32: 1e-5, torch.float16: 1e-2}.get(dtype, 5e-2)
            for name, buffer in host.named_buffers():
                mine = device.get_buffer(name).cpu().to(buffer.dtype)
                torch.testing.assert_close(mine, buffer, rtol=tolerance, atol=tolerance)
            x = torch.ones(sizes)
            torch.testing.assert_close(
                device.eval()(x.to("cuda", dtype)).float().cpu(),
                host.eval()(x),
                rtol=10 * tolerance,
                atol=10 * tolerance,
            )

    @parameterized.named_parameters(
        ("add", lambda a, b: torch.add(a, b, out=a)),
        ("add_the_other_way", lambda a, b: torch.add(b, a, out=a)),
        ("mul", lambda a, b: torch.mul(a, b, out=a)),
        ("where", lambda a, b: torch.where(a > 0, a, b, out=a)),
        ("lerp", lambda a, b: torch.lerp(a, b, 0.5, out=a)),
        ("logical_or_", lambda a, b: a.logical_or_(b)),
        ("addr_", lambda a, _: a.addr_(a.new_ones(3), a.new_ones(4))),
        ("addcmul", lambda a, b: torch.addcmul(a, b, b, out=a)),
        ("clamp", lambda a, b: torch.clamp(a, b, b, out=a)),
    )
    def test_one_tensor_twice_is_not_made_larger(
        self, call: Callable[[torch.Tensor, torch.Tensor], object]
    ) -> None:
        for dtype in (torch.float32, torch.float16):
            a = torch.tensor([[1.0], [2.0], [3.0]], dtype=dtype)
            for device in ("cpu", "cuda"):
                target = a.to(device)
                with self.assertRaises(RuntimeError):
                    call(target, torch.zeros(3, 4, dtype=dtype, device=device))
                self.assertEqual(target.tolist(), a.tolist())

    def test_what_the_cpu_computes_over_itself_is_refused(self) -> None:
        a = torch.tensor([[1.0], [2.0], [3.0]], device="cuda")
        with self.assertRaisesRegex(RuntimeError, "doesn't match the broadcast shape"):
            torch.addr(a, a.new_ones(3), a.new_ones(4), out=a)
        self.assertEqual(a.tolist(), [[1], [2], [3]])

    def test_one_tensor_twice(self) -> None:
        a = torch.arange(6.0, device="cuda").reshape(2, 3)
        self.assertIs(torch.add(a, a, out=a), a)
        self.assertEqual(a.tolist(), [[0, 2, 4], [6, 8, 10]])
        a.sub_(a)
        self.assertEqual(a.count_nonzero().item(), 0)
        b = torch.ones(2, 2, device="cuda")
        torch._foreach_add_([b, b], 1.0)
        self.assertEqual(b.tolist(), [[3, 3], [3, 3]])

    def test_a_copy_on_write_is_not_written_to_through_another(self) -> None:
        first = torch.arange(4.0, device="cuda")
        second = torch._lazy_clone(first)
        torch.add(second, second, out=second)
        self.assertEqual(first.tolist(), [0, 1, 2, 3])
        self.assertEqual(second.tolist(), [0, 2, 4, 6])

    def test_lazy_bits_of_results(self) -> None:
        generator = torch.Generator().manual_seed(0)
        matrix = torch.randn(3, 3, generator=generator, dtype=torch.complex64)
        right = torch.randn(4, 3, generator=generator, dtype=torch.complex64)
        found = []
        for device in ("cpu", "cuda"):
            factors, pivots = torch.linalg.lu_factor(matrix.to(device))
            out = torch.empty(4, 3, dtype=torch.complex64, device=device)
            torch.linalg.lu_solve(factors, pivots, right.to(device), left=False, out=out)
            found.append(out.cpu().resolve_conj())
        torch.testing.assert_close(found[1], found[0])

    def test_versions_count(self) -> None:
        x = torch.tensor([1.0, float("nan")], device="cuda")
        out = torch.empty(1, device="cuda")
        for call in (
            lambda: torch.nanmean(x, 0, out=out),
            lambda: torch.mode(x, 0, out=(out, torch.empty(0, dtype=torch.int64, device="cuda"))),
            lambda: torch.add(x, 1, out=out),
            lambda: torch._foreach_add_([out], 1.0),
            lambda: torch.split_with_sizes_copy(out.new_ones(1), [1], out=[out]),
        ):
            before = out._version
            call()
            self.assertGreater(out._version, before)

    def test_zeros_without_memory(self) -> None:
        x = torch.ones(3, device="cuda")
        _, tangent = _func.jvp(lambda t: torch.dot(t, x), (x,), (torch.ones_like(x),))
        self.assertEqual(tangent.item(), 3)
        zeros = torch._efficientzerotensor((3,), device="cuda")
        self.assertEqual(torch.dot(x, zeros).item(), 0)
        self.assertEqual((x + zeros).tolist(), [1, 1, 1])


if __name__ == "__main__":
    absltest.main()
