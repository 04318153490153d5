#include "runtime/tools/cupti/callback_names.h"

#include <iterator>
#include <string_view>
#include <unordered_map>

namespace accelerator::cupti {
namespace {

using runtime::tracing::Interface;

struct Callback {
  CUpti_CallbackId callback;
  const char* name;
};

constexpr Callback kRuntime[] = {
#include "runtime_names.inc"
};
constexpr Callback kDriver[] = {
#include "driver_names.inc"
};

// "cudaLaunchKernel_v7000" is cudaLaunchKernel as it is since CUDA 7.0; the
// runtime's numbers have four digits or five, which versions of functions
// ("_v2") do not.
std::string_view without_since(std::string_view name) {
  const std::size_t mark = name.rfind("_v");
  const bool since = mark != std::string_view::npos && name.size() - mark > 5;
  return since ? name.substr(0, mark) : name;
}

struct Table {
  std::unordered_map<std::string_view, CUpti_CallbackId> callbacks;
  std::unordered_map<CUpti_CallbackId, const char*> names;

  Table(const Callback* begin, const Callback* end) {
    for (const Callback* entry = begin; entry != end; ++entry) {
      // The latest of several is the one that programs call.
      callbacks[without_since(entry->name)] = entry->callback;
      names[entry->callback] = entry->name;
    }
  }
};

const Table& table(Interface interface) {
  static const auto* runtime =
      new Table(std::begin(kRuntime), std::end(kRuntime));
  static const auto* driver = new Table(std::begin(kDriver), std::end(kDriver));
  return interface == Interface::kRuntime ? *runtime : *driver;
}

} // namespace

CUpti_CallbackId callback_of(Interface interface, const char* function) {
  const auto& callbacks = table(interface).callbacks;
  const auto found = callbacks.find(function);
  return found == callbacks.end() ? 0 : found->second;
}

const char* callback_name(Interface interface, CUpti_CallbackId callback) {
  const auto& names = table(interface).names;
  const auto found = names.find(callback);
  return found == names.end() ? nullptr : found->second;
}

} // namespace accelerator::cupti
