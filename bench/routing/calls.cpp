// Calls of operators in a loop, for routing.py, which opens this with ctypes
// where torch is loaded.
#include <ATen/ATen.h>

#include <chrono>

namespace {

using Clock = std::chrono::steady_clock;

template <class Call>
double microseconds(int count, const Call& call) {
  const auto begin = Clock::now();
  for (int i = 0; i < count; ++i) {
    call();
  }
  const std::chrono::duration<double, std::micro> passed = Clock::now() - begin;
  return passed.count() / count;
}

} // namespace

/// Microseconds of one call, the mean of `count` in a row. `which`: 0 add.out,
/// 1 add_, 2 add, 3 empty. `device`: of CUDA, or -1 for the CPU. Tensors have
/// four elements; no gradients are recorded. Negative where it throws.
extern "C" double calls(int which, int device, int count) {
  try {
    const c10::InferenceMode inference;
    const auto where = device < 0
        ? at::Device(at::kCPU)
        : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device));
    const auto options = at::TensorOptions().device(where);
    const at::Tensor one = at::zeros({4}, options);
    const at::Tensor other = at::zeros({4}, options);
    at::Tensor out = at::zeros({4}, options);
    switch (which) {
      case 0:
        return microseconds(count, [&] { at::add_out(out, one, other); });
      case 1:
        return microseconds(count, [&] { out.add_(other); });
      case 2:
        return microseconds(count, [&] { at::add(one, other); });
      default:
        return microseconds(count, [&] { at::empty({4}, options); });
    }
  } catch (const std::exception&) {
    return -1;
  }
}
