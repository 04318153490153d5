// What kernels are run on to learn the geometry of their results, while a
// stream is captured and no memory of the device may be touched.
#pragma once

#include "router/operators/tensors/host_storages.h"

namespace torch_cuda::operators {

/// Memory of the host, zeros where no tensor reaches it; what is never written
/// to costs nothing. What a tensor reaches holds ones, which every kernel takes
/// (a probability, a divisor, a standard deviation). Results are over new
/// memory of the device, with nothing in it.
class Placeholders final : public HostStorages {
 public:
  /// `integers` is what integers and flags hold, which may be indices or
  /// divisors.
  Placeholders(c10::Device device, int integers)
      : HostStorages(device), integers_(integers) {}

 private:
  c10::DataPtr host_data(c10::StorageImpl& storage, bool written) override;
  c10::Storage device_storage(const c10::Storage& host) override;
  void reach(const Pair& pair, bool written, const c10::TensorImpl* reached_by)
      override;
  void take_over_written(const Pair& pair) override;
  c10::DataPtr take_over_data(const Pair& pair) override;

  int integers_;
};

} // namespace torch_cuda::operators
