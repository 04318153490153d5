"""A device that is not CUDA: its compiler is a plain C++ one for sources that end in .xpp."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from types import ModuleType
from unittest import mock

import setuptools  # type: ignore[import-untyped]
from absl.testing import absltest
from torch_cuda.utils.cpp_extension import BuildExtension, NewDeviceCppExtension

_SOURCES = pathlib.Path(__file__).parent / "sources"
_VALUE = "#define ANSWER_VALUE {}\n"


def describe(headers: pathlib.Path, **changes: object) -> NewDeviceCppExtension:
    """A device whose compiler is g++, told by -DON_DEVICE that it is the device's."""
    description: dict[str, object] = {
        "name": "xpu1",
        "compiler": ["g++", "-x", "c++"],
        "suffixes": (".xpp",),
        "compile_flags": ["-fPIC", "-DON_DEVICE"],
        "include_paths": [str(headers)],
        "macros": [("HOST_ANSWER", "3")],
        "inline_includes": (),
    }
    return NewDeviceCppExtension(**{**description, **changes})  # type: ignore[arg-type]


class NewDeviceTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.headers = self.folder / "headers"
        self.headers.mkdir()
        self.build_folder = self.folder / "build"
        self.set_value(1)

    def set_value(self, value: int) -> None:
        (self.headers / "answer_value.h").write_text(_VALUE.format(value), encoding="utf-8")

    def sources(self) -> list[str]:
        return [str(_SOURCES / "answer.xpp"), str(_SOURCES / "answer.cpp")]

    def load(
        self, device: NewDeviceCppExtension, sources: Sequence[str] | None = None, flag: int = 2
    ) -> ModuleType:
        module: ModuleType = device.load(
            "answer",
            sources or self.sources(),
            extra_device_flags=[f"-DFROM_FLAGS={flag}"],
            build_directory=self.build_folder,
        )
        return module


class LoadTest(NewDeviceTest):
    def test_each_compiler_gets_its_sources_and_both_the_macros(self) -> None:
        self.assertEqual(self.load(describe(self.headers)).answers(), (1, 2, 3))

    def test_changed_flags_give_a_new_module_and_the_old_one_stays(self) -> None:
        device = describe(self.headers)
        old = self.load(device)
        new = self.load(device, flag=20)
        same = self.load(device)
        self.assertEqual([old.answers()[1], new.answers()[1], same.answers()[1]], [2, 20, 2])
        self.assertNotEqual(old.__file__, new.__file__)

    def test_suffix_may_have_two_dots(self) -> None:
        source = self.folder / "answer.dev.cpp"
        shutil.copy(_SOURCES / "answer.xpp", source)
        device = describe(self.headers, name="xpu2", suffixes=(".dev.cpp",))
        module = self.load(device, [str(source), str(_SOURCES / "answer.cpp")])
        self.assertEqual(module.answers(), (1, 2, 3))

    def test_compiler_and_paths_can_be_found_when_they_are_needed(self) -> None:
        device = describe(
            self.headers,
            name="xpu3",
            compiler=lambda: ["g++", "-x", "c++"],
            include_paths=lambda: [str(self.headers)],
            compile_flags=lambda user: ["-fPIC", f"-DON_DEVICE={len(user)}"],
        )
        self.assertEqual(self.load(device).answers(), (1, 2, 3))

    def test_library_of_the_device_is_linked(self) -> None:
        library = self.folder / "libs" / "libxanswer.so"
        library.parent.mkdir()
        subprocess.run(
            ["g++", "-shared", "-fPIC", "-o", library, "-x", "c++", "-"],
            input="int answer_of_host() { return 42; }",
            text=True,
            check=True,
        )
        device = describe(
            self.headers,
            name="xpu4",
            library_paths=[str(library.parent)],
            libraries=["xanswer"],
            link_flags=[f"-Wl,-rpath,{library.parent}"],
        )
        module = self.load(device, [str(_SOURCES / "answer.xpp")])
        self.assertEqual(module.answers(), (1, 2, 42))

    def test_translator_changes_device_and_host_sources(self) -> None:
        source = self.folder / "answer.foreign"
        source.write_text(
            (_SOURCES / "answer.xpp")
            .read_text(encoding="utf-8")
            .replace("FROM_FLAGS", "FOREIGN_NAME"),
            encoding="utf-8",
        )

        def translate(
            sources: Sequence[pathlib.Path], folder: pathlib.Path
        ) -> Sequence[pathlib.Path]:
            translated = []
            for path in sources:
                suffix = ".xpp" if path.suffix == ".foreign" else path.suffix
                translated.append(folder / f"{path.stem}{suffix}")
                text = path.read_text(encoding="utf-8")
                text = text.replace("FOREIGN_NAME", "FROM_FLAGS")
                translated[-1].write_text(text.replace("HOST_ANSWER", "30"), encoding="utf-8")
            return translated

        device = describe(self.headers, name="xpu5", translate=translate)
        module = self.load(device, [str(source), str(_SOURCES / "answer.cpp")])
        self.assertEqual(module.answers(), (1, 2, 30))

    def test_inline_code_is_compiled_by_each_compiler(self) -> None:
        device = describe(self.headers, name="xpu6")
        module = device.load_inline(
            "inline_answer",
            "int doubled(int value);",
            "#ifdef ON_DEVICE\nint doubled(int value) { return 2 * value; }\n#endif",
            functions={"doubled": 'Says "twice".'},
            build_directory=self.build_folder,
        )
        self.assertEqual(module.doubled(21), 42)
        self.assertIn('Says "twice".', module.doubled.__doc__)


