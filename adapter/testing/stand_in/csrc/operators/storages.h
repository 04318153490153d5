// Storages of the stand-in as the CPU's kernels see them.
#pragma once

#include <c10/core/Storage.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

#include "router/aliasing/storages.h"

namespace torch_stand_in {

/// The storages of one call of an operator, which the host runs: on the
/// devices' memory where it sees that, else on copies. The call waits for the
/// current streams of the devices. What the CPU allocates becomes memory of
/// the device that the call is for.
class CallStorages final : public torch_cuda::aliasing::Storages {
 public:
  c10::Storage far(
      const c10::Storage& near,
      bool written,
      const c10::TensorImpl* reached_by) override;
  c10::Storage near(const c10::Storage& far) override;
  void take_over() override;
  c10::Device far(c10::Device near) const override;
  c10::Device near(c10::Device far) const override;

  /// The device of results: this one, else that of the first storage, else the
  /// current one.
  void set_home(c10::Device device) {
    home_ = device;
  }
  c10::Device home() const;

 private:
  struct Pair {
    c10::Storage near;
    c10::intrusive_ptr<c10::StorageImpl> far;
    const void* data; // of the far one when it was made
    bool written;
    bool copied;
  };

  std::optional<c10::Device> home_;
  c10::SmallVector<Pair, 4> pairs_;
};

} // namespace torch_stand_in
