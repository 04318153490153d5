"""Fourier transforms on a CUDA device give what the CPU gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized

Transform = Callable[..., torch.Tensor]

FROM_REAL = (torch.fft.rfft, torch.fft.ihfft, torch.fft.fft, torch.fft.ifft)
FROM_COMPLEX = (torch.fft.fft, torch.fft.ifft, torch.fft.irfft, torch.fft.hfft)
MANY_FROM_REAL = (torch.fft.rfftn, torch.fft.ihfftn, torch.fft.fftn)
MANY_FROM_COMPLEX = (torch.fft.fftn, torch.fft.ifftn, torch.fft.irfftn, torch.fft.hfftn)
NORMS = ("backward", "ortho", "forward")
TYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def of_type(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Random numbers on the CPU, the same in each run."""
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(1))


class FourierTest(parameterized.TestCase):
    def check(
        self, transform: Transform, values: torch.Tensor, *args: object, **options: object
    ) -> None:
        """Compares both devices, and the input afterwards."""
        there = values.cuda()
        expected = transform(values, *args, **options)
        result = transform(there, *args, **options)
        tolerance = 1e-10 if values.dtype in (torch.float64, torch.complex128) else 2e-4
        with self.subTest(transform=transform.__name__, args=args, options=options):
            self.assertEqual(result.device.type, "cuda")
            torch.testing.assert_close(result.cpu(), expected, rtol=tolerance, atol=tolerance)
            torch.testing.assert_close(there.cpu(), values, rtol=0, atol=0)

    @parameterized.parameters(*TYPES)
    def test_one_dimension(self, dtype: torch.dtype) -> None:
        transforms = FROM_COMPLEX if dtype.is_complex else FROM_REAL
        for transform, norm, n in itertools.product(transforms, NORMS, (None, 3, 8, 13, 31)):
            for dim in (0, 1, -1):
                self.check(transform, of_type((5, 12, 7), dtype), n=n, dim=dim, norm=norm)

    @parameterized.parameters(*TYPES)
    def test_many_dimensions(self, dtype: torch.dtype) -> None:
        transforms = MANY_FROM_COMPLEX if dtype.is_complex else MANY_FROM_REAL
        values = of_type((3, 4, 5, 6, 2), dtype)
        for transform, norm in itertools.product(transforms, NORMS):
            # Beyond three dimensions torch makes several plans.
            for dim in ((1,), (0, 2), (3, 1), (1, 2, 3), (0, 2, 1, 3), (4, 3, 2, 1, 0)):
                self.check(transform, values, dim=dim, norm=norm)
            self.check(transform, values, s=(7, 3), dim=(1, 3), norm=norm)

    def test_strides(self) -> None:
        values = of_type((6, 8, 10), torch.complex64)
        views: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
            lambda x: x.transpose(0, 2),
            lambda x: x[::2, :, 1::3],
            lambda x: x[:1].expand(4, 8, 10),
            lambda x: x.real,
            lambda x: x.conj(),
            lambda x: x.real.unfold(2, 4, 1),
        )
        for number, view in enumerate(views):
            with self.subTest(view=number):
                for dim in (0, -1):
                    expected = torch.fft.fft(view(values), dim=dim)
                    result = torch.fft.fft(view(values.cuda()), dim=dim)
                    torch.testing.assert_close(result.cpu(), expected, rtol=1e-4, atol=1e-4)

    def test_out(self) -> None:
        values = of_type((4, 9), torch.complex64)
        out = torch.empty(9, 4, dtype=torch.complex64, device="cuda").t()
        torch.fft.fft(values.cuda(), out=out)
        torch.testing.assert_close(out.cpu(), torch.fft.fft(values), rtol=1e-4, atol=1e-4)

    def test_halves(self) -> None:
        values = of_type((3, 8, 16), torch.float32)
        half = values.half().cuda()
        for dim in ((2,), (1, 2)):
            spectrum = torch.fft.rfftn(half, dim=dim)
            self.assertEqual(spectrum.dtype, torch.complex32)
            torch.testing.assert_close(
                spectrum.cpu().to(torch.complex64),
                torch.fft.rfftn(values, dim=dim),
                rtol=1e-2,
                atol=5e-2,
            )
            again = torch.fft.irfftn(spectrum, dim=dim)
            torch.testing.assert_close(again.cpu().float(), values, rtol=1e-2, atol=1e-2)
        with self.assertRaisesRegex(RuntimeError, "powers of two"):
            torch.fft.fft(torch.ones(12, dtype=torch.half, device="cuda"))

    def test_none_and_many(self) -> None:
        self.check(torch.fft.rfft, of_type((20000, 6), torch.float32))
        self.check(torch.fft.fft, of_type((1 << 17,), torch.complex128))
        with self.assertRaisesRegex(RuntimeError, "Invalid number of data points"):
            torch.fft.fft(torch.ones(2, 0, device="cuda"))
        # torch asks cuFFT for a batch of none.
        with self.assertRaisesRegex(RuntimeError, "CUFFT_INVALID_SIZE"):
            torch.fft.fft(torch.ones(0, 5, device="cuda"))

    @parameterized.parameters(
        torch.fft.fft, torch.fft.rfft, torch.fft.fft2, torch.fft.rfft2, torch.fft.ihfft
    )
    def test_gradients(self, transform: Transform) -> None:
        values = of_type((4, 7), torch.float64).cuda().requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(transform, values))

    @parameterized.parameters(torch.fft.irfft, torch.fft.hfft, torch.fft.irfft2, torch.fft.ifft)
    def test_gradients_of_spectra(self, transform: Transform) -> None:
        values = of_type((3, 5), torch.complex128).cuda().requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(transform, values))

    @parameterized.parameters(True, False)
    def test_short_time(self, onesided: bool) -> None:
        def transform(values: torch.Tensor) -> torch.Tensor:
            # Padding by reflection, and the inverse, are outside of the core profile.
            return torch.stft(
                values,
                32,
                hop_length=8,
                window=torch.hann_window(32, device=values.device),
                pad_mode="constant",
                onesided=onesided,
                return_complex=True,
            )

        self.check(transform, of_type((2, 200), torch.float32))

    def test_graphs(self) -> None:
        static = torch.zeros(4, 24, device="cuda")
        torch.fft.rfft(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = torch.fft.irfft(torch.fft.rfft(static) * 2)
        for factor in (1.0, -3.0):
            values = of_type((4, 24), torch.float32) * factor
            static.copy_(values)
            graph.replay()
            torch.testing.assert_close(result.cpu(), values * 2, rtol=1e-4, atol=1e-4)

    def test_plans_are_kept(self) -> None:
        cache = torch.backends.cuda.cufft_plan_cache[0]
        cache.clear()
        for _ in range(2):
            torch.fft.fft(torch.ones(3, 11, device="cuda"))
        self.assertEqual(cache.size, 1)
        cache.max_size = 1
        torch.fft.fft(torch.ones(3, 12, device="cuda"))
        self.assertEqual(cache.size, 1)
        cache.clear()
        self.assertEqual(cache.size, 0)


if __name__ == "__main__":
    absltest.main()
