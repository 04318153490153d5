// nvJitLink for a device that runs PTX: what is linked is PTX, under the name
// of machine code, too. Source: nvJitLink 12.4.
#define NVJITLINK_NO_INLINE
#include <nvJitLink.h>

#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "accelerator/runtime/nvjitlink/link.h"

using accelerator::nvjitlink::Failure;
using accelerator::nvjitlink::Link;

namespace {

Link* resolve(nvJitLinkHandle handle) {
  if (handle == nullptr) {
    throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "");
  }
  return reinterpret_cast<Link*>(handle);
}

/// Where exceptions end. What they say goes into the link's log.
template <typename Body>
nvJitLinkResult guarded(nvJitLinkHandle handle, Body&& body) noexcept {
  try {
    body(*resolve(handle));
    return NVJITLINK_SUCCESS;
  } catch (const Failure& failure) {
    if (handle != nullptr) {
      resolve(handle)->log += failure.what();
    }
    return failure.status();
  } catch (const std::exception&) {
    return NVJITLINK_ERROR_INTERNAL;
  }
}

void give_size(const std::string& text, std::size_t* size) {
  if (size == nullptr) {
    throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "");
  }
  *size = text.size() + 1;
}

void give(const std::string& text, void* place) {
  if (place == nullptr) {
    throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "");
  }
  std::memcpy(place, text.c_str(), text.size() + 1);
}

} // namespace

// Programs that were compiled with the header of an earlier 12 call the
// functions by a name with its version.
#define ACCEL_VERSIONED(name, parameters)                                   \
  nvJitLinkResult name parameters;                                          \
  nvJitLinkResult __##name##_12_0 parameters __attribute__((alias(#name))); \
  nvJitLinkResult __##name##_12_1 parameters __attribute__((alias(#name))); \
  nvJitLinkResult __##name##_12_2 parameters __attribute__((alias(#name))); \
  nvJitLinkResult __##name##_12_3 parameters __attribute__((alias(#name))); \
  nvJitLinkResult __##name##_12_4 parameters __attribute__((alias(#name))); \
  nvJitLinkResult name parameters

extern "C" {

/// Tells this library from NVIDIA's.
int accelerator_nvjitlink() {
  return 1;
}

nvJitLinkResult nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr) {
    return NVJITLINK_ERROR_INVALID_INPUT;
  }
  *major = 12;
  *minor = 4;
  return NVJITLINK_SUCCESS;
}

ACCEL_VERSIONED(
    nvJitLinkCreate,
    (nvJitLinkHandle * handle, std::uint32_t count, const char** options)) {
  if (handle == nullptr || (count > 0 && options == nullptr)) {
    return NVJITLINK_ERROR_INVALID_INPUT;
  }
  *handle = nullptr;
  try {
    *handle = reinterpret_cast<nvJitLinkHandle>(
        new Link(std::vector<std::string>(options, options + count)));
    return NVJITLINK_SUCCESS;
  } catch (const Failure& failure) {
    return failure.status();
  } catch (const std::exception&) {
    return NVJITLINK_ERROR_INTERNAL;
  }
}

ACCEL_VERSIONED(nvJitLinkDestroy, (nvJitLinkHandle * handle)) {
  if (handle == nullptr || *handle == nullptr) {
    return NVJITLINK_ERROR_INVALID_INPUT;
  }
  delete reinterpret_cast<Link*>(*handle);
  *handle = nullptr;
  return NVJITLINK_SUCCESS;
}

ACCEL_VERSIONED(
    nvJitLinkAddData,
    (nvJitLinkHandle handle,
     nvJitLinkInputType type,
     const void* data,
     std::size_t size,
     const char* name)) {
  return guarded(handle, [&](Link& link) {
    if (data == nullptr) {
      throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "");
    }
    link.add(
        type,
        {static_cast<const char*>(data), size},
        name != nullptr ? name : "input");
  });
}

ACCEL_VERSIONED(
    nvJitLinkAddFile,
    (nvJitLinkHandle handle, nvJitLinkInputType type, const char* path)) {
  return guarded(handle, [&](Link& link) {
    std::ifstream file(path == nullptr ? "" : path, std::ios::binary);
    if (!file) {
      throw Failure(
          NVJITLINK_ERROR_INVALID_INPUT,
          std::string(path == nullptr ? "a file" : path) + " cannot be read\n");
    }
    link.add(type, std::string{std::istreambuf_iterator<char>(file), {}}, path);
  });
}

ACCEL_VERSIONED(nvJitLinkComplete, (nvJitLinkHandle handle)) {
  return guarded(handle, [](Link& link) { link.complete(); });
}

ACCEL_VERSIONED(
    nvJitLinkGetLinkedCubinSize,
    (nvJitLinkHandle handle, std::size_t* size)) {
  return guarded(handle, [&](Link& link) { give_size(link.ptx(), size); });
}

ACCEL_VERSIONED(
    nvJitLinkGetLinkedCubin,
    (nvJitLinkHandle handle, void* cubin)) {
  return guarded(handle, [&](Link& link) { give(link.ptx(), cubin); });
}

ACCEL_VERSIONED(
    nvJitLinkGetLinkedPtxSize,
    (nvJitLinkHandle handle, std::size_t* size)) {
  return guarded(handle, [&](Link& link) { give_size(link.ptx(), size); });
}

ACCEL_VERSIONED(nvJitLinkGetLinkedPtx, (nvJitLinkHandle handle, char* ptx)) {
  return guarded(handle, [&](Link& link) { give(link.ptx(), ptx); });
}

ACCEL_VERSIONED(
    nvJitLinkGetErrorLogSize,
    (nvJitLinkHandle handle, std::size_t* size)) {
  return guarded(handle, [&](Link& link) { give_size(link.log, size); });
}

ACCEL_VERSIONED(nvJitLinkGetErrorLog, (nvJitLinkHandle handle, char* log)) {
  return guarded(handle, [&](Link& link) { give(link.log, log); });
}

// Nothing is ever written there.
ACCEL_VERSIONED(
    nvJitLinkGetInfoLogSize,
    (nvJitLinkHandle handle, std::size_t* size)) {
  return guarded(handle, [&](Link&) { give_size("", size); });
}

ACCEL_VERSIONED(nvJitLinkGetInfoLog, (nvJitLinkHandle handle, char* log)) {
  return guarded(handle, [&](Link&) { give("", log); });
}

} // extern "C"
