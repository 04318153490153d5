#include "device/abi/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace accelerator {
namespace {

struct Function {
  const char* name;
  size_t offset;
};

struct Group {
  accel_capability capability;
  const char* name;
  std::vector<Function> functions;
};

#define FUNCTION(name) {#name, offsetof(accel_api, name)}
#define CAPABILITY(name) name, #name

const std::vector<Function>& required() {
  static const auto* functions = new std::vector<Function>{
      FUNCTION(last_error),
      FUNCTION(initialize),
      FUNCTION(finalize),
      FUNCTION(device_count),
      FUNCTION(device_properties),
      FUNCTION(device_synchronize),
      FUNCTION(device_status),
      FUNCTION(device_reset),
      FUNCTION(memory_allocate),
      FUNCTION(memory_free),
      FUNCTION(memory_info),
      FUNCTION(copy),
      FUNCTION(fill),
      FUNCTION(stream_create),
      FUNCTION(stream_destroy),
      FUNCTION(stream_query),
      FUNCTION(stream_synchronize),
      FUNCTION(stream_wait_event),
      FUNCTION(stream_callback),
      FUNCTION(event_create),
      FUNCTION(event_destroy),
      FUNCTION(event_record),
      FUNCTION(event_query),
      FUNCTION(event_synchronize)};
  return *functions;
}

const std::vector<Group>& groups() {
  static const auto* all = new std::vector<Group>{
      {CAPABILITY(ACCEL_CAP_HOST_VISIBLE), {}},
      {CAPABILITY(ACCEL_CAP_CALLS_IN_CALLBACKS), {}},
      {CAPABILITY(ACCEL_CAP_TIMING), {FUNCTION(event_elapsed)}},
      {CAPABILITY(ACCEL_CAP_PINNED),
       {FUNCTION(host_allocate),
        FUNCTION(host_free),
        FUNCTION(host_register),
        FUNCTION(host_unregister)}},
      {CAPABILITY(ACCEL_CAP_MANAGED),
       {FUNCTION(managed_allocate), FUNCTION(managed_free)}},
      {CAPABILITY(ACCEL_CAP_STREAM_ORDERED),
       {FUNCTION(memory_allocate_async), FUNCTION(memory_free_async)}},
      {CAPABILITY(ACCEL_CAP_PEER),
       {FUNCTION(peer_possible),
        FUNCTION(peer_enable),
        FUNCTION(memory_share)}},
      {CAPABILITY(ACCEL_CAP_IPC),
       {FUNCTION(ipc_export), FUNCTION(ipc_import), FUNCTION(ipc_close)}},
      {CAPABILITY(ACCEL_CAP_VIRTUAL),
       {FUNCTION(virtual_granularity),
        FUNCTION(virtual_reserve),
        FUNCTION(virtual_release),
        FUNCTION(physical_create),
        FUNCTION(physical_destroy),
        FUNCTION(physical_export),
        FUNCTION(physical_import),
        FUNCTION(virtual_map),
        FUNCTION(virtual_unmap),
        FUNCTION(virtual_access)}},
      {CAPABILITY(ACCEL_CAP_SUBMIT), {FUNCTION(stream_submit)}},
      {CAPABILITY(ACCEL_CAP_CODE),
       {FUNCTION(module_load),
        FUNCTION(module_unload),
        FUNCTION(module_kernel),
        FUNCTION(module_variable),
        FUNCTION(module_variable_at),
        FUNCTION(module_kernel_name_at),
        FUNCTION(kernel_properties),
        FUNCTION(launch),
        FUNCTION(heap_limit),
        FUNCTION(set_heap_limit)}},
      {CAPABILITY(ACCEL_CAP_COLLECTIVES),
       {FUNCTION(communicator_create),
        FUNCTION(communicator_destroy),
        FUNCTION(communicator_status),
        FUNCTION(collective)}},
      {CAPABILITY(ACCEL_CAP_TEXTURES),
       {FUNCTION(texture_create), FUNCTION(texture_destroy)}}};
  return *all;
}

bool is_there(const accel_api& api, const Function& function) {
  void* address = nullptr;
  std::memcpy(
      &address,
      reinterpret_cast<const char*>(&api) + function.offset,
      sizeof address);
  return address != nullptr;
}

/// The names of those that are there, or are not, with commas between them.
std::string list(
    const accel_api& api,
    const std::vector<Function>& all,
    bool there) {
  std::string names;
  for (const auto& function : all)
    if (is_there(api, function) == there)
      names += (names.empty() ? "" : ", ") + std::string(function.name);
  return names;
}

} // namespace

