#include "device/nvidia/devices/device.h"

#include <algorithm>
#include <memory>
#include <string>

#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

// cuMemAlloc gives this by itself.
constexpr std::uint64_t kAlignment = 256;

// Never destroyed: the driver's threads run until the process has ended.
std::vector<std::unique_ptr<Device>>& devices() {
  static auto* all = new std::vector<std::unique_ptr<Device>>;
  return *all;
}

} // namespace

Device::Device(int number, CUdevice handle)
    : number_(number), handle_(handle) {}

int Device::attribute(CUdevice_attribute which) const {
  int value = 0;
  ACCEL_DRIVER(cuDeviceGetAttribute, &value, which, handle_);
  return value;
}

std::uint64_t Device::total_memory() const {
  std::size_t bytes = 0;
  ACCEL_DRIVER(cuDeviceTotalMem, &bytes, handle_);
  return bytes;
}

CUcontext Device::context() {
  if (CUcontext made = context_.load()) {
    return made;
  }
  const std::lock_guard lock(mutex_);
  if (context_.load() == nullptr) {
    CUcontext made = nullptr;
    ACCEL_DRIVER(cuDevicePrimaryCtxRetain, &made, handle_);
    ACCEL_DRIVER(cuCtxPushCurrent, made);
    const CUresult result =
        driver().cuStreamCreateWithPriority(&probe_, CU_STREAM_NON_BLOCKING, 0);
    driver().cuCtxPopCurrent(nullptr);
    check(result, "cuStreamCreateWithPriority");
    context_ = made;
  }
  return context_;
}

accel_status Device::fault() {
  if (known_fault(number_) == ACCEL_OK && has_context()) {
    const accel_status found = status_of(driver().cuStreamQuery(probe_));
    if (ACCEL_IS_FAULT(found)) {
      note_fault(number_, found);
    }
  }
  return known_fault(number_);
}

void Device::require_health() const {
  const accel_status fault = known_fault(number_);
  require(
      fault == ACCEL_OK,
      fault,
      "it is at fault, which the driver ends with the process");
}

void* Device::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  require_health();
  const Current current(*this);
  const std::uint64_t more = alignment > kAlignment ? alignment : 0;
  CUdeviceptr base = 0;
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
  if (bytes <= total_memory() && more <= total_memory()) {
    result = driver().cuMemAlloc(&base, bytes + more);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && late_.bytes() > 0) {
      late_.wait();
      result = driver().cuMemAlloc(&base, bytes + more);
    }
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0;
    std::size_t total = 0;
    driver().cuMemGetInfo(&free, &total);
    throw Error(
        ACCEL_OUT_OF_MEMORY,
        "no " + std::to_string(bytes) + " bytes; free are " +
            std::to_string(free) + " of " + std::to_string(total));
  }
  check(result, "cuMemAlloc");
  const CUdeviceptr begin = more == 0 ? base : (base + more - 1) / more * more;
  auto* address = reinterpret_cast<void*>(begin);
  const std::lock_guard lock(mutex_);
  memory_[address] = {base, bytes};
  return address;
}

Device::Piece Device::take_out(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(address);
  require(
      found != memory_.end(),
      ACCEL_INVALID_ARGUMENT,
      "no memory that memory_allocate gave begins at " +
          std::to_string(reinterpret_cast<std::uint64_t>(address)));
  const Piece piece = found->second;
  memory_.erase(found);
  return piece;
}

void Device::release(void* address) {
  const Piece piece = take_out(address);
  late_.run(
      [this, piece] {
        const Current current(*this);
        ACCEL_DRIVER(cuMemFree, piece.base);
      },
      piece.bytes);
}

void Device::release_all() {
  std::vector<void*> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, piece] : memory_) {
      all.push_back(address);
    }
  }
  for (void* address : all) {
    release(address);
  }
  late_.wait();
}

Device::Piece Device::piece_at(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(address);
  return found == memory_.end() ? Piece{} : found->second;
}

CUdeviceptr Device::find(void* address) {
  return piece_at(address).base;
}

std::uint64_t Device::size_of(void* address) {
  return piece_at(address).bytes;
}

void Device::retire(CUmodule module) {
  const std::lock_guard lock(mutex_);
  retired_.push_back(module);
}

void Device::add_behind(std::shared_ptr<Backlog> stream) {
  const std::lock_guard lock(mutex_);
  behind_.push_back(std::move(stream));
}

void Device::remove_behind(const Backlog* stream) {
  const std::lock_guard lock(mutex_);
  behind_.erase(
      std::remove_if(
          behind_.begin(),
          behind_.end(),
          [&](const auto& one) { return one.get() == stream; }),
      behind_.end());
}

void Device::synchronize() {
  require_health();
  if (!has_context()) {
    return;
  }
  const Current current(*this);
  std::vector<CUmodule> unused;
  std::vector<std::shared_ptr<Backlog>> behind;
  {
    const std::lock_guard lock(mutex_);
    unused.swap(retired_);
    behind = behind_;
  }
  for (const auto& stream : behind) {
    stream->wait_until_handed_on();
  }
  const CUresult result = driver().cuCtxSynchronize();
  // Their launches were all in front of this.
  for (CUmodule module : unused) {
    driver().cuModuleUnload(module);
  }
  check(result, "cuCtxSynchronize");
}

Current::Current(Device& device) {
  ACCEL_DRIVER(cuCtxPushCurrent, device.context());
}

Current::~Current() {
  driver().cuCtxPopCurrent(nullptr);
}

void find_devices(int most) {
  int count = 0;
  ACCEL_DRIVER(cuDeviceGetCount, &count);
  count = std::min(count, most >= 0 ? most : kMostDevices);
  std::vector<std::unique_ptr<Device>> found;
  for (int number = 0; number < count; ++number) {
    CUdevice handle = 0;
    ACCEL_DRIVER(cuDeviceGet, &handle, number);
    found.push_back(std::make_unique<Device>(number, handle));
  }
  devices() = std::move(found);
}

int device_number() {
  return static_cast<int>(devices().size());
}

Device& device_of(std::int32_t number) {
  require(
      number >= 0 && number < device_number(),
      ACCEL_NO_DEVICE,
      "there is no device " + std::to_string(number) + ", there are " +
          std::to_string(device_number()));
  concern(number);
  return *devices()[static_cast<std::size_t>(number)];
}

Device& any_device() {
  return device_of(0);
}

} // namespace accelerator::nvidia
