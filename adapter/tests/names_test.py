"""The device is called cuda where the program looks, and has its own name where its backend looks."""

from __future__ import annotations

import importlib
import io
import pathlib
import pickle
import sys
import tempfile
import threading
from typing import Any

import torch
import torch_stand_in
from absl.testing import absltest, parameterized
from torch_cuda_adapter import errors
from torch_cuda_adapter.runtime import activate, restore


def _in_module(name: str, expression: str) -> object:
    """What an expression is in code of a module of that name."""
    scope = {"__name__": name, "torch": torch, "x": torch.ones(1, device="stand_in:1")}
    return eval(compile(expression, name, "eval"), scope)


class NamesTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        activate("stand-in")
        self.addCleanup(restore)

    @parameterized.parameters("cuda", "cuda:0", "cuda:1")
    def test_name_and_own_name_are_one_device(self, text: str) -> None:
        device = torch.device(text)
        self.assertEqual(device.type, "cuda")
        self.assertEqual(str(device), text)
        self.assertEqual(device, torch.device(text.replace("cuda", "stand_in")))
        self.assertEqual(hash(device), hash(torch.device(text.replace("cuda", "stand_in"))))
        self.assertEqual(pickle.loads(pickle.dumps(device)), device)

    @parameterized.parameters("cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:1:1", "cudax", " cuda")
    def test_wrong_names_are_refused_in_the_words_of_the_program(self, text: str) -> None:
        with self.assertRaisesRegex(RuntimeError, r"[Dd]evice") as caught:
            torch.device(text)
        self.assertNotIn("stand_in:", str(caught.exception))

    def test_other_devices_keep_their_names(self) -> None:
        self.assertEqual(
            [str(torch.device(name)) for name in ("cpu", "meta", "xpu:1")], ["cpu", "meta", "xpu:1"]
        )
        self.assertFalse(torch.ones(1).is_cuda)
        self.assertFalse(torch.ones(1, device="meta").is_cuda)

    def test_own_packages_see_the_own_name(self) -> None:
        for module in ("torch_stand_in", "torch_stand_in.core.memory"):
            self.assertEqual(_in_module(module, "x.device.type"), "stand_in")
            self.assertEqual(_in_module(module, "str(torch.device('cuda', 1))"), "stand_in:1")
        for module in ("torch_stand_in_tools", "train", "__main__"):
            self.assertEqual(_in_module(module, "x.device.type"), "cuda")

    def test_errors_name_cuda(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "cuda:0") as caught:
            torch.ones(2, device="cuda") + torch.ones(3, 3)
        self.assertNotIn("stand_in", str(caught.exception))

    def test_tensors_are_cuda_tensors(self) -> None:
        x = torch.ones(2, device="cuda:1", requires_grad=True)
        for tensor in (x, torch.nn.Parameter(x.detach()), x.view(2, 1), x.to("cuda:1")):
            self.assertTrue(tensor.is_cuda)
            self.assertEqual(tensor.get_device(), 1)
        self.assertIn("device='cuda:1'", repr(x))
        self.assertTrue(x.untyped_storage().is_cuda)

    def test_cuda_checks_its_arguments(self) -> None:
        x: Any = torch.ones(2)
        self.assertEqual(x.cuda(device=1, memory_format=torch.preserve_format).get_device(), 1)
        for arguments in (("cpu",), ("meta",), (0, False, None, 1)):
            with self.assertRaises((RuntimeError, TypeError)):
                x.cuda(*arguments)
        with self.assertRaisesRegex(TypeError, "device"):
            x.cuda(0, device=0)
        with self.assertRaisesRegex(TypeError, "nonblocking"):
            x.cuda(nonblocking=True)
        with self.assertRaises(RuntimeError):
            x.cuda(7)

    def test_modes_and_subclasses_see_cuda_by_its_name(self) -> None:
        seen = []

        class Mode(torch.overrides.TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
                seen.append(function)
                return function(*args, **(kwargs or {}))

        class Subclass(torch.Tensor):
            pass

        x = torch.ones(2)
        with Mode():
            moved = x.cuda(0, non_blocking=True)
            self.assertTrue(moved.is_cuda)
        self.assertIn(torch.Tensor.cuda, seen)
        self.assertIn(torch.Tensor.is_cuda.__get__, seen)
        with torch.device("cuda:1"):
            self.assertEqual(x.cuda(0).get_device(), 0)
            self.assertEqual(torch.ones(1).get_device(), 1)
        wrapped = x.as_subclass(Subclass).cuda()
        self.assertIsInstance(wrapped, Subclass)
        self.assertTrue(wrapped.is_cuda)

    def test_keys_of_dispatch(self) -> None:
        self.assertEqual(torch._C._dispatch_key_for_device("cuda"), "PrivateUse1")
        self.assertTrue(
            torch._C._dispatch_has_kernel_for_dispatch_key("aten::empty.memory_format", "CUDA")
        )

    def test_threads_have_the_same_names(self) -> None:
        names: list[str] = []
        threads = [
            threading.Thread(
                target=lambda: names.extend(str(torch.device("cuda:1")) for _ in range(200))
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        self.assertEqual(set(names), {"cuda:1"})
        self.assertLen(names, 1600)

    def test_files_say_cuda(self) -> None:
        file = io.BytesIO()
        torch.save({"x": torch.arange(3, device="cuda:1")}, file)
        self.assertIn(b"cuda:1", file.getvalue())
        file.seek(0)
        self.assertEqual(torch.load(file, weights_only=True)["x"].get_device(), 1)
        for place in (
            "cuda:0",
            torch.device("cuda:0"),
            {"cuda:1": "cuda:0"},
            lambda storage, _: storage.cuda(0),
        ):
            file.seek(0)
            loaded = torch.load(file, map_location=place)["x"]
            self.assertEqual((loaded.get_device(), loaded.cpu().tolist()), (0, [0, 1, 2]))

    def test_files_of_the_backend_alone_are_read(self) -> None:
        restore()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.pt")
            torch.save(torch.arange(3, device="stand_in:1"), path)
            activate("stand-in")
            self.assertEqual(torch.load(path).device, torch.device("cuda:1"))


class RestoreTest(absltest.TestCase):
    def test_nothing_is_left(self) -> None:
        before = _everything()
        for _ in range(3):
            activate("stand-in")
            self.assertNotEmpty(_changes(before))
            restore()
            self.assertEmpty(_changes(before))
        self.assertEqual(str(torch.device("stand_in:1")), "stand_in:1")
        self.assertNotEqual(torch.device("cuda"), torch.device("stand_in"))
        self.assertFalse(torch.ones(1, device="stand_in").is_cuda)
        # A build without CUDA, and one that finds no driver of CUDA's.
        with self.assertRaisesRegex(
            (AssertionError, RuntimeError), "not compiled with CUDA enabled|NVIDIA driver"
        ):
            torch.ones(1).cuda()

    def test_restoring_twice_is_nothing(self) -> None:
        restore()
        restore()

    def test_tensors_outlive_it(self) -> None:
        activate("stand-in")
        x = torch.ones(2, device="cuda")
        restore()
        self.assertEqual(x.device, torch.device("stand_in:0"))
        self.assertEqual(x.cpu().tolist(), [1, 1])

    def test_failed_activation_leaves_nothing(self) -> None:
        before = _everything()
        namespace = torch_stand_in.default_generators
        # A platform's module without what is needed.
        modules = {
            name: module
            for name, module in sys.modules.items()
            if name.startswith("torch_stand_in")
        }
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mine.toml")
            source = (
                pathlib.Path(sys.modules["torch_cuda_adapter.platforms"].__file__ or "").parent
                / "stand-in.toml"
            )
            path.write_text(
                source.read_text().replace(
                    'namespace = "torch.stand_in"', 'namespace = "torch.none"'
                )
            )
            with self.assertRaisesRegex(errors.AdapterError, "device.namespace"):
                activate(path)
        self.assertEmpty(_changes(before))
        self.assertIs(torch_stand_in.default_generators, namespace)
        self.assertEqual(modules, {name: sys.modules[name] for name in modules})


class CompilationTest(absltest.TestCase):
    def test_inductor_tells_devices_apart_in_its_cache(self) -> None:
        """It is asked on the CPU, too, wherever there is a device."""
        activate("stand-in")
        self.addCleanup(restore)
        cache = importlib.import_module("torch._inductor.codecache").CacheBase
        system = cache.get_system()
        self.assertEqual(system["device"], {"name": torch.cuda.get_device_name()})
        self.assertLen(system["hash"], 64)
        restore()
        self.assertNotIn("device", cache.get_system())


def _changes(before: dict[tuple[str, str], object]) -> list[tuple[str, str]]:
    """Which of torch's attributes are others than before."""
    now = _everything()
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _everything() -> dict[tuple[str, str], object]:
    """All attributes of torch's modules and classes that the adapter could change."""
    import torch.cuda.comm
    import torch.cuda.jiterator
    import torch.cuda.profiler
    import torch.distributed.distributed_c10d
    import torch.utils.cpp_extension

    found: dict[tuple[str, str], object] = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] not in ("torch", "ctypes", "torch_stand_in"):
            continue
        for attribute, value in list(vars(module).items()):
            if attribute.startswith("__"):
                continue
            found[name, attribute] = id(value)
            if type(value).__name__ == "function":
                found[name, f"{attribute}()"] = (id(value.__code__), value.__defaults__)
            if isinstance(value, type) and name.startswith(
                ("torch.cuda", "ctypes", "torch_stand_in")
            ):
                found[name, f"type({attribute})"] = id(type(value))
                found |= {
                    (name, f"{attribute}.{key}"): id(member) for key, member in vars(value).items()
                }
    found |= {("torch.Tensor", name): name in vars(torch.Tensor) for name in ("is_cuda", "cuda")}
    found["sys", "meta_path"] = list(map(id, sys.meta_path))
    return found


if __name__ == "__main__":
    absltest.main()
