// What kernels are run on to learn the geometry of their results, while a
// stream is captured and no memory of the device may be touched.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>

#include <cstddef>

namespace torch_cuda::operators {

/// Memory of the host, all zeros; what is never written to costs nothing.
c10::DataPtr stand_in(std::size_t bytes);

/// Whether memory came from stand_in().
bool is_stand_in(const c10::DataPtr& data);

/// Fills the part of a stand-in that a tensor like `like` reaches: with ones,
/// which every kernel takes (a probability, a divisor, a standard deviation);
/// integers and flags, which may be indices or divisors, with `integers`.
void fill_stand_in(
    const c10::Storage& storage,
    const c10::TensorImpl& like,
    int integers);

} // namespace torch_cuda::operators
