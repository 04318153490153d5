#include "runtime/nccl/error.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>

#include "runtime/core/status/status.h"

namespace accelerator::nccl {
namespace {

std::mutex message_mutex;

std::string& message_of_all() {
  static auto* message = new std::string; // outlives static destructors
  return *message;
}

bool warnings_wanted() {
  const char* level = std::getenv("NCCL_DEBUG");
  if (level == nullptr) {
    return false;
  }
  for (const char* name : {"WARN", "INFO", "ABORT", "TRACE"}) {
    if (strcasecmp(level, name) == 0) {
      return true;
    }
  }
  return false;
}

} // namespace

void require(bool condition, ncclResult_t result, const std::string& message) {
  if (!condition) {
    throw Error(result, message);
  }
}

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    throw Error(
        ncclUnhandledCudaError,
        std::string("Cuda failure '") + cudaGetErrorString(status) + "'");
  }
}

void set_last_error(const std::string& message) noexcept {
  try {
    const std::lock_guard lock(message_mutex);
    message_of_all() = message;
  } catch (const std::exception&) {
    return; // there is no memory for it
  }
  if (warnings_wanted()) {
    std::fprintf(stderr, "torch_cuda: NCCL WARN %s\n", message.c_str());
  }
}

const char* last_error() noexcept {
  thread_local std::string copy;
  try {
    const std::lock_guard lock(message_mutex);
    copy = message_of_all();
  } catch (const std::exception&) {
    copy.clear();
  }
  return copy.c_str();
}

ncclResult_t caught() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_last_error(error.what());
    return error.result();
  } catch (const runtime::Failure& failure) {
    set_last_error(failure.what());
    return ncclSystemError;
  } catch (const std::bad_alloc&) {
    set_last_error("the host has no memory left");
    return ncclSystemError;
  } catch (const std::system_error& error) {
    set_last_error(error.what());
    return ncclSystemError;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return ncclInternalError;
  }
}

} // namespace accelerator::nccl
