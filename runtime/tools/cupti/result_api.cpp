// Version and errors. Source: CUPTI version and result codes.
#include <cupti.h>

#include <utility>

#include "runtime/tools/cupti/call.h"

namespace accelerator::cupti {
namespace {

struct ResultName {
  int result;
  const char* name;
};

constexpr ResultName kResults[] = {
#include "result_names.inc"
};

} // namespace

CUptiResult& last_error() {
  static thread_local CUptiResult result = CUPTI_SUCCESS;
  return result;
}

} // namespace accelerator::cupti

using namespace accelerator::cupti;

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  return call([&] {
    if (version == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  return call([&] {
    if (text == nullptr) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    for (const ResultName& entry : kResults) {
      if (entry.result == result) {
        *text = entry.name;
        return CUPTI_SUCCESS;
      }
    }
    return CUPTI_ERROR_INVALID_PARAMETER;
  });
}

CUptiResult cuptiGetLastError() {
  return std::exchange(last_error(), CUPTI_SUCCESS);
}

} // extern "C"
