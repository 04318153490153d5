#include "runtime/core/streams/work/work.h"

#include <memory>

#include "runtime/core/backends/api_status.h"
#include "runtime/core/machine/device.h"
#include "runtime/core/streams/stream.h"
#include "runtime/core/streams/work/transfer.h"
#include "runtime/core/streams/work/work_record.h"

namespace accelerator::runtime {
namespace {

void put_kernel(
    Stream& stream,
    const LoadedKernel& kernel,
    const KernelWork& work) {
  accel_launch launch{};
  launch.struct_size = sizeof(launch);
  launch.kernel = kernel.native;
  launch.grid[0] = work.grid.x;
  launch.grid[1] = work.grid.y;
  launch.grid[2] = work.grid.z;
  launch.block[0] = work.block.x;
  launch.block[1] = work.block.y;
  launch.block[2] = work.block.z;
  launch.shared_bytes = work.shared_bytes;
  launch.parameters = work.parameters.data();
  launch.cooperative = work.cooperative ? 1 : 0;
  stream.give([&](accel_stream native) {
    return stream.api().launch(native, &launch);
  });
}

void put_host(Stream& stream, const HostWork& work) {
  if (work.submit != nullptr && stream.device().can(ACCEL_CAP_SUBMIT)) {
    stream.give([&](accel_stream native) {
      return stream.api().stream_submit(native, work.submit, work.data);
    });
    return;
  }
  stream.enqueue([work] {
    if (work.submit != nullptr) {
      const accel_status status = work.submit(nullptr, work.data);
      return status == ACCEL_OK ? cudaSuccess : status_of(status);
    }
    work.function(work.data);
    return cudaSuccess;
  });
}

// Does what `put` says between two looks at the observer's clock.
template <typename Parts, typename Put>
void put_watched(
    Stream& stream,
    const Parts& parts,
    const tracing::Origin& origin,
    const Put& put) {
  if (origin.observer == nullptr) {
    put();
    return;
  }
  // 0: the device was at fault, and the work was not done.
  auto start = std::make_shared<std::uint64_t>(0);
  stream.enqueue([start, observer = origin.observer] {
    *start = observer->now();
    return cudaSuccess;
  });
  put();
  stream.enqueue(
      [start, work = StreamWork(parts), origin, &device = stream.device()] {
        if (*start != 0) {
          origin.observer->work(
              record_of(device, work, origin, *start, origin.observer->now()));
        }
        return cudaSuccess;
      },
      true);
}

} // namespace

void put(
    Stream& stream,
    const LoadedKernel& kernel,
    const KernelWork& work,
    const tracing::Origin& origin) {
  put_watched(stream, work, origin, [&] { put_kernel(stream, kernel, work); });
}

void put(
    Stream& stream,
    const KernelWork& work,
    const tracing::Origin& origin) {
  put(stream, work.function->to_launch(stream.device()), work, origin);
}

void put(Stream& stream, const CopyWork& work, const tracing::Origin& origin) {
  put_watched(stream, work, origin, [&] { put_copy(stream, work); });
}

void put(Stream& stream, const FillWork& work, const tracing::Origin& origin) {
  put_watched(stream, work, origin, [&] { put_fill(stream, work); });
}

void put(Stream& stream, const HostWork& work, const tracing::Origin& origin) {
  if (work.kernel != nullptr) {
    put_watched(stream, work, origin, [&] { put_host(stream, work); });
  } else {
    put_host(stream, work);
  }
}

} // namespace accelerator::runtime
