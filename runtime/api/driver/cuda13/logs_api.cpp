// The driver's log of errors. It is always empty here: messages go to stderr
// as they come up. Source: CUDA driver API, error log management functions.
#include <fstream>
#include <memory>
#include <mutex>
#include <set>

#include "runtime/api/driver/call.h"

using namespace accelerator::runtime;
using accelerator::driver::call;

struct CUlogsCallbackEntry_st {};

namespace {

using Entry = std::unique_ptr<CUlogsCallbackEntry_st>;

std::mutex mutex;

/// Those who would be told. Never destroyed: a program may end while it has
/// some.
std::set<Entry>& listeners() {
  static auto* const made = new std::set<Entry>;
  return *made;
}

} // namespace

extern "C" {

CUresult cuLogsRegisterCallback(
    CUlogsCallback function,
    void* /*data*/,
    CUlogsCallbackHandle* handle) {
  return call([&] {
    require(function != nullptr);
    const std::lock_guard lock(mutex);
    const auto added =
        listeners().insert(std::make_unique<CUlogsCallbackEntry_st>());
    if (handle != nullptr) {
      *handle = added.first->get();
    }
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return call([&] {
    const std::lock_guard lock(mutex);
    for (auto at = listeners().begin(); at != listeners().end(); ++at) {
      if (at->get() == handle) {
        listeners().erase(at);
        return;
      }
    }
    require(false);
  });
}

CUresult cuLogsCurrent(CUlogIterator* iterator, unsigned flags) {
  return call([&] {
    require(flags == 0);
    store(iterator, CUlogIterator{0});
  });
}

CUresult cuLogsDumpToFile(
    CUlogIterator* /*iterator*/,
    const char* path,
    unsigned flags) {
  return call([&] {
    require(path != nullptr && flags == 0);
    require(std::ofstream(path).is_open());
  });
}

CUresult cuLogsDumpToMemory(
    CUlogIterator* /*iterator*/,
    char* buffer,
    size_t* size,
    unsigned flags) {
  return call([&] {
    require(buffer != nullptr && size != nullptr && *size > 0 && flags == 0);
    *buffer = '\0';
    *size = 0;
  });
}

} // extern "C"
