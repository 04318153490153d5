"""What goes wrong on a stock torch: an error that says it, no crash, no hang and no wrong number.

    TORCH_CUDA_DEVICES=fake python tests/stock/faults_test.py

Each program is a process of its own; it names the devices that it needs where these are not the caller's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import unittest

SECONDS = 120


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program; one that a signal ended is a failure, whatever it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode < 0:
        raise AssertionError(f"{signal.Signals(-done.returncode).name}: {done.stderr[-2000:]}")
    return done


class FaultsTest(unittest.TestCase):
    def test_memory_that_is_used_up_can_be_freed_and_used_again(self) -> None:
        done = run(
            """
            import torch
            kept = []
            try:
                while True:
                    kept.append(torch.ones(4 << 20, device="cuda"))
            except torch.OutOfMemoryError as error:
                print("out of memory" in str(error), len(kept))
            del kept
            print(torch.ones(8 << 20, device="cuda").sum().item() == 8 << 20)
            """,
            TORCH_CUDA_DEVICES="fake:memory=100M",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["True", "6", "True"])

    def test_memory_that_is_used_up_in_a_backward_pass(self) -> None:
        done = run(
            """
            import torch
            weight = torch.ones(1 << 20, device="cuda", requires_grad=True)
            products = weight
            for _ in range(20):
                products = products * weight
            ballast = []
            try:
                while True:
                    ballast.append(torch.empty(1 << 20, dtype=torch.uint8, device="cuda"))
            except torch.OutOfMemoryError:
                pass
            try:
                products.sum().backward()
            except torch.OutOfMemoryError:
                print("refused")
            del ballast
            torch.cuda.empty_cache()
            weight.grad = None
            (weight * 3).sum().backward()
            print(weight.grad.unique().tolist())
            """,
            TORCH_CUDA_DEVICES="fake:memory=120M",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split("\n")[:2], ["refused", "[3.0]"])

    def test_a_lost_device_leaves_the_other_and_the_host(self) -> None:
        done = run(
            """
            import torch
            errors = 0
            while errors < 3:
                try:
                    torch.ones(4, device="cuda:0").cpu()
                except RuntimeError as error:
                    errors += 1
                    assert "CUDA error" in str(error), error
            print(torch.arange(5.0, device="cuda:1").sum().item(), torch.ones(3).sum().item())
            """,
            TORCH_CUDA_DEVICES="fake:count=2;lost=12",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["10.0", "3.0"])
        self.assertIn("is lost", done.stderr)

    def test_an_operator_that_nobody_serves_in_a_backward_pass(self) -> None:
        done = run(
            """
            import torch
            class Unserved(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2
                @staticmethod
                def backward(ctx, gradient):
                    return torch.ops.aten.miopen_batch_norm(
                        gradient[None], gradient, gradient, None, None, True, 0.1, 1e-5)[0][0]
            x = torch.ones(4, device="cuda", requires_grad=True)
            try:
                (Unserved.apply(x) * 3).sum().backward()
            except NotImplementedError as error:
                print("miopen_batch_norm" in str(error), x.grad)
            (x * 3).sum().backward()
            print(x.grad.tolist())
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split("\n")[:2], ["True None", "[3.0, 3.0, 3.0, 3.0]"])

    def test_an_error_within_an_operator_leaves_what_comes_after_right(self) -> None:
        done = run(
            """
            import torch
            table, wrong = torch.ones(3, 2, device="cuda"), torch.tensor([0, 9], device="cuda")
            try:
                print(table[wrong].sum().item())
            except (RuntimeError, IndexError) as error:
                print("IndexError", "out of" in str(error))
            print((table * 2).sum().item())
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split("\n")[:2], ["IndexError True", "12.0"])

    def test_a_forked_child_is_told_so(self) -> None:
        done = run(
            """
            import os, sys, torch
            torch.ones(3, device="cuda").sum().item()
            child = os.fork()
            if child == 0:
                try:
                    torch.ones(3, device="cuda")
                except RuntimeError as error:
                    print(error)
                    sys.stdout.flush()
                    os._exit(0)
                os._exit(1)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            print(torch.ones(3, device="cuda").sum().item())
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Cannot re-initialize CUDA in forked subprocess", done.stdout)
        self.assertEqual(done.stdout.split()[-2:], ["0", "3.0"])

    def test_a_fork_before_the_first_use_may_use_it(self) -> None:
        done = run(
            """
            import os, torch
            child = os.fork()
            total = torch.ones(3, device="cuda").sum().item()
            if child == 0:
                os._exit(int(total))
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), total)
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["3", "3.0"])

    def test_the_end_with_work_under_way(self) -> None:
        for ending in ("", "raise SystemExit(7)", "import os; os._exit(7)", "1 / 0"):
            with self.subTest(ending=ending):
                done = run(
                    f"""
                    import torch
                    streams = [torch.cuda.Stream() for _ in range(4)]
                    kept, events = [], []
                    for stream in streams:
                        with torch.cuda.stream(stream):
                            x = torch.randn(200, 200, device="cuda", requires_grad=True)
                            (x @ x).sum().backward()
                            kept.append(x.grad.to("cpu", non_blocking=True))
                            events.append(stream.record_event())
                    graph = torch.cuda.CUDAGraph()
                    torch.cuda.synchronize()
                    with torch.cuda.graph(graph):
                        y = torch.ones(1000, device="cuda") * 2
                    graph.replay()
                    print("here", flush=True)
                    {ending}
                    """
                )
                wanted = {"": 0, "1 / 0": 1}.get(ending, 7)
                self.assertEqual(done.returncode, wanted, done.stderr)
                self.assertEqual(done.stdout.split(), ["here"])
                self.assertNotIn("terminate called", done.stderr)

    def test_a_kernel_that_leaves_memory(self) -> None:
        if not os.environ["TORCH_CUDA_DEVICES"].startswith("sim"):
            self.skipTest("needs a device that runs PTX")
        done = run(
            """
            import ctypes, torch
            torch.cuda.init()
            torch.ones(1, device="cuda")
            driver = ctypes.CDLL("libcuda.so.1")
            text = b'''
            .version 7.0
            .target sm_80
            .address_size 64
            .visible .entry stray(.param .u64 at) {
              .reg .b64 %rd<2>;
              .reg .b32 %r<2>;
              ld.param.u64 %rd1, [at];
              mov.u32 %r1, 5;
              st.global.u32 [%rd1], %r1;
              ret;
            }
            '''
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            assert driver.cuModuleLoadData(ctypes.byref(module), text) == 0
            assert driver.cuModuleGetFunction(ctypes.byref(function), module, b"stray") == 0
            at = ctypes.c_uint64(64)
            arguments = (ctypes.c_void_p * 1)(ctypes.addressof(at))
            assert driver.cuLaunchKernel(
                function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None) == 0
            for _ in range(2):
                try:
                    torch.cuda.synchronize()
                    torch.ones(1, device="cuda").add_(1).item()
                    print("nothing")
                except RuntimeError as error:
                    print("illegal memory access" in str(error))
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["True", "True"])

    def test_machine_code_on_a_device_that_runs_no_kernels(self) -> None:
        # What Triton does with a kernel of torch.compile, where there is no assembler of the device's.
        done = run(
            """
            import ctypes, os, torch
            torch.ones(1, device="cuda")
            driver = ctypes.CDLL(os.path.join(os.environ["TRITON_LIBCUDA_PATH"], "libcuda.so.1"))
            module = ctypes.c_void_p()
            print(driver.cuModuleLoadData(ctypes.byref(module), b"\\x7fELF" + bytes(64)))
            """,
            TORCH_CUDA_DEVICES="fake",
        )
        self.assertEqual(done.stdout.split(), ["209"], done.stderr)
        self.assertIn("runs no kernels: needed is one that runs PTX", done.stderr)

    def test_packages_of_nvidia_that_are_of_another_version(self) -> None:
        # What pip leaves behind: libraries of another major version, and one that is no library at all.
        done = run(
            """
            import pathlib, sys, tempfile
            folder = pathlib.Path(tempfile.mkdtemp())
            for package, name in [
                ("cu13", "libcudart.so.13"), ("cu13", "libcublas.so.13"),
                ("cuda_runtime", "libcudart.so.12"), ("cudnn", "libcudnn.so.9"),
            ]:
                place = folder / "nvidia" / package / "lib"
                place.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(b"of another version")
            sys.path.insert(0, str(folder))
            import torch
            print(torch.ones(3, device="cuda").sum().item())
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["3.0"])


if __name__ == "__main__":
    unittest.main()
