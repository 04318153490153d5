// Errors of CUDA's kernels in the words of pu.
#pragma once

#include <string>

namespace torch_pu {

/// A message that names devices of pu, which CUDA's kernels wrote for theirs:
/// "cuda:0" becomes "pu:0". What is about CUDA itself stays.
std::string in_words_of_pu(std::string message);

/// Throws the exception that is being handled as one of the same type with a
/// message in the words of pu. To be called in a handler of c10::Error.
[[noreturn]] void rethrow_in_words_of_pu();

} // namespace torch_pu
