"""Writes the C++ that registers a profile's operators for CUDA, through torchgen.

    generate.py --pytorch-root DIR --profile FILE|full --out DIR

torchgen is driven as a library. Instead of taking registrations out of its result, this leaves out what a profile
does not select before torchgen writes: so the wrappers and the direct at::cuda:: functions of other operators,
which would refer to kernels that are not built, do not come to be. What is written is the list OUTPUTS.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from aten_cuda.codegen.operators import BACKENDS, Operators, TorchgenError
from aten_cuda.codegen.selection import Profile, ProfileError, Selected, resolve

SHIM = "c_shim_cuda.cpp"
UFUNC = "UfuncCUDA_add.cu"
REGISTRATIONS = "registrations.json"

OUTPUTS: tuple[str, ...] = (
    *(f"Register{backend}.cpp" for backend in BACKENDS),
    UFUNC,
    SHIM,
    REGISTRATIONS,
)
"""The files that every run writes, whatever the profile (BUILD rules declare them)."""

_IMPL = re.compile(r'^\s*m\.impl\("([^"]+)"', re.MULTILINE)
_NAMESPACE = re.compile(r"TORCH_LIBRARY_IMPL\((\w+), (\w+), m\)")


class Discard:
    """Instead of torchgen's FileManager, for files that a CPU build of PyTorch already has."""

    install_dir = ""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith(("write", "substitute")):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def generate(operators: Operators, selected: Selected, out: Path) -> None:
    """Writes OUTPUTS for a choice of operators.

    Args:
        operators: what torchgen parsed.
        selected: operator names by backend, from selection.resolve.
        out: folder to write to; made when it is not there.

    Raises:
        TorchgenError: torchgen writes a file that is not in OUTPUTS.
    """
    out.mkdir(parents=True, exist_ok=True)
    for backend in BACKENDS:
        _generate_backend(operators, backend, selected[backend], out)
    if not (out / UFUNC).exists():
        (out / UFUNC).write_text(
            "// The profile selects no operator whose kernel torchgen writes.\n"
        )
    registrations = {
        backend: registered(out / f"Register{backend}.cpp", backend) for backend in BACKENDS
    }
    (out / REGISTRATIONS).write_text(json.dumps(registrations, indent=1, sort_keys=True) + "\n")
    unexpected = sorted({path.name for path in out.iterdir()} - set(OUTPUTS))
    if unexpected:
        raise TorchgenError(
            f"torchgen wrote {', '.join(unexpected)}, which generate.py does not declare; add it to OUTPUTS"
        )


def registered(source: Path, backend: str) -> list[str]:
    """The operators that a generated Register*.cpp registers, such as `aten::add.Tensor`, sorted.

    Raises:
        TorchgenError: a TORCH_LIBRARY_IMPL block is for another key than the file's.
    """
    parts = _NAMESPACE.split(source.read_text())
    names: list[str] = []
    for namespace, key, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        if key != backend:
            raise TorchgenError(f"{source.name} registers for {key}; expected {backend}")
        names += [f"{namespace}::{name}" for name in _IMPL.findall(body)]
    return sorted(names)


def _generate_backend(ops: Operators, backend: str, names: set[str], out: Path) -> None:
    """Writes Register<backend>.cpp, and for CUDA the ufunc kernels and AOTInductor's shim."""
    key = ops.dispatch_key(backend)
    units: list[Any] = []
    for unit in ops.grouped:
        taken = [f for f in ops.members(unit) if str(f.func.name) in names]
        if taken and ops.is_structured(unit, backend):
            units.append(unit)  # one kernel serves the whole group
        elif len(taken) == len(ops.members(unit)):
            units.append(unit)
        else:
            units += taken
    # AOTInductor's shim also serves operators that are composed of others, on whatever device.
    shim_functions = [
        op.native
        for op in ops
        if op.name in names or (backend == "CUDA" and "CUDA" not in op.kernels)
    ]
    files = ops.gen.FileManager(
        install_dir=str(out),
        template_dir=str(ops.root / "aten/src/ATen/templates"),
        dry_run=False,
    )
    shim_files = _ShimFiles(str(out)) if backend == "CUDA" else Discard()
    cuda = ops.dispatch_key("CUDA")
    ops.gen.gen_source_files(
        native_functions=shim_functions,
        grouped_native_functions=units,
        structured_native_functions=[unit for unit in units if ops.is_group(unit)],
        view_groups=[],
        selector=_selector(ops, names),
        static_dispatch_idx=[],
        backend_indices=ops.backend_indices,
        aoti_fm=shim_files,
        core_fm=Discard(),
        cpu_vec_fm=Discard(),
        cpu_fm=Discard(),
        device_fms={"cuda": files},
        dispatch_keys=[key],
        functions_keys={cuda},
        rocm=False,
        force_schema_registration=False,
        per_operator_headers=True,
        skip_dispatcher_op_registration=False,
        update_aoti_c_shim=True,
        aoti_backends={cuda},
        extend_aoti_c_shim=False,
    )


class _ShimFiles(Discard):
    """Takes AOTInductor's c_shim_cuda.cpp; the header is the stock one, which declares every function."""

    def __init__(self, install_dir: str) -> None:
        self.install_dir = install_dir

    def write(self, filename: str, env_callable: Callable[[], str]) -> None:
        if filename == SHIM:
            (Path(self.install_dir) / filename).write_text(env_callable())


def _selector(ops: Operators, names: set[str]) -> Any:
    """torchgen's SelectiveBuilder for operators by full name."""
    builder = sys.modules["torchgen.selective_build.selector"].SelectiveBuilder
    chosen = {
        f"{ops[name].native.namespace}::{name}": {
            "is_root_operator": True,
            "is_used_for_training": True,
            "include_all_overloads": False,
        }
        for name in sorted(names)
    }
    return builder.from_yaml_dict({"operators": chosen})


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pytorch-root", type=Path, required=True, help="folder with torchgen and aten"
    )
    parser.add_argument("--profile", required=True, help="`full` or a NAME.profile.json")
    parser.add_argument("--out", type=Path, required=True, help="folder for the generated files")
    args = parser.parse_args(argv)
    try:
        profile = Profile.load(args.profile)
        operators = Operators(args.pytorch_root)
        generate(operators, resolve(profile, operators), args.out)
    except (ProfileError, TorchgenError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
