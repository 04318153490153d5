// The extension module torch_stand_in._C: devices, streams, memory and
// generators for Python.
#include <torch/csrc/utils/pybind.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "ATen/stand/StandContext.h"
#include "adapter/testing/stand_in/csrc/device/generator.h"
#include "adapter/testing/stand_in/csrc/device/pinned.h"
#include "adapter/testing/stand_in/csrc/distributed/sccl.h"
#include "adapter/testing/stand_in/csrc/graphs/graph.h"
#include "c10/stand/StandGuard.h"

namespace py = pybind11;

namespace {

using c10::DeviceIndex;
using c10::stand::StandStream;
namespace allocator = c10::stand::StandCachingAllocator;

// What torch.Stream takes and gives.
using Packed = std::tuple<int64_t, int64_t, int64_t>;

Packed pack(const StandStream& stream) {
  const auto packed = stream.unwrap().pack3();
  return {
      packed.stream_id,
      packed.device_index,
      static_cast<int64_t>(packed.device_type)};
}

StandStream unpack(int64_t id, int64_t device) {
  return StandStream(c10::Stream::unpack3(
      id, static_cast<DeviceIndex>(device), c10::DeviceType::PrivateUse1));
}

void put(
    py::dict& to,
    const std::string& name,
    const allocator::Stat& stat,
    bool small_and_large) {
  const std::pair<const char*, int64_t> figures[] = {
      {"current", stat.current},
      {"peak", stat.peak},
      {"allocated", stat.allocated},
      {"freed", stat.freed}};
  for (const auto& [figure, value] : figures) {
    to[py::str(name + ".all." + figure)] = value;
    if (small_and_large) {
      // There is one pool only.
      to[py::str(name + ".large_pool." + figure)] = value;
      to[py::str(name + ".small_pool." + figure)] = 0;
    }
  }
}

py::dict memory_stats(DeviceIndex device) {
  const auto stats = allocator::getDeviceStats(device);
  py::dict all;
  put(all, "allocation", stats.allocation, true);
  put(all, "segment", stats.segment, true);
  put(all, "active", stats.allocation, true);
  put(all, "allocated_bytes", stats.allocated_bytes, true);
  put(all, "active_bytes", stats.allocated_bytes, true);
  put(all, "reserved_bytes", stats.reserved_bytes, true);
  put(all, "requested_bytes", stats.requested_bytes, true);
  put(all, "inactive_split", {}, true);
  put(all, "inactive_split_bytes", {}, true);
  all["num_alloc_retries"] = stats.num_alloc_retries;
  all["num_ooms"] = stats.num_ooms;
  return all;
}

std::pair<size_t, size_t> memory_info(DeviceIndex device) {
  const c10::stand::StandGuard guard(device);
  size_t available = 0, total = 0;
  C10_STAND_CHECK(standMemGetInfo(&available, &total));
  return {available, total};
}

std::string uuid_of(const standDeviceProp& properties) {
  std::string text;
  for (const unsigned char byte : properties.uuid) {
    constexpr const char* digits = "0123456789abcdef";
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

void bind_properties(py::module_& m) {
  py::class_<standDeviceProp>(m, "_StandInDeviceProperties")
      .def_property_readonly(
          "name", [](const standDeviceProp& p) { return std::string(p.name); })
      .def_property_readonly("uuid", &uuid_of)
      .def_readonly("major", &standDeviceProp::major)
      .def_readonly("minor", &standDeviceProp::minor)
      .def_readonly("total_memory", &standDeviceProp::totalGlobalMem)
      .def_readonly("is_integrated", &standDeviceProp::integrated)
      .def_readonly("warp_size", &standDeviceProp::warpSize)
      .def_readonly(
          "multi_processor_count", &standDeviceProp::multiProcessorCount)
      .def_readonly(
          "max_threads_per_multi_processor",
          &standDeviceProp::maxThreadsPerMultiProcessor)
      .def("__repr__", [](const standDeviceProp& p) {
        return c10::str(
            "_StandInDeviceProperties(name='",
            p.name,
            "', major=",
            p.major,
            ", minor=",
            p.minor,
            ", total_memory=",
            p.totalGlobalMem >> 20,
            "MB, multi_processor_count=",
            p.multiProcessorCount,
            ")");
      });
  m.def(
      "get_device_properties",
      [](DeviceIndex device) {
        return *at::stand::getDeviceProperties(device);
      },
      "The figures of a device.");
}

void bind_devices(py::module_& m) {
  m.def(
      "init",
      [] {
        int count = 0;
        const auto error = standGetDeviceCount(&count);
        if (error != standErrorNoDevice) {
          C10_STAND_CHECK(error);
        }
        return count;
      },
      "How many devices there are; raises where the runtime cannot be used.");
  m.def("device_count", &c10::stand::device_count);
  m.def("current_device", &c10::stand::current_device);
  m.def("set_device", &c10::stand::set_device);
  m.def("exchange_device", &c10::stand::exchange_device);
  m.def(
      "synchronize",
      [](DeviceIndex device) {
        const c10::stand::StandGuard guard(device);
        c10::stand::device_synchronize();
      },
      py::call_guard<py::gil_scoped_release>());
  m.def("can_device_access_peer", [](int device, int peer) {
    int possible = 0;
    C10_STAND_CHECK(standDeviceCanAccessPeer(&possible, device, peer));
    return possible != 0;
  });
}

void bind_streams(py::module_& m) {
  m.def("current_stream", [](DeviceIndex device) {
    return pack(c10::stand::getCurrentStandStream(device));
  });
  m.def("default_stream", [](DeviceIndex device) {
    return pack(c10::stand::getDefaultStandStream(device));
  });
  m.def("set_stream", [](int64_t id, int64_t device) {
    c10::stand::setCurrentStandStream(unpack(id, device));
  });
  m.def("external_stream", [](uintptr_t handle, DeviceIndex device) {
    return pack(c10::stand::getStreamFromExternal(
        reinterpret_cast<standStream_t>(handle), device));
  });
  m.def(
      "stream_handle",
      [](int64_t id, int64_t device) {
        return reinterpret_cast<uintptr_t>(unpack(id, device).stream());
      },
      "The runtime's standStream_t of a stream.");
  m.def("stream_priority", [](int64_t id, int64_t device) {
    return unpack(id, device).priority();
  });
}

void bind_memory(py::module_& m) {
  m.def("memory_stats", &memory_stats);
  m.def("memory_info", &memory_info);
  m.def(
      "empty_cache",
      &allocator::emptyCache,
      py::call_guard<py::gil_scoped_release>());
  m.def("empty_pinned_cache", &torch_stand_in::empty_pinned_cache);
  m.def("reset_peak_stats", &allocator::resetPeakStats);
  m.def("reset_accumulated_stats", &allocator::resetAccumulatedStats);
  m.def("set_memory_fraction", &allocator::setMemoryFraction);
  m.def("raw_alloc", [](size_t bytes, uintptr_t stream) {
    return reinterpret_cast<uintptr_t>(allocator::raw_alloc_with_stream(
        bytes, reinterpret_cast<standStream_t>(stream)));
  });
  m.def("raw_delete", [](uintptr_t address) {
    allocator::raw_delete(reinterpret_cast<void*>(address));
  });
}

void bind_graphs(py::module_& m) {
  using torch_stand_in::Graph;
  const py::call_guard<py::gil_scoped_release> released;
  py::class_<Graph, std::shared_ptr<Graph>>(m, "_StandGraph")
      .def(py::init<>())
      .def("capture_begin", &Graph::capture_begin, released)
      .def("capture_end", &Graph::capture_end, released)
      .def("replay", &Graph::replay, released)
      .def("reset", &Graph::reset, released);
  m.def("is_capturing", &torch_stand_in::is_capturing);
}

} // namespace

PYBIND11_MODULE(_C, m) {
  m.doc() = "The stand-in for Python; torch_stand_in has the functions to use.";
  bind_properties(m);
  bind_devices(m);
  bind_streams(m);
  bind_memory(m);
  bind_graphs(m);
  m.def("default_generator", &torch_stand_in::default_generator);
  m.def(
      "make_sccl",
      &torch_stand_in::make_sccl,
      "The process group of the stand-in over one of the CPU's.");
}
