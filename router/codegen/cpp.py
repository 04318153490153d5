"""Writes the C++ of a vendor's operators: declarations of its kernels, and their registration.

What a kernel is called by is torchgen's work, as in PyTorch's own build: unboxed wrappers with a
device guard, and for structured kernels the classes that make the outputs of each variant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from torchgen import dest
from torchgen.model import (
    BackendIndex,
    BackendMetadata,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
)
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import Target

from router.codegen import autograd, versions
from router.codegen.operators import Entry, Operators
from router.codegen.upstream_operators import Upstream

Unit: TypeAlias = "NativeFunction | NativeFunctionsGroup"


def header(operators: Operators, upstream: Upstream) -> str:
    """The declarations of the functions that the vendor writes.

    Args:
      operators: of the YAML.
      upstream: PyTorch's operators.

    Returns:
      The text of operators.h.
    """
    roots = {unit.functional.root_name for unit in _structured(operators, upstream)}
    includes = [f"#include <ATen/ops/{root}_meta.h>" for root in sorted(roots)]
    declared = []
    for key in (DispatchKey.CUDA, DispatchKey.Meta):
        index = _index(operators, key, upstream)
        for unit in _units(operators, upstream, key):
            declared += dest.compute_native_function_declaration(unit, index)
    # One function may serve CUDA and Meta, for which newer versions of torchgen have macros of their own.
    declared = [text.replace("TORCH_CUDA_CPP_API", "TORCH_API") for text in declared]
    declared = list(dict.fromkeys(declared))
    return f"""{_head(operators, "The kernels of the device")}
#pragma once

#include <ATen/core/Tensor.h>
{_lines(includes)}
#include <optional>
#include <tuple>
#include <vector>

namespace {operators.device} {{

{_lines(declared)}
{_namespace("ops", autograd.declarations(_own(operators)))}
}} // namespace {operators.device}
"""


def source(operators: Operators, upstream: Upstream) -> str:
    """The registrations of the vendor's kernels.

    Args:
      operators: of the YAML.
      upstream: PyTorch's operators.

    Returns:
      The text of operators.cpp.
    """
    own = _own(operators)
    cuda = DispatchKey.CUDA
    parts = [
        _wrappers(operators, upstream, key, Target.ANONYMOUS_DEFINITION)
        for key in (cuda, DispatchKey.Meta)
    ]
    device = operators.device
    # What derivatives are written with.
    formulas = "#include <ATen/Functions.h>\n#include <ATen/TensorOperators.h>\n"
    if not any(entry.autograd for entry in own):
        formulas = ""
    # Tensors have had names until 2.14. The compiler is not asked: it may find another PyTorch's header.
    names = "#include <ATen/NamedTensorUtils.h>\n"
    if versions.minor(upstream.version) >= (2, 15):
        names = ""
    return f"""{_head(operators, "The registrations of the device")}
#include "{device}/operators.h"

#include "router/operators/vendor/table.h"

#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
{names}#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>
{formulas}
namespace at {{
namespace {{
{_lines(_helpers())}
{_lines(parts)}
}} // namespace

TORCH_CUDA_OPERATORS(m) {{
{_wrappers(operators, upstream, cuda, Target.REGISTRATION)}
}}

{_library(operators, upstream, own)}
}} // namespace at

