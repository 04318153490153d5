"""Random numbers: the CPU's, from the device's generator, whose state can be kept."""

from __future__ import annotations

import numpy
import torch
from absl.testing import absltest, parameterized
from torch.nn import functional


def _moved_on(state: torch.Tensor, elements: int) -> torch.Tensor:
    """A generator's state with an offset that is larger by a number of elements, in fours."""
    moved = state.clone()
    moved[8:].view(torch.int64).add_((elements + 3) // 4 * 4)
    return moved


class RandomTest(parameterized.TestCase):
    @parameterized.parameters(1, 5, 15, 16, 17, 1000)
    def test_a_seed_gives_the_cpu_s_numbers(self, count: int) -> None:
        for draw in (torch.rand, torch.randn):
            torch.manual_seed(3)
            wanted = [draw(count) for _ in range(3)]
            torch.manual_seed(3)
            for each in wanted:
                torch.testing.assert_close(draw(count, device="cuda").cpu(), each, rtol=0, atol=0)

    def test_all_bits_of_a_seed_count(self) -> None:
        seeds = (5, 2**32 + 5, 2**40 + 5, 2**63 + 5, 5 * 2**32, 2**64 - 1)
        drawn = []
        for seed in seeds:
            generator = torch.Generator("cuda").manual_seed(seed)
            numbers = torch.rand(700, device="cuda", generator=generator)
            state = generator.get_state()
            following = torch.randn(3, device="cuda", generator=generator)
            generator.set_state(state)
            again = torch.randn(3, device="cuda", generator=generator)
            self.assertEqual(following.tolist(), again.tolist())
            drawn.append(tuple(numbers.tolist()))
        self.assertLen(set(drawn), len(seeds))
        self.assertAlmostEqual(torch.tensor(drawn).mean().item(), 0.5, delta=0.03)

    def test_a_large_seed_is_numpys_with_a_key(self) -> None:
        # NumPy's legacy generator has the authors' initialisation with a key, and PyTorch takes 24 bits
        # of each number for a float.
        numpy.random.seed([5, 1 << 8])
        words = numpy.random.randint(0, 2**32, 5, dtype=numpy.uint32)
        generator = torch.Generator("cuda").manual_seed((1 << 40) + 5)
        found = torch.rand(5, device="cuda", generator=generator)
        self.assertEqual(found.tolist(), [(int(word) & 0xFFFFFF) / 2**24 for word in words])

    @parameterized.parameters(0, 1, 3, 17, 700)
    def test_a_state_brings_its_numbers_back(self, before: int) -> None:
        torch.manual_seed(4)
        torch.randn(before, device="cuda")
        state = torch.cuda.get_rng_state()
        first = torch.randn(7, device="cuda")
        torch.rand(1000, device="cuda")
        torch.cuda.set_rng_state(state)
        torch.testing.assert_close(torch.randn(7, device="cuda"), first, rtol=0, atol=0)

    @parameterized.product(
        count=[5, 8, 13, 1000],
        dtype=[torch.float32, torch.float64],
        draw=["uniform_", "normal_", "exponential_", "log_normal_"],
        before=[0, 5],
    )
    def test_shards_have_numbers_of_their_own(
        self, count: int, dtype: torch.dtype, draw: str, before: int
    ) -> None:
        # As torch.distributed.tensor does: each rank adds the elements of the ranks in front to the offset, and all
        # go on behind the last one.
        generator = torch.Generator("cuda").manual_seed(5)
        torch.randn(before, device="cuda", generator=generator)  # of an odd count one is kept
        drawn = []
        for _ in range(3):
            state = generator.get_state()
            for rank in range(4):
                generator.set_state(_moved_on(state, rank * count))
                numbers = torch.empty(count, dtype=dtype, device="cuda")
                drawn += getattr(numbers, draw)(generator=generator).cpu().unfold(0, 3, 1).tolist()
            generator.set_state(_moved_on(state, 4 * count))
        self.assertLen({tuple(each) for each in drawn}, len(drawn))

    def test_an_offset_of_a_program_brings_its_numbers_back(self) -> None:
        generator = torch.Generator("cuda").manual_seed(5)
        state = _moved_on(generator.get_state(), 40)
        runs = []
        for _ in range(2):
            generator.set_state(state)
            runs.append([torch.rand(3, device="cuda", generator=generator) for _ in range(4)])
        self.assertLen(torch.cat(runs[0]).unique(), 12)
        for first, second in zip(*runs, strict=True):
            self.assertEqual(first.tolist(), second.tolist())

    def test_devices_and_generators_have_numbers_of_their_own(self) -> None:
        torch.manual_seed(5)
        first = torch.rand(4, device="cuda:0")
        torch.testing.assert_close(torch.rand(4, device="cuda:1").cpu(), first.cpu())
        mine = torch.Generator("cuda").manual_seed(5)
        following = torch.rand(4, device="cuda:0")
        torch.testing.assert_close(torch.rand(4, device="cuda", generator=mine), first)
        self.assertFalse(torch.equal(following, first))

    def test_a_fork_gives_the_state_back(self) -> None:
        torch.manual_seed(6)
        with torch.random.fork_rng(devices=[0]):
            inside = torch.rand(3, device="cuda")
        torch.testing.assert_close(torch.rand(3, device="cuda"), inside)

    def test_dropout_keeps_its_share_and_its_mask(self) -> None:
        torch.manual_seed(7)
        ones = torch.ones(4000, device="cuda", requires_grad=True)
        dropped = functional.dropout(ones, 0.25)
        dropped.sum().backward()
        assert ones.grad is not None
        torch.testing.assert_close(ones.grad, dropped.detach())
        self.assertAlmostEqual((dropped == 0).float().mean().item(), 0.25, delta=0.05)

    def test_a_generator_of_the_host_is_refused(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "Expected a 'cuda' device type for generator"):
            torch.rand(3, device="cuda", generator=torch.Generator())


if __name__ == "__main__":
    absltest.main()