_SETUP = """
from setuptools import setup
import torch
from torch.utils.cpp_extension import BuildExtension, NewDeviceCppExtension
device = NewDeviceCppExtension(
    name="xpu1", compiler=["g++", "-x", "c++"], suffixes=(".xpp",), include_paths=["headers"],
    compile_flags=["-fPIC", "-DON_DEVICE"], macros=[("HOST_ANSWER", "3")])
setup(
    name="answer",
    ext_modules=[device("answer", ["answer.xpp", "answer.cpp"],
                        extra_compile_args={"xpu1": ["-DFROM_FLAGS=2"]})],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=USE_NINJA)},
)
"""


class SetupPyTest(NewDeviceTest):
    def setUp(self) -> None:
        super().setUp()
        for source in self.sources():
            shutil.copy(source, self.folder)

    def build(self, *, use_ninja: bool = True) -> str:
        text = _SETUP.replace("USE_NINJA", repr(use_ninja))
        (self.folder / "setup.py").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "setup.py", "build_ext", "--inplace"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def answers(self) -> str:
        # Bazel keeps the current folder off Python's path (PYTHONSAFEPATH).
        code = "import sys, torch; sys.path.insert(0, ''); import answer; print(answer.answers())"
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def test_it_builds_with_ninja_and_without(self) -> None:
        for use_ninja in (True, False):
            with self.subTest(use_ninja=use_ninja):
                self.set_value(5 + use_ninja)
                # Without ninja, setuptools does not see that a header has changed.
                (self.folder / "answer.xpp").touch()
                self.build(use_ninja=use_ninja)
                self.assertEqual(self.answers(), f"({5 + use_ninja}, 2, 3)")

    def test_changed_header_compiles_what_includes_it_and_nothing_else(self) -> None:
        self.build()
        self.set_value(8)
        # Ninja compares times, and a file system may round them.
        later = time.time() + 5
        os.utime(self.headers / "answer_value.h", (later, later))
        printed = self.build()
        self.assertIn("[1/1]", printed)
        self.assertIn("answer.xpp", printed)
        self.assertNotIn("answer.cpp", printed)
        self.assertEqual(self.answers(), "(8, 2, 3)")

    def test_max_jobs_is_heard(self) -> None:
        # One job at a time: the compilers, which report when they run, never meet.
        compiler = self.folder / "slow_compiler"
        compiler.write_text(
            '#!/bin/sh\nmkdir meeting || exit 1\nsleep 0.2\nrmdir meeting\nexec g++ "$@"\n',
            encoding="utf-8",
        )
        compiler.chmod(0o755)
        for index in range(4):
            (self.folder / f"part{index}.xpp").write_text("", encoding="utf-8")
        with mock.patch.dict(os.environ, {"MAX_JOBS": "1"}):
            device = describe(self.headers, name="xpu7", compiler=[str(compiler), "-x", "c++"])
            parts = [str(self.folder / f"part{index}.xpp") for index in range(4)]
            module = self.load(device, [*self.sources(), *parts])
        self.assertEqual(module.answers(), (1, 2, 3))


_LINKER = """#!/bin/sh
# With -dlink: writes an object that has what only linking device code can tell, here a number of
# objects. Else a C++ compiler.
for argument; do
  [ "$last" = -o ] && output=$argument
  case $argument in *.o) objects=$((objects + 1));; esac
  last=$argument
done
case " $* " in
  *" -dlink "*) echo "int answer_of_host() { return $objects; }" |
    g++ -x c++ -fPIC -c -o "$output" -
    exit ;;
esac
exec g++ -x c++ "$@"
"""


class DeviceLinkTest(NewDeviceTest):
    def test_device_code_is_linked_from_all_objects(self) -> None:
        linker = self.folder / "linker"
        linker.write_text(_LINKER, encoding="utf-8")
        linker.chmod(0o755)
        empty = self.folder / "empty.xpp"
        empty.touch()
        device = describe(
            self.headers, name="xpu8", compiler=[str(linker)], device_link_flags=["-dlink"]
        )
        extension = device(
            "linked",
            [str(_SOURCES / "answer.xpp"), str(empty)],
            dlink=True,
            extra_compile_args={"xpu8": ["-DFROM_FLAGS=2"]},
        )
        command = BuildExtension(
            setuptools.Distribution({"name": "linked", "ext_modules": [extension]})
        )
        command.build_lib = command.build_temp = str(self.build_folder)
        command.ensure_finalized()
        command.run()
        spec = importlib.util.spec_from_file_location("linked", command.get_ext_fullpath("linked"))
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Two sources' objects, and its own output.
        self.assertEqual(module.answers(), (1, 2, 3))


if __name__ == "__main__":
    absltest.main()
