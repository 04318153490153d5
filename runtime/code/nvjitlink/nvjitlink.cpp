// nvJitLink for a device that runs PTX: what is linked is PTX, under the name
// of machine code. Source: nvJitLink 13.2.
#define NVJITLINK_NO_INLINE
#include <nvJitLink.h>

#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "runtime/code/nvjitlink/link.h"
#include "runtime/code/nvjitlink/release.h"

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

// Programs call the functions by a name with the version of the header that
// they were compiled with. These names have no declarations: a header has those
// of its own version, with other types.
#define ACCEL_NAME(name, version)                                     \
  __asm__(".globl __" #name "_" version "\n.set __" #name "_" version \
          ", " #name);
#if CUDA_VERSION >= 13000
#define ACCEL_VERSIONED(name) \
  ACCEL_NAME(name, "13_0")    \
  ACCEL_NAME(name, "13_1")    \
  ACCEL_NAME(name, "13_2")    \
  ACCEL_NAME(name, "13_3")    \
  ACCEL_NAME(name, "13_4")    \
  ACCEL_NAME(name, "13_5")
#else
#define ACCEL_VERSIONED(name) \
  ACCEL_NAME(name, "12_0")    \
  ACCEL_NAME(name, "12_1")    \
  ACCEL_NAME(name, "12_2")    \
  ACCEL_NAME(name, "12_3")    \
  ACCEL_NAME(name, "12_4")    \
  ACCEL_NAME(name, "12_5")    \
  ACCEL_NAME(name, "12_6")    \
  ACCEL_NAME(name, "12_7")    \
  ACCEL_NAME(name, "12_8")
#endif

extern "C" {

/// Tells this library from NVIDIA's.
int accelerator_nvjitlink() {
  return 1;
}

nvJitLinkResult nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr) {
    return NVJITLINK_ERROR_INVALID_INPUT;
  }
  *major = accelerator::nvjitlink::kMajor;
  *minor = accelerator::nvjitlink::kMinor;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkCreate(
    nvJitLinkHandle* handle,
    std::uint32_t count,
    const char** options) {
  if (handle == nullptr || (count > 0 && options == nullptr)) {
    return NVJITLINK_ERROR_INVALID_INPUT;
  }
  // A link whose options are refused is there, too: it has the log.
  *handle = reinterpret_cast<nvJitLinkHandle>(new (std::nothrow) Link);
  return guarded(*handle, [&](Link& link) {
    link.open(std::vector<std::string>(options, options + count));
  });
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  if (handle == nullptr || *handle == nullptr) {
    return NVJITLINK_ERROR_INVALID_INPUT;
  }
  delete reinterpret_cast<Link*>(*handle);
  *handle = nullptr;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkAddData(
    nvJitLinkHandle handle,
    nvJitLinkInputType type,
    const void* data,
    std::size_t size,
    const char* name) {
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

nvJitLinkResult nvJitLinkAddFile(
    nvJitLinkHandle handle,
    nvJitLinkInputType type,
    const char* path) {
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

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  return guarded(handle, [](Link& link) { link.complete(); });
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(
    nvJitLinkHandle handle,
    std::size_t* size) {
  return guarded(handle, [&](Link& link) { give_size(link.code(), size); });
}

nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
  return guarded(handle, [&](Link& link) { give(link.code(), cubin); });
}

nvJitLinkResult nvJitLinkGetLinkedPtxSize(
    nvJitLinkHandle handle,
    std::size_t* size) {
  return guarded(handle, [&](Link& link) { give_size(link.ptx(), size); });
}

nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx) {
  return guarded(handle, [&](Link& link) { give(link.ptx(), ptx); });
}

#if CUDA_VERSION >= 13000
nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(
    nvJitLinkHandle handle,
    std::size_t* size) {
  return guarded(handle, [&](Link& link) {
    if (size == nullptr) {
      throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "");
    }
    *size = link.intermediate().size();
  });
}

nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void* code) {
  return guarded(handle, [&](Link& link) {
    if (code == nullptr) {
      throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "");
    }
    const std::string& bytes = link.intermediate();
    std::memcpy(code, bytes.data(), bytes.size());
  });
}
#endif

nvJitLinkResult nvJitLinkGetErrorLogSize(
    nvJitLinkHandle handle,
    std::size_t* size) {
  return guarded(handle, [&](Link& link) { give_size(link.log, size); });
}

nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
  return guarded(handle, [&](Link& link) { give(link.log, log); });
}

// Nothing is ever written there.
nvJitLinkResult nvJitLinkGetInfoLogSize(
    nvJitLinkHandle handle,
    std::size_t* size) {
  return guarded(handle, [&](Link&) { give_size("", size); });
}

nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) {
  return guarded(handle, [&](Link&) { give("", log); });
}

ACCEL_VERSIONED(nvJitLinkCreate)
ACCEL_VERSIONED(nvJitLinkDestroy)
ACCEL_VERSIONED(nvJitLinkAddData)
ACCEL_VERSIONED(nvJitLinkAddFile)
ACCEL_VERSIONED(nvJitLinkComplete)
ACCEL_VERSIONED(nvJitLinkGetLinkedCubinSize)
ACCEL_VERSIONED(nvJitLinkGetLinkedCubin)
ACCEL_VERSIONED(nvJitLinkGetLinkedPtxSize)
ACCEL_VERSIONED(nvJitLinkGetLinkedPtx)
ACCEL_VERSIONED(nvJitLinkGetErrorLogSize)
ACCEL_VERSIONED(nvJitLinkGetErrorLog)
ACCEL_VERSIONED(nvJitLinkGetInfoLogSize)
ACCEL_VERSIONED(nvJitLinkGetInfoLog)
#if CUDA_VERSION >= 13000
ACCEL_VERSIONED(nvJitLinkGetLinkedLTOIR)
ACCEL_VERSIONED(nvJitLinkGetLinkedLTOIRSize)
#endif

} // extern "C"
