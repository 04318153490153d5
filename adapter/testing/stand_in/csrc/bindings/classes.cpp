// torch.classes.torch_stand_in: devices, streams, memory, generators and graphs
// for Python.
//
// Static methods of a class of TorchScript, and one class: the library has
// nothing of Python's ABI, and serves every Python that its PyTorch has a build
// for. A process group's backend is no class of TorchScript in all versions of
// PyTorch; it goes in and out within a process group, which is.
#include <torch/custom_class.h>
#include <torch/library.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <string>
#include <tuple>
#include <utility>

#include "ATen/stand/StandContext.h"
#include "adapter/testing/stand_in/csrc/device/generator.h"
#include "adapter/testing/stand_in/csrc/device/pinned.h"
#include "adapter/testing/stand_in/csrc/device/type.h"
#include "adapter/testing/stand_in/csrc/distributed/sccl.h"
#include "adapter/testing/stand_in/csrc/graphs/graph.h"
#include "c10/stand/StandGuard.h"

namespace torch_stand_in {
namespace {

using c10::DeviceIndex;
using c10::stand::StandStream;
namespace allocator = c10::stand::StandCachingAllocator;

// All methods are static.
struct FunctionsHolder final : torch::CustomClassHolder {};

using Functions = torch::class_<FunctionsHolder>;

struct GraphHolder final : torch::CustomClassHolder {
  Graph graph;
};

// What torch.Stream takes and gives.
using Packed = std::tuple<int64_t, int64_t, int64_t>;
// Name, UUID, generation (major, minor), bytes of memory, multiprocessors,
// threads of each, threads of a warp, whether its memory is the host's.
using Properties = std::tuple<
    std::string,
    std::string,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    bool>;
using Figures = c10::Dict<std::string, int64_t>;

DeviceIndex index_of(int64_t device) {
  return static_cast<DeviceIndex>(device);
}

Packed pack(const StandStream& stream) {
  const auto packed = stream.unwrap().pack3();
  return {
      packed.stream_id,
      packed.device_index,
      static_cast<int64_t>(packed.device_type)};
}

StandStream unpack(int64_t id, int64_t device) {
  return StandStream(
      c10::Stream::unpack3(id, index_of(device), c10::DeviceType::PrivateUse1));
}

standStream_t handle_of(int64_t handle) {
  return reinterpret_cast<standStream_t>(handle);
}

void put(Figures& to, const std::string& name, const allocator::Stat& stat) {
  const std::pair<const char*, int64_t> figures[] = {
      {"current", stat.current},
      {"peak", stat.peak},
      {"allocated", stat.allocated},
      {"freed", stat.freed}};
  for (const auto& [figure, value] : figures) {
    to.insert(name + ".all." + figure, value);
    // There is one pool only.
    to.insert(name + ".large_pool." + figure, value);
    to.insert(name + ".small_pool." + figure, 0);
  }
}

Figures memory_stats(int64_t device) {
  const auto stats = allocator::getDeviceStats(index_of(device));
  Figures all;
  put(all, "allocation", stats.allocation);
  put(all, "segment", stats.segment);
  put(all, "active", stats.allocation);
  put(all, "allocated_bytes", stats.allocated_bytes);
  put(all, "active_bytes", stats.allocated_bytes);
  put(all, "reserved_bytes", stats.reserved_bytes);
  put(all, "requested_bytes", stats.requested_bytes);
  put(all, "inactive_split", {});
  put(all, "inactive_split_bytes", {});
  all.insert("num_alloc_retries", stats.num_alloc_retries);
  all.insert("num_ooms", stats.num_ooms);
  return all;
}

std::tuple<int64_t, int64_t> memory_info(int64_t device) {
  const c10::stand::StandGuard guard(index_of(device));
  size_t available = 0, total = 0;
  C10_STAND_CHECK(standMemGetInfo(&available, &total));
  return {static_cast<int64_t>(available), static_cast<int64_t>(total)};
}

std::string uuid_of(const standDeviceProp& properties) {
  std::string text;
  for (const unsigned char byte : properties.uuid) {
    constexpr const char* digits = "0123456789abcdef";
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

Properties device_properties(int64_t device) {
  const auto& found = *at::stand::getDeviceProperties(index_of(device));
  return {
      found.name,
      uuid_of(found),
      found.major,
      found.minor,
      static_cast<int64_t>(found.totalGlobalMem),
      found.multiProcessorCount,
      found.maxThreadsPerMultiProcessor,
      found.warpSize,
      found.integrated != 0};
}

int64_t init() {
  int count = 0;
  const auto error = standGetDeviceCount(&count);
  if (error != standErrorNoDevice) {
    C10_STAND_CHECK(error);
  }
  return count;
}

void synchronize(int64_t device) {
  const c10::stand::StandGuard guard(index_of(device));
  c10::stand::device_synchronize();
}

bool can_device_access_peer(int64_t device, int64_t peer) {
  int possible = 0;
  C10_STAND_CHECK(standDeviceCanAccessPeer(
      &possible, static_cast<int>(device), static_cast<int>(peer)));
  return possible != 0;
}

// Between two events, by what torch.Event.event_id gives.
double elapsed_time(int64_t first, int64_t second) {
  return c10::impl::getDeviceGuardImpl(kStandIn)->elapsedTime(
      reinterpret_cast<void*>(first), reinterpret_cast<void*>(second), 0);
}

void bind_devices(Functions& functions) {
  functions.def_static("init", &init)
      .def_static(
          "device_count",
          []() -> int64_t { return c10::stand::device_count(); })
      .def_static(
          "current_device",
          []() -> int64_t { return c10::stand::current_device(); })
      .def_static(
          "set_device",
          [](int64_t device) { c10::stand::set_device(index_of(device)); })
      .def_static(
          "exchange_device",
          [](int64_t device) -> int64_t {
            return c10::stand::exchange_device(index_of(device));
          })
      .def_static("synchronize", &synchronize)
      .def_static("can_device_access_peer", &can_device_access_peer)
      .def_static("device_properties", &device_properties)
      .def_static("default_generator", [](int64_t device) {
        return default_generator(index_of(device));
      });
}

void bind_streams(Functions& functions) {
  functions
      .def_static(
          "current_stream",
          [](int64_t device) {
            return pack(c10::stand::getCurrentStandStream(index_of(device)));
          })
      .def_static(
          "default_stream",
          [](int64_t device) {
            return pack(c10::stand::getDefaultStandStream(index_of(device)));
          })
      .def_static(
          "set_stream",
          [](int64_t id, int64_t device) {
            c10::stand::setCurrentStandStream(unpack(id, device));
          })
      .def_static(
          "external_stream",
          [](int64_t handle, int64_t device) {
            return pack(c10::stand::getStreamFromExternal(
                handle_of(handle), index_of(device)));
          })
      .def_static(
          "stream_handle",
          // The runtime's standStream_t of a stream.
          [](int64_t id, int64_t device) {
            return reinterpret_cast<int64_t>(unpack(id, device).stream());
          })
      .def_static("elapsed_time", &elapsed_time)
      .def_static("stream_priority", [](int64_t id, int64_t device) -> int64_t {
        return unpack(id, device).priority();
      });
}

void bind_memory(Functions& functions) {
  functions.def_static("memory_stats", &memory_stats)
      .def_static("memory_info", &memory_info)
      .def_static("empty_cache", [] { allocator::emptyCache(); })
      .def_static("empty_pinned_cache", &empty_pinned_cache)
      .def_static(
          "reset_peak_stats",
          [](int64_t device) { allocator::resetPeakStats(index_of(device)); })
      .def_static(
          "reset_accumulated_stats",
          [](int64_t device) {
            allocator::resetAccumulatedStats(index_of(device));
          })
      .def_static(
          "set_memory_fraction",
          [](double fraction, int64_t device) {
            allocator::setMemoryFraction(fraction, index_of(device));
          })
      .def_static(
          "raw_alloc",
          [](int64_t bytes, int64_t stream) {
            return reinterpret_cast<int64_t>(allocator::raw_alloc_with_stream(
                static_cast<size_t>(bytes), handle_of(stream)));
          })
      .def_static("raw_delete", [](int64_t address) {
        allocator::raw_delete(reinterpret_cast<void*>(address));
      });
}

// Gives a group of the CPU's a backend for the stand-in, which goes to that.
void add_sccl(c10::intrusive_ptr<c10d::ProcessGroup> group) {
  group->setBackend(
      c10::kPrivateUse1,
      c10d::ProcessGroup::BackendType::CUSTOM,
      make_sccl(group->getBackend(c10::kCPU)));
}

using GraphPtr = c10::intrusive_ptr<GraphHolder>;

TORCH_LIBRARY(torch_stand_in, library) {
  library.class_<GraphHolder>("Graph")
      .def(torch::init<>())
      .def(
          "capture_begin",
          [](const GraphPtr& self) { self->graph.capture_begin(); })
      .def(
          "capture_end",
          [](const GraphPtr& self) { self->graph.capture_end(); })
      .def("replay", [](const GraphPtr& self) { self->graph.replay(); })
      .def("reset", [](const GraphPtr& self) { self->graph.reset(); });
  auto functions = library.class_<FunctionsHolder>("Functions");
  bind_devices(functions);
  bind_streams(functions);
  bind_memory(functions);
  functions.def_static("is_capturing", &is_capturing)
      .def_static("add_sccl", &add_sccl);
}

} // namespace
} // namespace torch_stand_in
