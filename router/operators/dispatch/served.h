// Who serves an operator of CUDA tensors on a device: for people and reports.
#pragma once

#include <ATen/core/operator_name.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <string>
#include <vector>

namespace torch_cuda::operators {

/// The host's kernels serve an operator, on devices that do not serve
/// themselves.
void note_hosts(const c10::OperatorName& name);

/// Nobody serves it, on devices that do not serve themselves.
void note_refused(const c10::OperatorName& name);

/// A vendor's kernel serves it on its devices.
void note_vendors(
    const c10::OperatorName& name,
    const std::string& vendor,
    const std::vector<c10::DeviceIndex>& devices);

/// The vendor's name, "host", "upstream" for a CUDA kernel of PyTorch's, or
/// "composite" for what is made of other operators, or "none" for CUDA code
/// that the device does not run.
std::string server_of(const c10::OperatorName& name, c10::DeviceIndex device);

} // namespace torch_cuda::operators

/// server_of for Python.
/// @param name such as "aten::add.Tensor", @param text gets the answer, @param
/// capacity its size in bytes.
/// @returns 0, or -1 when PyTorch has no such operator.
extern "C" int torch_cuda_served_by(
    const char* name,
    int device,
    char* text,
    std::size_t capacity);
