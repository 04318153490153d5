#include "runtime/stream_work/stream_work.h"

#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "runtime/core/machine/machine.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/streams/work/submit.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::stream_work {
namespace {

constexpr std::size_t kTooMuch = std::numeric_limits<std::size_t>::max();

/// Whether every byte belongs to an allocation. Allocations may lie side by
/// side: an expandable segment is mapped piece by piece.
bool is_allocated(CUdeviceptr begin, std::size_t bytes) {
  if (bytes > ~begin) {
    return false;
  }
  const CUdeviceptr end = begin + bytes;
  while (begin < end) {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    if (cuMemGetAddressRange(&base, &size, begin) != CUDA_SUCCESS ||
        base + size <= begin) {
      return false;
    }
    begin = base + size;
  }
  return true;
}

/// What enqueue() runs on this thread.
thread_local const char* running = nullptr;

/// Says so for the time of its life.
class Running {
 public:
  explicit Running(const char* function) {
    running = function;
  }
  ~Running() {
    running = nullptr;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

void tell(const char* function, const Read& read) {
  if (!wants_reads() || function == nullptr || read.width == 0 ||
      read.lines <= 0 || read.batches <= 0) {
    return;
  }
  runtime::AddressMap& addresses = runtime::machine().addresses();
  const auto piece = addresses.find(runtime::address_of(read.pointer));
  if (!piece || piece->on_host()) {
    return;
  }
  const runtime::Slot& slot = addresses.slot(piece->device);
  if (slot.api->memory_read == nullptr) {
    return;
  }
  accel_read told{};
  told.struct_size = sizeof(told);
  told.function = function;
  told.from = read.pointer;
  told.width = read.width;
  told.height = static_cast<std::uint64_t>(read.lines);
  told.depth = static_cast<std::uint64_t>(read.batches);
  told.pitch = read.pitch;
  told.growth = read.growth;
  told.slice = read.distance;
  slot.api->memory_read(slot.index, &told);
}

} // namespace

std::size_t magnitude(std::int64_t stride) {
  return stride < 0 ? -static_cast<std::size_t>(stride)
                    : static_cast<std::size_t>(stride);
}

std::size_t plus(std::size_t a, std::size_t b) {
  std::size_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooMuch : sum;
}

std::size_t times(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooMuch : product;
}

Extent strided_extent(
    const void* pointer,
    std::size_t bytes,
    std::int64_t stride,
    std::size_t size,
    std::int64_t count) {
  if (bytes == 0 || count <= 0) {
    return {pointer, 0};
  }
  const std::size_t others = times(
      times(static_cast<std::size_t>(count - 1), magnitude(stride)), size);
  const auto* first = static_cast<const char*>(pointer);
  if (stride < 0) {
    first = reinterpret_cast<const char*>(
        reinterpret_cast<std::uintptr_t>(pointer) - others);
  }
  return {first, plus(bytes, others)};
}

std::size_t matrix_bytes(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    std::size_t size) {
  if (rows <= 0 || columns <= 0) {
    return 0;
  }
  const std::size_t before =
      times(static_cast<std::size_t>(columns - 1), magnitude(leading));
  return times(plus(before, static_cast<std::size_t>(rows)), size);
}

bool accessible(const char* function, std::initializer_list<Extent> extents) {
  for (const Extent& extent : extents) {
    const auto address = reinterpret_cast<CUdeviceptr>(extent.pointer);
    if (is_allocated(address, extent.bytes)) {
      continue;
    }
    std::fprintf(
        stderr,
        "torch_cuda: %s: illegal memory access: %zu bytes at 0x%llx are not within "
        "an allocation\n",
        function,
        extent.bytes,
        static_cast<unsigned long long>(address));
    return false;
  }
  return true;
}

Read matrix_read(
    const void* pointer,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading,
    std::size_t size) {
  const auto bytes = static_cast<std::int64_t>(size);
  Read read(pointer, rows <= 0 ? 0 : static_cast<std::size_t>(rows) * size);
  read.lines = columns;
  read.pitch = leading * bytes;
  return read;
}

Read triangle_read(
    const void* pointer,
    bool upper,
    std::int64_t n,
    std::int64_t leading,
    std::size_t size,
    bool unit) {
  const auto bytes = static_cast<std::int64_t>(size);
  const std::int64_t longest = unit ? n - 1 : n;
  if (longest <= 0) {
    return {pointer, 0};
  }
  const std::int64_t before = !unit ? 0 : upper ? leading : 1;
  Read read(
      static_cast<const char*>(pointer) + before * bytes,
      static_cast<std::size_t>(upper ? 1 : longest) * size);
  read.lines = longest;
  read.pitch = (upper ? leading : leading + 1) * bytes;
  read.growth = upper ? bytes : -bytes;
  return read;
}

Read batched_read(
    Read read,
    std::int64_t stride,
    std::size_t size,
    std::int64_t count) {
  read.batches = count;
  read.distance = stride * static_cast<std::int64_t>(size);
  return read;
}

bool wants_reads() {
  static const bool wanted = [] {
    const auto& devices = runtime::all_devices();
    return std::any_of(
        devices.begin(), devices.end(), [](const runtime::Slot& slot) {
          return slot.api->memory_read != nullptr;
        });
  }();
  return wanted;
}

void reads(std::initializer_list<Read> list) {
  for (const Read& read : list) {
    tell(running, read);
  }
}

void reads(const std::vector<Read>& list) {
  reads_of(running, list);
}

void reads_of(const char* function, const std::vector<Read>& list) {
  for (const Read& read : list) {
    tell(function, read);
  }
}

cudaError_t make_context() {
  const bool had_error = cudaPeekAtLastError() != cudaSuccess;
  const cudaError_t status = cudaFree(nullptr);
  if (!had_error) {
    cudaGetLastError();
  }
  return status;
}

cudaError_t enqueue(
    const char* function,
    cudaStream_t stream,
    std::function<void()> work) {
  // What a profiler is to see is what NVIDIA's library does: it launches a
  // kernel.
  const runtime::tracing::Call traced(
      runtime::tracing::Interface::kRuntime, "cudaLaunchKernel");
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
      error != cudaSuccess) {
    return error;
  }
  auto owned = std::make_unique<std::function<void()>>(
      [function, work = std::move(work)] {
        const Running its(function);
        work();
      });
  const bool captured = capture == cudaStreamCaptureStatusActive;
  const cudaHostFn_t run_and_free = [](void* data) {
    const std::unique_ptr<std::function<void()>> closure(
        static_cast<std::function<void()>*>(data));
    (*closure)();
  };
  const cudaHostFn_t run = [](void* data) {
    (*static_cast<std::function<void()>*>(data))();
  };
  bool visible = true;
  const cudaError_t error = runtime::guarded([&] {
    runtime::Stream& resolved = *runtime::resolve_stream(stream);
    visible = resolved.device().can(ACCEL_CAP_HOST_VISIBLE);
    runtime::require(visible, cudaErrorNotSupported);
    runtime::submit(
        resolved,
        runtime::HostWork{
            captured ? run : run_and_free, owned.get(), function});
  });
  if (error != cudaSuccess) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: %s\n",
        function,
        visible ? cudaGetErrorString(error)
                : "needs a device whose memory the host sees");
    return error;
  }
  static_cast<void>(owned.release());
  return cudaSuccess;
}

cudaError_t enqueue_checked(
    const char* function,
    cudaStream_t stream,
    std::function<cudaError_t()> work) {
  runtime::Device* device = nullptr;
  const cudaError_t error = runtime::guarded(
      [&] { device = &runtime::resolve_stream(stream)->device(); });
  if (error != cudaSuccess) {
    return error;
  }
  return enqueue(function, stream, [device, work = std::move(work)] {
    if (const cudaError_t fault = work(); fault != cudaSuccess) {
      device->set_fault(fault);
    }
  });
}

cudaError_t without_exceptions(
    const char* function,
    const std::function<cudaError_t()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "torch_cuda: %s: out of host memory\n", function);
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_cuda: %s: %s\n", function, error.what());
    return cudaErrorUnknown;
  }
}

} // namespace accelerator::stream_work
