// A storage of pu stands on a storage of CUDA: one pair for an allocation.
//
// The CUDA storage owns the memory. The storage of pu holds it as the context
// of its data pointer, so that both are alive while either is used. A program
// that has both sees one memory, and a storage that comes back from the other
// side is the one that went there.
#pragma once

#include "router/aliasing/storages.h"

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>

namespace torch_pu {

/// Memory of CUDA's caching allocator as data of pu.
c10::Allocator* allocator();

/// The CUDA storage behind a data pointer of pu; null where the memory came
/// from elsewhere, as with DLPack.
c10::StorageImpl* cuda_storage_of(const c10::DataPtr& data);

/// The CUDA storage that a storage of pu stands on. Memory that came from
/// elsewhere gets one.
c10::Storage cuda_storage(const c10::Storage& pu);

/// The storage of pu on a CUDA storage that a program can have in its hands:
/// the one that is there, or a new one.
c10::Storage pu_storage(const c10::Storage& cuda);

/// Remembers that a program gets the CUDA storage of `pu` in its hands, so that
/// pu_storage() finds the way back.
void hand_out(const c10::Storage& pu, const c10::Storage& cuda);

/// Makes a storage of pu say what its CUDA storage says: address and size.
void refresh(c10::StorageImpl& pu, c10::StorageImpl& cuda);

/// The storages of one call of an operator.
class Pairs final : public torch_cuda::aliasing::Storages {
 public:
  c10::Storage far(
      const c10::Storage& near,
      bool written,
      const c10::TensorImpl* reached_by) override;
  c10::Storage near(const c10::Storage& far) override;
  void take_over() override;
  c10::Device far(c10::Device near) const override;
  c10::Device near(c10::Device far) const override;

 private:
  struct Pair {
    c10::Storage pu;
    c10::StorageImpl* cuda;
  };
  c10::SmallVector<Pair, 4> pairs_;
};

} // namespace torch_pu
