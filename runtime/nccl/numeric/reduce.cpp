#include "runtime/nccl/numeric/reduce.h"

#include <cstdlib>
#include <string_view>

#include "runtime/nccl/numeric/kernels.h"

namespace accelerator::nccl {
namespace {

#if defined(__x86_64__)
bool has_v3() {
  // The second is the simulated device's, which refuses unknown words: who sets
  // it wants the host's code of a kind, wherever it is.
  const char* wish = std::getenv("TORCH_CUDA_ISA");
  wish = wish == nullptr ? std::getenv("CUDASIM_ISA") : wish;
  return __builtin_cpu_supports("x86-64-v3") != 0 &&
      (wish == nullptr || std::string_view(wish) != "baseline");
}
#endif

Kernel kernel_of(ncclDataType_t type, Reduction reduction) {
#if defined(__x86_64__)
  static const bool v3 = has_v3();
  if (v3) {
    return v3::find_kernel(type, reduction);
  }
#endif
  return baseline::find_kernel(type, reduction);
}

} // namespace

void reduce(
    ncclDataType_t type,
    Reduction reduction,
    const std::vector<Input>& inputs,
    const std::vector<void*>& outputs,
    std::size_t count) {
  const Kernel kernel = kernel_of(type, reduction);
  if (kernel != nullptr && !inputs.empty() && !outputs.empty()) {
    kernel(inputs, outputs, count);
  }
}

} // namespace accelerator::nccl
