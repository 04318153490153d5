// What lives here: the implementation of hooks.h, see there.
#include "python/csrc/hooks.h"

#include <ATen/cuda/detail/CUDAHooks.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "python/csrc/first_use.h"

namespace torch_cuda {
namespace {

// Upstream's, and what waits for the first use of CUDA.
struct Cuda final : at::cuda::detail::CUDAHooks {
  using at::cuda::detail::CUDAHooks::CUDAHooks;

  void init() const override {
    at::cuda::detail::CUDAHooks::init();
    route_operators();
  }
};
using NoCuda = at::CUDAHooksInterface;

// Both must fit into the memory that `new CUDAHooksInterface` got, and neither
// may hold anything that would be lost or leaked.
static_assert(
    sizeof(Cuda) == sizeof(NoCuda) && sizeof(NoCuda) == sizeof(void*),
    "CUDAHooks got data members: it can no longer be built in place over the "
    "CUDAHooksInterface that libtorch_cpu keeps");
static_assert(
    alignof(Cuda) == alignof(NoCuda),
    "CUDAHooks is aligned unlike CUDAHooksInterface");

// The object that libtorch_cpu keeps. It is handed out as const, but it was
// made by a plain `new`, so writing to it is defined.
NoCuda* kept_hooks() {
  return const_cast<NoCuda*>(&at::detail::getCUDAHooks());
}

} // namespace

bool install_cuda_hooks() {
  NoCuda* kept = kept_hooks();
  const std::type_info& type = typeid(*kept);
  if (type == typeid(Cuda)) {
    return false;
  }
  if (type != typeid(NoCuda)) {
    throw std::runtime_error(
        "found the CUDA hooks of another backend in this process (C++ type " +
        std::string(type.name()) +
        "); torch_cuda needs a torch without one: uninstall the other backend");
  }
  kept->~NoCuda();
  new (kept) Cuda(at::CUDAHooksArgs{});
  return true;
}

void remove_cuda_hooks() noexcept {
  NoCuda* kept = kept_hooks();
  kept->~NoCuda();
  new (kept) NoCuda();
}

} // namespace torch_cuda
