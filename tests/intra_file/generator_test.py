"""torch.Generator: the CUDA half of torch/csrc/Generator.cpp."""

from __future__ import annotations

import pickle

import torch
from absl.testing import absltest

from tests.intra_file import interpreter


class GeneratorTest(absltest.TestCase):
    def test_cpu_is_the_default(self) -> None:
        self.assertEqual(torch.Generator().device, torch.device("cpu"))
        self.assertEqual(torch.Generator(None).device, torch.device("cpu"))

    def test_cpu_generators_keep_their_sequence(self) -> None:
        first = torch.rand(4, generator=torch.Generator("cpu").manual_seed(7))
        second = torch.rand(4, generator=torch.Generator(device="cpu").manual_seed(7))
        self.assertTrue(torch.equal(first, second))

    def test_wrong_arguments_are_refused_as_before(self) -> None:
        code = """
            import torch
            for args in (([],), ("cpu", "cpu"), ("nonsense",), ("meta",), ("mkldnn",)):
                try:
                    torch.Generator(*args)
                except Exception as error:
                    print(type(error).__name__, str(error).splitlines()[0])
        """
        printed = interpreter.run_python(code)
        self.assertLen(printed.splitlines(), 5)
        self.assertEqual(printed, interpreter.run_python(code, plugin=False))

    @absltest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_cuda_without_a_gpu(self) -> None:
        with self.assertRaisesRegex(RuntimeError, interpreter.NO_DEVICE_ERROR):
            torch.Generator(device="cuda")

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_generator(self) -> None:
        generator = torch.Generator(device="cuda").manual_seed(7)
        state = generator.get_state()
        first = torch.rand(4, device="cuda", generator=generator)
        generator.set_state(state)
        self.assertTrue(torch.equal(first, torch.rand(4, device="cuda", generator=generator)))
        self.assertEqual(generator.device.type, "cuda")
        self.assertEqual(generator.initial_seed(), 7)
        self.assertGreater(generator.get_offset(), 0)

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_generator_is_pickled(self) -> None:
        generator = torch.Generator(device="cuda:0").manual_seed(7)
        copy = pickle.loads(pickle.dumps(generator))
        self.assertEqual(copy.device, generator.device)
        self.assertTrue(torch.equal(copy.get_state(), generator.get_state()))


if __name__ == "__main__":
    absltest.main()
