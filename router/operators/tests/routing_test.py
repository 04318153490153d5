"""When operators are routed: at the first use of CUDA, and only where a device needs it."""

from __future__ import annotations

import os

from absl.testing import absltest

from tests.device_behaviour import programs

# What the dispatcher says about an operator names the files of the kernels.
_DUMPS = """
    import torch
    def routed():
        names = ["aten::add.out", "aten::_convolution", "aten::_thnn_fused_lstm_cell", "aten::copy_"]
        return sum("router/operators" in torch._C._dispatch_dump(name) for name in names)
    def loaded():
        with open("/proc/self/maps") as maps:
            return "libtorch_cuda_operators" in maps.read()
"""


def _program(text: str) -> str:
    return _DUMPS.replace("\n    ", "\n") + text


class RoutingTest(absltest.TestCase):
    def test_importing_routes_nothing(self) -> None:
        program = _program("torch.cuda.device_count(); print(routed(), loaded())")
        self.assertEqual(programs.output(program, TORCH_CUDA_DEVICES="fake"), "0 False")

    def test_the_first_tensor_does(self) -> None:
        program = _program("torch.ones(1, device='cuda'); print(routed(), loaded())")
        self.assertEqual(programs.output(program, TORCH_CUDA_DEVICES="fake"), "4 True")

    def test_who_serves_is_told(self) -> None:
        program = _program(
            "import torch_cuda\n"
            "names = ['aten::add.Tensor', 'aten::_thnn_fused_lstm_cell', 'aten::lstm.input']\n"
            "print([torch_cuda.served_by(name, 0) for name in names])\n"
            "torch_cuda.served_by('aten::no_such')"
        )
        for devices, answer in (
            ("fake", "['host', 'host', 'composite']"),
            ("sim", "['upstream', 'upstream', 'composite']"),
        ):
            done = programs.run(program, TORCH_CUDA_DEVICES=devices)
            self.assertEqual(done.stdout.strip(), answer)
            self.assertIn("ValueError: PyTorch has no operator aten::no_such", done.stderr)

    def test_devices_that_run_code_keep_their_kernels(self) -> None:
        program = _program("torch.ones(1, device='cuda') + 1; print(routed())")
        self.assertEqual(programs.output(program, TORCH_CUDA_DEVICES="sim"), "0")
        settings = {"TORCH_CUDA_DEVICES": None, "TORCH_CUDA_SIM": "1"}
        self.assertEqual(programs.output(program, **settings), "0")

    def test_without_a_runtime_that_can_be_asked_nothing_is_loaded(self) -> None:
        program = _program("print(torch.cuda.is_available(), routed(), loaded())")
        settings = {"TORCH_CUDA_DEVICES": None, "TORCH_CUDA_SIM": "0", "TORCH_CUDA_DISABLE": "1"}
        self.assertEqual(programs.output(program, **settings), "False 0 False")

    def test_a_child_uses_the_device_after_its_parent_only_imported(self) -> None:
        program = _program(
            "import os\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    print((torch.ones(3, device='cuda') + 1).sum().item(), flush=True)\n"
            "    os._exit(0)\n"
            "os.waitpid(child, 0)\n"
            "print((torch.ones(2, device='cuda') + 1).sum().item(), flush=True)\n"
        )
        self.assertEqual(programs.output(program, TORCH_CUDA_DEVICES="fake"), "6.0\n4.0")

    def test_a_hidden_device_does_not_count(self) -> None:
        program = _program("torch.ones(1, device='cuda'); print(routed())")
        settings = {"TORCH_CUDA_DEVICES": "fake,sim", "CUDA_VISIBLE_DEVICES": "1"}
        self.assertEqual(programs.output(program, **settings), "0")

    def test_the_doctor_names_the_devices(self) -> None:
        program = "from torch_cuda import __main__; __main__.main(['doctor'])"
        report = programs.output(program, TORCH_CUDA_DEVICES="fake:2")
        self.assertIn("TORCH_CUDA_DEVICES=fake:2", report)
        self.assertRegex(report, "(?s)devices +0: Fake.*1: Fake")

    def test_a_device_that_there_is_not_is_said(self) -> None:
        done = programs.run(
            "import torch; torch.ones(1, device='cuda')", TORCH_CUDA_DEVICES="nobody"
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nobody", done.stderr)


if __name__ == "__main__":
    os.environ.pop("TORCH_CUDA_SIM", None)
    absltest.main()
