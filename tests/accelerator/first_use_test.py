"""What uses CUDA first in a process is served, whatever it is."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from tests.device_behaviour import programs


class FirstUseTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("a tensor", "torch.zeros(3, device='cuda')", "ok"),
        ("a copy", "torch.ones(3).cuda()", "ok"),
        ("an operator", "torch.ops.aten.ones([3], device=torch.device('cuda'))", "ok"),
        (
            "TorchScript",
            "torch.jit.script(SCRIPT)()",
            "ok",
        ),
        (
            "a copy of pinned memory",
            "torch.ops.aten._to_copy(torch.ones(3).pin_memory(), device='cuda')",
            "ok",
        ),
        (
            "two threads",
            "[*ThreadPool(2).map(lambda _: torch.ops.aten.ones([3], device=torch.device('cuda')), range(2))]",
            "ok",
        ),
        ("a generator", "torch.Generator('cuda').manual_seed(3)", "ok"),
        (
            "a capture of the default stream",
            "torch.cuda.CUDAGraph().capture_begin()",
            "CUDA graphs must be captured on a non-default stream.",
        ),
    )
    def test_first(self, use: str, answer: str) -> None:
        found = programs.output(f"""
            from multiprocessing.pool import ThreadPool

            import torch

            SCRIPT = torch.jit.CompilationUnit(
                "def ones():\\n    return torch.ones([3], device='cuda')\\n"
            ).ones

            assert not torch.cuda.is_initialized()
            try:
                {use}
                print("ok")
            except RuntimeError as error:
                print(str(error).split(" (")[0].splitlines()[0])
            print(torch.arange(3, device="cuda").sum().item())
        """)
        said, total = found.splitlines()
        self.assertStartsWith(said, answer)
        self.assertEqual(total, "3")


if __name__ == "__main__":
    absltest.main()
