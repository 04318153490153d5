// The same device, stream and type under its two names: pu and cuda.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

namespace torch_pu {

constexpr c10::DeviceType kPu = c10::DeviceType::PrivateUse1;
constexpr c10::DeviceType kCuda = c10::DeviceType::CUDA;

inline c10::Device to_cuda(c10::Device device) {
  return device.type() == kPu ? c10::Device(kCuda, device.index()) : device;
}

inline c10::Device to_pu(c10::Device device) {
  return device.type() == kCuda ? c10::Device(kPu, device.index()) : device;
}

inline c10::Stream to_cuda(const c10::Stream& stream) {
  return c10::Stream(
      c10::Stream::UNSAFE, to_cuda(stream.device()), stream.id());
}

inline c10::Stream to_pu(const c10::Stream& stream) {
  return c10::Stream(c10::Stream::UNSAFE, to_pu(stream.device()), stream.id());
}

} // namespace torch_pu