std::string name_of(accel_status status) {
  switch (status) {
#define STATUS(name) \
  case name:         \
    return #name
    STATUS(ACCEL_OK);
    STATUS(ACCEL_NOT_READY);
    STATUS(ACCEL_INVALID_ARGUMENT);
    STATUS(ACCEL_OUT_OF_MEMORY);
    STATUS(ACCEL_NOT_SUPPORTED);
    STATUS(ACCEL_NO_DEVICE);
    STATUS(ACCEL_NOT_FOUND);
    STATUS(ACCEL_INVALID_IMAGE);
    STATUS(ACCEL_INVALID_CODE);
    STATUS(ACCEL_NO_IMAGE_FOR_DEVICE);
    STATUS(ACCEL_ALREADY);
    STATUS(ACCEL_OTHER_ENDED);
    STATUS(ACCEL_UNKNOWN);
    STATUS(ACCEL_DEVICE_LOST);
    STATUS(ACCEL_ILLEGAL_ADDRESS);
    STATUS(ACCEL_MISALIGNED_ADDRESS);
    STATUS(ACCEL_ILLEGAL_INSTRUCTION);
    STATUS(ACCEL_ASSERT);
    STATUS(ACCEL_LAUNCH_FAILURE);
    STATUS(ACCEL_LAUNCH_TIMEOUT);
    STATUS(ACCEL_STACK_OVERFLOW);
    STATUS(ACCEL_UNSUPPORTED_CODE);
#undef STATUS
  }
  return "status " + std::to_string(static_cast<int>(status));
}

std::string name_of(accel_capability capability) {
  for (const auto& group : groups())
    if (group.capability == capability)
      return group.name;
  return "capability " + std::to_string(static_cast<int>(capability));
}

Library::Library(const std::string& path) : path_(path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw LibraryError(
        "device library " + path + " cannot be loaded: " + dlerror() +
        "; needed is the path of a shared library for this machine");
  void* entry = dlsym(handle, ACCEL_ENTRY_POINT);
  if (!entry)
    throw LibraryError(
        "device library " + path +
        " does not export " ACCEL_ENTRY_POINT
        "; needed is a library of the device ABI (device_api.h): see `nm -D " +
        path + "`");
  take(reinterpret_cast<accel_get_api_function>(entry)(ACCEL_ABI_VERSION));
}

Library::Library(const std::string& path, const accel_api* api) : path_(path) {
  take(api);
}

Library::~Library() {
  if (initialized_)
    api_.finalize();
}

void Library::take(const accel_api* api) {
  const std::string version = std::to_string(ACCEL_ABI_VERSION);
  const std::string rebuild =
      "; compile it against the device_api.h of this version of torch_cuda";
  if (!api)
    throw LibraryError(
        "device library " + path_ + " does not serve version " + version +
        " of the device ABI" + rebuild);
  if (api->struct_size < offsetof(accel_api, last_error))
    throw LibraryError(
        "device library " + path_ + " has a struct of " +
        std::to_string(api->struct_size) + " bytes, which has no version" +
        rebuild);
  if (api->abi_version != ACCEL_ABI_VERSION)
    throw LibraryError(
        "device library " + path_ + " has version " +
        std::to_string(api->abi_version) + " of the device ABI, needed is " +
        version + rebuild);
  // Members that it does not know stay null; those that we do not know are
  // nobody's.
  std::memcpy(&api_, api, std::min(api->struct_size, sizeof api_));
  const std::string missing = list(api_, required(), false);
  if (!missing.empty())
    throw LibraryError(
        "device library " + path_ + " lacks functions that are required: " +
        missing + "; fill these members of accel_api");
  const char* letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  if (!api_.name || !*api_.name ||
      api_.name[std::strspn(api_.name, letters)] != '\0')
    throw LibraryError(
        "device library " + path_ + " has the name \"" +
        (api_.name ? api_.name : "") +
        "\"; needed are lower-case letters, digits and underscores");
}

void Library::initialize(const std::string& options) {
  accel_status status = api_.initialize(options.c_str());
  if (status != ACCEL_OK)
    throw StatusError(
        status,
        "device library " + path_ + " with the options \"" + options +
            "\": " + api_.last_error());
  initialized_ = true;
  int32_t count = 0;
  status = api_.device_count(&count);
  for (int32_t device = 0; status == ACCEL_OK && device < count; ++device) {
    accel_properties properties = {};
    properties.struct_size = sizeof properties;
    status = api_.device_properties(device, &properties);
    devices_.push_back(properties);
  }
  if (status != ACCEL_OK)
    throw StatusError(
        status, "device library " + path_ + ": " + api_.last_error());
  check_capabilities();
}

accel_status Library::finalize() {
  initialized_ = false;
  devices_.clear();
  return api_.finalize();
}

bool Library::has_functions(accel_capability capability) const {
  for (const auto& group : groups())
    if (group.capability == capability)
      return list(api_, group.functions, false).empty();
  return false;
}

void Library::check_capabilities() const {
  for (const auto& group : groups()) {
    const std::string missing = list(api_, group.functions, false);
    const std::string found = list(api_, group.functions, true);
    int32_t with = -1;
    for (int32_t device = 0; device < int32_t(devices_.size()); ++device)
      if (has(device, group.capability))
        with = device;
    if (with >= 0 && !missing.empty())
      throw LibraryError(
          "device library " + path_ + ": device " + std::to_string(with) +
          " has " + group.name + ", but there are no functions " + missing +
          "; fill these members of accel_api or leave out the capability");
    if (with < 0 && !devices_.empty() && !found.empty())
      throw LibraryError(
          "device library " + path_ + " has functions " + found +
          ", but no device has " + group.name +
          "; add it to accel_properties.capabilities or set these to null");
  }
}

} // namespace accelerator
