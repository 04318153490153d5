"""Operators on numbers of 16 bits for which the CPU has no kernels: computed in single precision."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional

from router.operators.tests.captures import capture

_Work = Callable[[torch.Tensor], torch.Tensor]


def _gradient(work: _Work) -> _Work:
    def of(numbers: torch.Tensor) -> torch.Tensor:
        numbers = numbers.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(work(numbers).sum(), numbers)
        return gradient

    return of


def _pool(numbers: torch.Tensor) -> torch.Tensor:
    return functional.avg_pool3d(numbers.view(1, 2, 2, 4), 2, 1)


def _places(numbers: torch.Tensor, *shape: int) -> torch.Tensor:
    """Numbers from 0 to 1 that are exact in all types."""
    drawn = torch.rand(*shape, generator=torch.Generator().manual_seed(1))
    return ((drawn * 256).round() / 256).to(numbers)


def _sample(numbers: torch.Tensor, mode: str) -> torch.Tensor:
    """Samples an image that is wider than half precision counts."""
    points = _places(numbers, 1, 20, 20, 2) * 2 - 1
    image = _places(numbers, 1, 1, 9, 3000)
    return functional.grid_sample(image, points, mode=mode, align_corners=False)


def _sample_volume(numbers: torch.Tensor) -> torch.Tensor:
    points = _places(numbers, 1, 9, 9, 9, 3) * 2 - 1
    return functional.grid_sample(_places(numbers, 1, 1, 3, 3, 900), points, align_corners=False)


def _weigh_image(numbers: torch.Tensor) -> torch.Tensor:
    """The gradient of points of an image."""
    points = (_places(numbers, 1, 9, 9, 2) * 2 - 1).requires_grad_()
    image = _places(numbers, 1, 1, 9, 300)
    functional.grid_sample(image, points, align_corners=False).sum().backward()
    assert points.grad is not None
    return points.grad


def _near(numbers: torch.Tensor) -> torch.Tensor:
    """Numbers of all types that are near to one that half precision rounds."""
    return torch.full_like(numbers, 0.9765625)


def _added_to_list(numbers: torch.Tensor) -> torch.Tensor:
    first, second = _near(numbers), _near(numbers)
    torch._foreach_add_([first, second], [-torch.ones_like(first)] * 2, alpha=0.9737)
    return first + second


_ROUNDED = (
    ("a difference", lambda a: _near(a) - 0.9737),
    ("a difference in place", lambda a: _near(a).sub_(0.9737)),
    ("a difference into", lambda a: torch.sub(_near(a), 0.9737, out=a.new_empty(0))),
    ("a difference from a number", lambda a: 0.9737 - _near(a)),
    ("a difference to a tensor of a number", lambda a: _near(a) - torch.tensor(0.9737)),
    ("a difference to an integer", lambda a: torch.full_like(a, 2048) - 2049),
    ("a scaled sum", lambda a: torch.add(_near(a), -torch.ones_like(a), alpha=0.9737)),
    ("a list", lambda a: torch._foreach_sub([_near(a)], 0.9737)[0]),
    ("a list and numbers", lambda a: torch._foreach_add([_near(a)] * 2, [-0.5, -0.9737])[1]),
    ("a list in place", _added_to_list),
    ("logit", lambda a: torch.logit(a.round(), eps=1e-3)),
    ("samples", lambda a: _sample(a, "bilinear")),
    ("nearest samples", lambda a: _sample(a, "nearest")),
    ("cubic samples", lambda a: _sample(a, "bicubic")),
    ("samples of a volume", _sample_volume),
    ("the gradient of places", _weigh_image),
    (
        "pools at random places",
        lambda a: functional.fractional_max_pool2d(
            _places(a, 1, 1, 900, 9),
            2,
            (700, 3),
            _random_samples=torch.full((1, 1, 2), 0.375).to(a),
        ),
    ),
    (
        "pools at random places of a volume",
        lambda a: functional.fractional_max_pool3d(
            _places(a, 1, 1, 900, 9, 9),
            2,
            (700, 3, 3),
            _random_samples=torch.full((1, 1, 3), 0.375).to(a),
        ),
    ),
    (
        "a large mean",
        lambda a: functional.adaptive_avg_pool3d(a.view(1, 1, 4, 4, 1).expand(1, 1, 4, 4, 900), 2),
    ),
)

_WORK = (
    ("trace", lambda a: torch.trace(a)),
    ("pooling", _pool),
    ("its derivative", _gradient(_pool)),
    ("polygamma", lambda a: torch.polygamma(2, a.clamp(0.5))),
    ("a loss", lambda a: functional.multi_margin_loss(a, a.new_tensor([1, 0, 3, 2]).long())),
    ("rounding in place", lambda a: a.clone().round_(decimals=1)),
    ("rounding into", lambda a: torch.round(a, decimals=1, out=a.new_empty(0))),
    ("sparse sums in place", lambda a: a.to_sparse().add_(a.to_sparse(), alpha=2).to_dense()),
    ("sparse sums", lambda a: (a.to_sparse() + a.to_sparse()).to_dense()),
)


class HalfPrecisionTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(0)
        self.numbers = torch.rand(4, 4)

    @parameterized.named_parameters(*_WORK, *_ROUNDED)
    def test_results_are_those_of_single_precision(self, work: _Work) -> None:
        for type_ in (torch.float16, torch.bfloat16):
            numbers = self.numbers.to(type_)
            found = work(numbers.cuda())
            self.assertEqual(found.dtype, type_)
            self.assertTrue(found.is_cuda)
            wanted = work(numbers.float()).to(type_)
            torch.testing.assert_close(found.cpu(), wanted)

    @parameterized.named_parameters(
        ("exponentials", lambda numbers: torch._foreach_exp_(numbers)),
        ("quotients", lambda numbers: torch._foreach_div_(numbers, 2.0)),
        ("sums of quotients", lambda numbers: torch._foreach_addcdiv_(numbers, numbers, numbers)),
    )
    def test_lists_of_several_types_change_once(
        self, change: Callable[[list[torch.Tensor]], None]
    ) -> None:
        # The CPU's kernels lack complex numbers of 32 bits, and say so when the first are changed.
        numbers = torch.complex(self.numbers + 0.5, self.numbers)
        types = (torch.complex64, torch.complex128, torch.complex32)
        found = [numbers.to(type_).cuda() for type_ in types]
        wanted = [numbers.clone() for _ in types]
        change(found)
        change(wanted)
        for one, other, type_ in zip(found, wanted, types, strict=True):
            self.assertEqual(one.dtype, type_)
            torch.testing.assert_close(one.cpu().to(torch.complex64), other, rtol=5e-3, atol=5e-3)

    @parameterized.named_parameters(*_ROUNDED)
    def test_the_cpu_is_coarser(self, work: _Work) -> None:
        # A row of the router's table that a later CPU kernel does not need can go.
        numbers = self.numbers.bfloat16()
        coarse, wanted = work(numbers).float(), work(numbers.float()).bfloat16().float()
        self.assertFalse(torch.allclose(coarse, wanted, rtol=1.6e-2, atol=1e-5))

    def test_tensors_of_a_list_that_share_memory_change_in_order(self) -> None:
        for type_ in (torch.float16, torch.bfloat16):
            wanted = torch.arange(8.0).to(type_)
            found = wanted.cuda()
            torch._foreach_add_([wanted[:6], wanted[2:]], 0.3)
            torch._foreach_add_([found[:6], found[2:]], 0.3)
            torch.testing.assert_close(found.cpu(), wanted)

    def test_in_a_graph(self) -> None:
        numbers = self.numbers.half().cuda()
        graph, found = capture(lambda: torch.trace(numbers))
        for _ in range(2):
            numbers += 1
            graph.replay()
            wanted = numbers.float().trace().half()
            torch.testing.assert_close(found, wanted)

    def test_a_type_that_a_program_asks_for_stays(self) -> None:
        numbers = self.numbers.half().cuda()
        self.assertEqual(numbers.sum(dtype=torch.float32).dtype, torch.float32)

    def test_fourier_transforms(self) -> None:
        numbers = self.numbers.half().cuda()
        found = torch.fft.fft(numbers)
        self.assertEqual(found.dtype, torch.complex32)
        wanted = torch.fft.fft(numbers.cpu().float())
        torch.testing.assert_close(found.cpu().to(torch.complex64), wanted, rtol=1e-2, atol=1e-2)
        back = torch.fft.irfft(torch.fft.rfft(numbers))
        self.assertEqual(back.dtype, torch.float16)
        torch.testing.assert_close(back, numbers, rtol=1e-2, atol=1e-2)

    def test_statistics_stay_in_single_precision(self) -> None:
        numbers = (self.numbers.repeat(8, 1) + 99.5).half()
        channels = torch.full((4,), 2.0).half()
        wanted = numbers.float().mean(0)
        for weight in (channels, channels.float()):
            _, mean, invstd = torch.native_batch_norm(
                numbers.cuda(), weight.cuda(), weight.cuda(), None, None, True, 0.1, 1e-5
            )
            self.assertEqual((mean.dtype, invstd.dtype), (torch.float32, torch.float32))
            torch.testing.assert_close(mean.cpu(), wanted)
            x = numbers.cuda().requires_grad_()
            scale = weight.cuda().requires_grad_()
            functional.batch_norm(
                x, None, None, scale, scale, training=True
            ).square().sum().backward()
            assert x.grad is not None and scale.grad is not None
            self.assertEqual((x.grad.dtype, scale.grad.dtype), (torch.float16, weight.dtype))
        _, mean, _ = torch.native_layer_norm(numbers.cuda(), [4], None, None, 1e-5)
        self.assertEqual(mean.dtype, torch.float32)
        torch.testing.assert_close(mean.cpu().flatten(), numbers.float().mean(1))

    def test_one_tensor_twice_stays_one(self) -> None:
        numbers = self.numbers.half().cuda()
        torch.round(numbers, decimals=1, out=numbers)
        torch.testing.assert_close(
            numbers.cpu(), torch.round(self.numbers.half().float(), decimals=1).half()
        )

    def test_what_no_kernel_has_is_refused_as_before(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "not implemented for 'Half'"):
            self.numbers.half().cuda().bitwise_not()


if __name__ == "__main__":
    absltest.main()
