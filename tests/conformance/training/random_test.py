"""Random numbers: seeds, states, generators, and whether the numbers are distributed as they should be."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized

from tests.conformance.training import topic


class RandomTest(topic.TopicTest, parameterized.TestCase):
    def test_a_seed_gives_the_same_numbers(self) -> None:
        for seed in (0, 1, 2**40 + 7):
            torch.manual_seed(seed)
            first = torch.rand(1000, device="cuda")
            second = torch.rand(1000, device="cuda")
            torch.manual_seed(seed)
            self.assertTrue(torch.equal(torch.rand(1000, device="cuda"), first))
            self.assertTrue(torch.equal(torch.rand(1000, device="cuda"), second))
            self.assertFalse(torch.equal(first, second))
        self.assertEqual(torch.cuda.initial_seed(), 2**40 + 7)

    def test_a_state_is_taken_and_put_back(self) -> None:
        torch.rand(17, device="cuda")
        state = torch.cuda.get_rng_state()
        first = torch.randn(100, device="cuda")
        torch.cuda.set_rng_state(state)
        self.assertTrue(torch.equal(torch.randn(100, device="cuda"), first))

    def test_a_fork_leaves_the_state_alone(self) -> None:
        torch.manual_seed(3)
        expected = torch.rand(5, device="cuda")
        torch.manual_seed(3)
        with torch.random.fork_rng():
            torch.rand(100, device="cuda")
        self.assertTrue(torch.equal(torch.rand(5, device="cuda"), expected))

    def test_generators_are_apart(self) -> None:
        generator = torch.Generator("cuda").manual_seed(5)
        other = torch.Generator("cuda").manual_seed(5)
        torch.manual_seed(9)
        usual = torch.rand(8, device="cuda")
        torch.manual_seed(9)
        first = torch.rand(8, device="cuda", generator=generator)
        self.assertTrue(torch.equal(torch.rand(8, device="cuda"), usual))
        self.assertTrue(torch.equal(torch.rand(8, device="cuda", generator=other), first))

    def test_a_generator_of_the_cpu_is_refused(self) -> None:
        with self.assertRaises(RuntimeError):
            torch.rand(3, device="cuda", generator=torch.Generator())

    def test_numbers_are_distributed_as_they_should_be(self) -> None:
        torch.manual_seed(0)
        count = 20_000
        for numbers, mean, deviation in (
            (torch.rand(count, device="cuda"), 0.5, 12**-0.5),
            (torch.randn(count, device="cuda"), 0.0, 1.0),
            (torch.empty(count, device="cuda").exponential_(2.0), 0.5, 0.5),
            (torch.empty(count, device="cuda").bernoulli_(0.3), 0.3, 0.21**0.5),
            (torch.randint(0, 10, (count,), device="cuda").double(), 4.5, 8.25**0.5),
        ):
            found = numbers.double().cpu()
            # Six standard errors, and room for that of the deviation.
            self.assertAlmostEqual(found.mean().item(), mean, delta=6 * deviation / count**0.5)
            self.assertAlmostEqual(found.std().item(), deviation, delta=0.1 * deviation)

    def test_permutations_are_some(self) -> None:
        for size in (0, 1, 2, 1000):
            permutation = torch.randperm(size, device="cuda")
            self.assertEqual(sorted(permutation.tolist()), list(range(size)))

    def test_dropout_keeps_its_share(self) -> None:
        torch.manual_seed(0)
        dropped = torch.nn.functional.dropout(torch.ones(20_000, device="cuda"), 0.25)
        torch.testing.assert_close(dropped.cpu().unique(), torch.tensor([0, 1 / 0.75]))
        self.assertAlmostEqual(dropped.eq(0).float().mean().item(), 0.25, delta=0.02)

    def test_chances(self) -> None:
        torch.manual_seed(0)
        weights = torch.tensor([1.0, 0.0, 3.0], device="cuda")
        drawn = torch.multinomial(weights, 4000, replacement=True).bincount(minlength=3).tolist()
        self.assertEqual(drawn[1], 0)
        self.assertAlmostEqual(drawn[0], 1000, delta=200)

    def test_devices_have_states_of_their_own(self) -> None:
        if torch.cuda.device_count() < 2:
            self.skipTest("needs two devices")
        torch.cuda.manual_seed_all(4)
        first = torch.rand(5, device="cuda:0")
        self.assertTrue(torch.equal(torch.rand(5, device="cuda:1").cpu(), first.cpu()))
        states = torch.cuda.get_rng_state_all()
        self.assertLen(states, torch.cuda.device_count())
        expected = torch.rand(5, device="cuda:1")
        torch.rand(5, device="cuda:0")
        torch.cuda.set_rng_state(states[1], "cuda:1")
        self.assertTrue(torch.equal(torch.rand(5, device="cuda:1"), expected))


if __name__ == "__main__":
    absltest.main()
