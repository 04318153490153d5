// Launching kernels. Source: CUDA driver API, execution control.
#include <memory>
#include <utility>

#include "runtime/api/driver/call.h"
#include "runtime/core/modules/launch.h"
#include "runtime/core/streams/work/submit.h"

using namespace accelerator::runtime;
using accelerator::driver::call;
using accelerator::driver::current_context;

namespace {

void launch(
    CUfunction handle,
    const accelerator::runtime::Dim3& grid,
    const accelerator::runtime::Dim3& block,
    unsigned shared_bytes,
    CUstream stream_handle,
    void** arguments,
    void** extra,
    bool cooperative) {
  Device& device = current_context();
  const auto stream = resolve_stream(stream_handle);
  require(&stream->device() == &device, cudaErrorInvalidResourceHandle);
  KernelWork work;
  work.function = machine().functions().get(handle);
  work.grid = grid;
  work.block = block;
  work.shared_bytes = shared_bytes;
  work.cooperative = cooperative;
  work.symbol = handle;
  submit_launch(*stream, std::move(work), [&](const KernelInfo& info) {
    require(arguments == nullptr || extra == nullptr); // one kind or the other
    return extra != nullptr ? unpack_extra(info, extra)
                            : pack_parameters(info, arguments);
  });
}

} // namespace

extern "C" {

CUresult cuLaunchKernel(
    CUfunction function,
    unsigned grid_x,
    unsigned grid_y,
    unsigned grid_z,
    unsigned block_x,
    unsigned block_y,
    unsigned block_z,
    unsigned shared_bytes,
    CUstream stream,
    void** arguments,
    void** extra) {
  return call([&] {
    launch(
        function,
        {grid_x, grid_y, grid_z},
        {block_x, block_y, block_z},
        shared_bytes,
        stream,
        arguments,
        extra,
        false);
  });
}

CUresult cuLaunchCooperativeKernel(
    CUfunction function,
    unsigned grid_x,
    unsigned grid_y,
    unsigned grid_z,
    unsigned block_x,
    unsigned block_y,
    unsigned block_z,
    unsigned shared_bytes,
    CUstream stream,
    void** arguments) {
  return call([&] {
    launch(
        function,
        {grid_x, grid_y, grid_z},
        {block_x, block_y, block_z},
        shared_bytes,
        stream,
        arguments,
        nullptr,
        true);
  });
}

CUresult cuLaunchKernelEx(
    const CUlaunchConfig* configuration,
    CUfunction function,
    void** arguments,
    void** extra) {
  return call([&] {
    require(
        configuration != nullptr &&
        (configuration->numAttrs == 0 || configuration->attrs != nullptr));
    bool cooperative = false;
    for (unsigned i = 0; i < configuration->numAttrs; ++i) {
      const CUlaunchAttribute& attribute = configuration->attrs[i];
      if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
        cooperative = attribute.value.cooperative != 0;
      } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        const auto& cluster = attribute.value.clusterDim;
        if (cluster.x * cluster.y * cluster.z > 1) {
          throw Failure(
              cudaErrorNotSupported,
              "cuLaunchKernelEx: thread block clusters are not supported");
        }
      }
    }
    launch(
        function,
        {configuration->gridDimX,
         configuration->gridDimY,
         configuration->gridDimZ},
        {configuration->blockDimX,
         configuration->blockDimY,
         configuration->blockDimZ},
        configuration->sharedMemBytes,
        configuration->hStream,
        arguments,
        extra,
        cooperative);
  });
}

} // extern "C"
