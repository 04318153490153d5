// Devices: which ones there are, the current one, their figures.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "adapter/testing/stand_in/runtime/memory.h"
#include "adapter/testing/stand_in/runtime/runtime.h"

// The device's library is linked in.
extern "C" const accel_api* accel_get_api(uint32_t runtime_version);

namespace stand {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// As CUDA_VISIBLE_DEVICES is read: what is behind the first number that no
// device has is not looked at.
std::vector<int32_t> visible_devices(int32_t count) {
  std::vector<int32_t> visible;
  if (!std::getenv("STAND_IN_VISIBLE_DEVICES")) {
    for (int32_t i = 0; i < count; ++i) {
      visible.push_back(i);
    }
    return visible;
  }
  const std::string list = environment("STAND_IN_VISIBLE_DEVICES");
  for (const char* at = list.c_str(); *at;) {
    char* end = nullptr;
    const long number = std::strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || number < 0 || number >= count ||
        std::count(visible.begin(), visible.end(), number)) {
      break;
    }
    visible.push_back(static_cast<int32_t>(number));
    at = end + (*end == ',');
  }
  return visible;
}

} // namespace

Runtime::Runtime()
    : library_("fake", accel_get_api(ACCEL_ABI_VERSION)), process_(getpid()) {
  library_.initialize(environment("TORCH_STAND_IN_DEVICE"));
  visible_ = visible_devices(static_cast<int32_t>(library_.devices().size()));
  default_streams_.resize(visible_.size());
}

Runtime& Runtime::get() {
  // Never destroyed: streams have threads to the end of the process.
  static auto* runtime = new Runtime;
  need(
      runtime->process_ == getpid(),
      standErrorInitializationError,
      "the stand-in was used before fork(); start the process with the "
      "\"spawn\" or \"forkserver\" method");
  return *runtime;
}

int32_t Runtime::number(int device) const {
  need(!visible_.empty(), standErrorNoDevice, "no stand-in device is visible");
  if (device < 0 || device >= count()) {
    throw Failure{
        standErrorInvalidDevice,
        "there is no device " + std::to_string(device) + "; there are " +
            std::to_string(count())};
  }
  return visible_[device];
}

int Runtime::device_of(int32_t number) const {
  const auto at = std::find(visible_.begin(), visible_.end(), number);
  return at == visible_.end() ? -1 : static_cast<int>(at - visible_.begin());
}

const accel_properties& Runtime::properties(int device) const {
  return library_.devices()[number(device)];
}

bool Runtime::host_sees(int device) const {
  return library_.has(number(device), ACCEL_CAP_HOST_VISIBLE);
}

standStream_st& Runtime::stream(standStream_t handle) {
  return handle ? *handle : default_stream(current_device());
}

standStream_st* Runtime::new_stream(int device, int priority) {
  accel_stream made = nullptr;
  check(api().stream_create(number(device), priority, &made));
  return new standStream_st{device, priority, made};
}

standStream_st& Runtime::default_stream(int device) {
  static auto* mutex = new std::mutex;
  number(device);
  const std::lock_guard<std::mutex> lock(*mutex);
  auto*& stream = default_streams_[device];
  if (!stream) {
    stream = new_stream(device, 0);
  }
  return *stream;
}

int& current_device() {
  static thread_local int device = 0;
  return device;
}

} // namespace stand

using stand::answer;
using stand::Runtime;

standError_t standGetDeviceCount(int* count) {
  *count = 0;
  return answer([&] {
    *count = Runtime::get().count();
    stand::need(
        *count > 0, standErrorNoDevice, "no stand-in device is visible");
  });
}

standError_t standGetDevice(int* device) {
  *device = stand::current_device();
  return standSuccess;
}

standError_t standSetDevice(int device) {
  return answer([&] {
    Runtime::get().number(device);
    stand::current_device() = device;
  });
}

standError_t standGetDeviceProperties(standDeviceProp* properties, int device) {
  return answer([&] {
    const auto& from = Runtime::get().properties(device);
    standDeviceProp all = {};
    std::strncpy(all.name, "Stand-in device", sizeof all.name - 1);
    std::memcpy(all.uuid, from.uuid, sizeof all.uuid);
    all.totalGlobalMem = from.total_memory;
    all.sharedMemPerBlock = 48 << 10;
    all.regsPerBlock = 1 << 16;
    all.warpSize = stand::kWarp;
    all.maxThreadsPerBlock = stand::kMostThreads;
    std::fill_n(all.maxThreadsDim, 3, stand::kMostThreads);
    std::fill_n(all.maxGridSize, 3, INT32_MAX);
    all.clockRate = 1000000;
    all.major = 1;
    all.multiProcessorCount = 1;
    all.maxThreadsPerMultiProcessor = stand::kMostThreads;
    all.integrated = Runtime::get().host_sees(device);
    all.canMapHostMemory = 1;
    *properties = all;
  });
}

standError_t standDeviceGetAttribute(
    int* value,
    standDeviceAttr attribute,
    int device) {
  standDeviceProp properties;
  if (const auto error = standGetDeviceProperties(&properties, device)) {
    return error;
  }
  switch (attribute) {
    case standDevAttrMaxThreadsPerBlock:
    case standDevAttrMaxBlockDimX:
      *value = properties.maxThreadsPerBlock;
      return standSuccess;
    case standDevAttrMaxGridDimX:
      *value = properties.maxGridSize[0];
      return standSuccess;
    case standDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      return standSuccess;
    case standDevAttrWarpSize:
      *value = properties.warpSize;
      return standSuccess;
    case standDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      return standSuccess;
    case standDevAttrComputeCapabilityMajor:
      *value = properties.major;
      return standSuccess;
    case standDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      return standSuccess;
  }
  return stand::remember(
      standErrorInvalidValue, "the stand-in has no such attribute");
}

standError_t standDeviceSynchronize() {
  return answer([] {
    auto& runtime = Runtime::get();
    stand::check(runtime.api().device_synchronize(
        runtime.number(stand::current_device())));
  });
}

standError_t standDeviceReset() {
  return answer([] {
    auto& runtime = Runtime::get();
    const int device = stand::current_device();
    stand::check(runtime.api().device_reset(runtime.number(device)));
    stand::Ranges::get().forget_device(device);
  });
}

standError_t standDeviceCanAccessPeer(int* possible, int device, int peer) {
  return answer([&] {
    auto& runtime = Runtime::get();
    *possible = runtime.number(device) != runtime.number(peer) &&
        runtime.host_sees(device) && runtime.host_sees(peer);
  });
}

standError_t standDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return answer([&] {
    stand::need(flags == 0, standErrorInvalidValue, "flags have to be 0");
    int possible = 0;
    if (const auto error = standDeviceCanAccessPeer(
            &possible, stand::current_device(), peer)) {
      return error;
    }
    stand::need(
        possible,
        standErrorPeerAccessUnsupported,
        "kernels see memory of their own device only");
    return standSuccess;
  });
}

standError_t standDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return standSuccess;
}