{_namespace(device, _namespace("ops", autograd.definitions(device, own)))}
{_autograd_library(device, own)}"""


def _head(operators: Operators, what: str) -> str:
    return f"// {what} {operators.device}, by {operators.source}: written by router/codegen."


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _namespace(name: str, text: str) -> str:
    return f"namespace {name} {{\n{text}\n}} // namespace {name}\n" if text.strip() else ""


def _own(operators: Operators) -> tuple[Entry, ...]:
    return tuple(entry for entry in operators.entries if entry.own)


def _structured(operators: Operators, upstream: Upstream) -> list[NativeFunctionsGroup]:
    return [upstream.group(entry.name) for entry in operators.entries if entry.structured]


def _units(operators: Operators, upstream: Upstream, key: DispatchKey) -> list[Unit]:
    """What torchgen writes code for: functions, or all variants of a structured operator."""
    units: list[Unit] = []
    for entry in operators.entries:
        if key is DispatchKey.Meta:
            units += [entry.function] if entry.meta else []
        elif entry.structured:
            units.append(upstream.group(entry.name))
        elif entry.kernel:
            units.append(entry.function)
    return units


def _index(operators: Operators, key: DispatchKey, upstream: Upstream) -> BackendIndex:
    """The vendor's kernels as torchgen knows a backend's."""
    kernels = {}
    for entry in operators.entries:
        kernel = entry.meta if key is DispatchKey.Meta else entry.kernel
        if kernel:
            kernels[entry.function.func.name] = BackendMetadata(
                kernel, structured=entry.structured, cpp_namespace=operators.device
            )
    return BackendIndex(
        dispatch_key=key,
        use_out_as_primary=True,
        device_guard=key is DispatchKey.CUDA,
        external=False,
        index=kernels,
    )


def _generator(
    operators: Operators, upstream: Upstream, key: DispatchKey, target: Target
) -> dest.RegisterDispatchKey:
    return dest.RegisterDispatchKey(
        _index(operators, key, upstream),
        target,
        SelectiveBuilder.get_nop_selector(),
        rocm=False,
        symint=False,
        class_method_name=None,
        skip_dispatcher_op_registration=False,
    )


def _wrappers(operators: Operators, upstream: Upstream, key: DispatchKey, target: Target) -> str:
    generate = _generator(operators, upstream, key, target)
    own = {entry.function.func.name for entry in operators.entries if entry.own}
    texts = []
    for unit in _units(operators, upstream, key):
        text = "\n".join(generate(unit))
        into_table = target is Target.REGISTRATION and key is DispatchKey.CUDA
        if into_table and isinstance(unit, NativeFunction) and unit.func.name in own:
            # The table takes operators of all namespaces.
            text = text.replace('m.impl("', f'm.impl("{operators.device}::')
        # A guard of any device does the same, and needs nothing of CUDA.
        texts.append(text.replace("c10::cuda::OptionalCUDAGuard", "c10::OptionalDeviceGuard"))
    return "\n".join(texts)


def _helpers() -> Sequence[str]:
    """What torchgen's classes make outputs with; by at::empty, which is right for any device."""
    index = BackendIndex(
        dispatch_key=DispatchKey.CompositeExplicitAutogradNonFunctional,
        use_out_as_primary=True,
        device_guard=False,
        external=False,
        index={},
    )
    helpers: list[str] = dest.gen_registration_helpers(index)
    return [
        'C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wunused-function")',
        *(line for line in helpers if not line.strip().startswith("C10_DIAGNOSTIC")),
        _RESIZE_OUT,
        "C10_DIAGNOSTIC_POP()",
    ]


_RESIZE_OUT = """
void resize_out(
    const Tensor& out,
    IntArrayRef sizes,
    IntArrayRef strides,
    const TensorOptions& options) {
  TORCH_CHECK(
      options.dtype() == out.dtype() && options.device() == out.device(),
      "Expected out tensor of dtype ", options.dtype(), " on ", options.device(),
      ", but got dtype ", out.dtype(), " on ", out.device());
  if (at::native::resize_output(out, sizes) && !strides.empty()) {
    // It was resized, so that the kernel may choose.
    out.as_strided_(sizes, strides);
  }
}
"""


def _library(operators: Operators, upstream: Upstream, own: Sequence[Entry]) -> str:
    """Definitions of the vendor's own operators, and their kernels for meta tensors."""
    if not own:
        return ""
    defined = _lines(f'  m.def("{entry.function.func}");' for entry in own)
    text = f"TORCH_LIBRARY_FRAGMENT({operators.device}, m) {{\n{defined}\n}}\n"
    metas = _wrappers(operators, upstream, DispatchKey.Meta, Target.REGISTRATION)
    if metas:
        text += f"\nTORCH_LIBRARY_IMPL({operators.device}, Meta, m) {{\n{metas}}}\n"
    return text


def _autograd_library(device: str, own: Sequence[Entry]) -> str:
    lines = []
    for entry in own:
        if entry.autograd:
            name = autograd.wrapper(entry)
            lines.append(f'  m.impl("{entry.name}", TORCH_FN(::{device}::ops::{name}));')
    return f"TORCH_LIBRARY_IMPL({device}, Autograd, m) {{\n{_lines(lines)}\n}}\n" if lines else ""
