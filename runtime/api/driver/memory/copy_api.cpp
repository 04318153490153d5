// Copies of planes and boxes. Source: CUDA driver API, memory management.
#include "runtime/api/driver/call.h"
#include "runtime/api/driver/copies/copy_box.h"
#include "runtime/core/operations/copies.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::box_of;
using accelerator::driver::call;
using accelerator::driver::current_context;
using accelerator::driver::resolve_context;

namespace {

template <typename Box>
void copy_box(const Box* box, CUstream stream, bool wait) {
  require(box != nullptr);
  current_context();
  copy(stream, box_of(*box), wait);
}

void copy_between(const CUDA_MEMCPY3D_PEER* p, CUstream stream, bool wait) {
  require(p != nullptr);
  resolve_context(p->srcContext);
  resolve_context(p->dstContext);
  copy_box(p, stream, wait);
}

} // namespace

extern "C" {

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* plane) {
  return call([&] { copy_box(plane, nullptr, true); });
}

// Any pitch is taken by both.
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* plane) {
  return call([&] { copy_box(plane, nullptr, true); });
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* plane, CUstream stream) {
  return call([&] { copy_box(plane, stream, false); });
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* box) {
  return call([&] { copy_box(box, nullptr, true); });
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* box, CUstream stream) {
  return call([&] { copy_box(box, stream, false); });
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* box) {
  return call([&] { copy_between(box, nullptr, true); });
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* box, CUstream stream) {
  return call([&] { copy_between(box, stream, false); });
}

} // extern "C"
