"""The simulated device has to be asked for."""

from __future__ import annotations

import unittest

from absl.testing import absltest

from tests.device_behaviour import programs


@unittest.skipUnless(programs.IS_SIMULATED, "about the simulated device")
class ActivationTest(absltest.TestCase):
    def test_without_the_variable_there_is_no_gpu(self) -> None:
        program = """
            import torch
            print(torch.cuda.is_available(), torch.cuda.device_count())
            try:
                torch.ones(1, device="cuda")
            except RuntimeError as error:
                print(str(error).splitlines()[0])
        """
        for value in (None, "0"):
            lines = programs.output(program, TORCH_CUDA_SIM=value).splitlines()
            if lines[0].startswith("True"):
                self.skipTest("this machine has a GPU")
            self.assertEqual(lines[0], "False 0")
            # The second where no driver is installed at all.
            self.assertRegex(
                lines[1], "^(No CUDA GPUs are available|Found no NVIDIA driver on your system)"
            )

    def test_with_it_there_is_one(self) -> None:
        program = "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())"
        self.assertEqual(programs.output(program, TORCH_CUDA_SIM="1"), "True 1")

    def test_without_devices_it_is_as_without_a_gpu(self) -> None:
        program = """
            import torch
            print(torch.cuda.is_available())
            try:
                torch.ones(1, device="cuda")
            except RuntimeError as error:
                print(str(error).splitlines()[0])
        """
        self.assertEqual(
            programs.output(program, CUDASIM_DEVICES="0"),
            "False\nNo CUDA GPUs are available",
        )

    def test_importing_torch_does_not_start_it(self) -> None:
        # CUDA_ERROR_NOT_INITIALIZED is 3: nobody has called cuInit.
        program = """
            import ctypes
            import torch
            print(ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int())))
        """
        self.assertEqual(programs.output(program), "3")

    def test_a_forked_child_may_start_it_if_its_parent_has_not(self) -> None:
        program = """
            import multiprocessing
            import torch

            def total(results):
                results.put(torch.ones(5, device="cuda").sum().item())

            context = multiprocessing.get_context("fork")
            results = context.Queue()
            child = context.Process(target=total, args=(results,))
            child.start()
            print(torch.cuda.is_initialized(), results.get(timeout=120))
            child.join()
        """
        self.assertEqual(programs.output(program), "False 5.0")

    def test_a_forked_child_of_a_process_that_uses_it_may_not(self) -> None:
        program = """
            import os
            import torch
            torch.ones(1, device="cuda")
            if os.fork() == 0:
                try:
                    torch.ones(1, device="cuda")
                except RuntimeError as error:
                    print(error, flush=True)
                os._exit(0)
            os.wait()
        """
        self.assertIn("Cannot re-initialize CUDA in forked subprocess", programs.output(program))


if __name__ == "__main__":
    absltest.main()
