// The file of a vendor's operators: which one is for this PyTorch.
#pragma once

#include <optional>
#include <string>

namespace torch_cuda::operators::vendor {

/// Finds the operators of a device library beside it:
/// libaccel_NAME_operators-MINOR.so of a version of PyTorch, or
/// libaccel_NAME_operators.so, which says itself for which version it is.
/// @param name the device library's.
/// @param device_library its path.
/// @param torch a minor version of PyTorch, such as "2.15".
/// @return the path, or nothing where the device has no operators.
/// @throws c10::Error where there are operators for other versions only: for
/// which ones, and what can be done.
std::optional<std::string> operators_beside(
    const std::string& name,
    const std::string& device_library,
    const std::string& torch);

/// Looks into a library of operators without opening it.
/// @param file its path.
/// @param torch a minor version of PyTorch.
/// @return why it cannot be opened in a process with that PyTorch; empty where
/// nothing is against it.
std::string why_not_opened(const std::string& file, const std::string& torch);

} // namespace torch_cuda::operators::vendor
