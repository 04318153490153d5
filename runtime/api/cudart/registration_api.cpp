// The functions that code made by nvcc calls when it is loaded. NVIDIA
// documents them only by the headers and the code that nvcc writes
// (crt/host_runtime.h, nvcc --keep).
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/registry.h"
#include "runtime/core/modules/library_code.h"

namespace accelerator::cudart {
namespace {

using runtime::Failure;
using runtime::Function;
using runtime::Module;

struct FunctionEntry {
  Module* module;
  std::string name;
  std::shared_ptr<Function> function; // null until first used
};

struct VariableEntry {
  Module* module;
  std::string name;
};

/// A fat binary, and what of the program is registered for it.
struct ModuleEntry {
  std::shared_ptr<Module> module;
  std::vector<const void*> functions;
  std::vector<const void*> variables;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const Module*, ModuleEntry> modules;
  std::unordered_map<const void*, FunctionEntry> functions;
  std::unordered_map<const void*, VariableEntry> variables;
};

Registry& registry() {
  static auto* all = new Registry; // libraries unload late
  return *all;
}

template <typename Entries>
void erase(
    Entries& entries,
    const std::vector<const void*>& keys,
    const Module* module) {
  for (const void* const key : keys) {
    const auto found = entries.find(key);
    // Another fat binary may have registered it since.
    if (found != entries.end() && found->second.module == module) {
      entries.erase(found);
    }
  }
}

void add_function(const void* function, Module* module, const char* name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.functions[function] = {module, name, nullptr};
  const auto found = all.modules.find(module);
  if (found != all.modules.end()) {
    found->second.functions.push_back(function);
  }
}

void add_variable(const void* variable, Module* module, const char* name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.variables[variable] = {module, name};
  const auto found = all.modules.find(module);
  if (found != all.modules.end()) {
    found->second.variables.push_back(variable);
  }
}

} // namespace

std::shared_ptr<Function> find_function(const void* host_function) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.functions.find(host_function);
  if (found == all.functions.end()) {
    // CUDA takes a cudaFunction_t wherever it takes a host function.
    return runtime::machine().functions().get(
        host_function, cudaErrorInvalidDeviceFunction);
  }
  FunctionEntry& entry = found->second;
  if (entry.function == nullptr) {
    entry.function = entry.module->function(entry.name);
  }
  return entry.function;
}

const runtime::Symbol& find_variable(const void* host_variable) {
  VariableEntry entry;
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.variables.find(host_variable);
    runtime::require(found != all.variables.end(), cudaErrorInvalidSymbol);
    entry = found->second;
  }
  return entry.module->variable(runtime::current_device(), entry.name);
}

} // namespace accelerator::cudart

using namespace accelerator::cudart;
using accelerator::runtime::guarded;
using accelerator::runtime::Module;

extern "C" {

// The header of nvcc-made code declares these; here are the same prototypes.
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
char __cudaInitModule(void** handle);
void __cudaRegisterFunction(
    void** handle,
    const char* host_function,
    char* device_function,
    const char* device_name,
    int thread_limit,
    uint3* thread_id,
    uint3* block_id,
    dim3* block,
    dim3* grid,
    int* warp_size);
void __cudaRegisterVar(
    void** handle,
    char* host_variable,
    char* device_address,
    const char* device_name,
    int external,
    size_t size,
    int constant,
    int global);
void __cudaRegisterManagedVar(
    void** handle,
    void** host_variable,
    char* device_address,
    const char* device_name,
    int external,
    size_t size,
    int constant,
    int global);
void __cudaRegisterHostVar(
    void** handle,
    const char* device_name,
    char* host_variable,
    size_t size);
unsigned __cudaPushCallConfiguration(
    dim3 grid,
    dim3 block,
    size_t shared_bytes,
    cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(
    dim3* grid,
    dim3* block,
    size_t* shared_bytes,
    void* stream);

void** __cudaRegisterFatBinary(void* wrapper) {
  Module* handle = nullptr;
  guarded([&] {
    const Module::Image image =
        accelerator::runtime::unwrap_fat_binary(wrapper);
    auto module = std::make_shared<Module>(
        image, accelerator::runtime::place_of_code(image));
    handle = module.get();
    accelerator::runtime::note_library_code(image);
    const std::lock_guard lock(registry().mutex);
    registry().modules[handle] = {std::move(module), {}, {}};
  });
  return reinterpret_cast<void**>(handle);
}

void __cudaRegisterFatBinaryEnd(void**) {
  // Modules are loaded when something in them is used.
}

void __cudaUnregisterFatBinary(void** handle) {
  guarded([&] {
    auto* key = reinterpret_cast<Module*>(handle);
    auto& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.modules.find(key);
    if (found == all.modules.end()) {
      return;
    }
    erase(all.functions, found->second.functions, key);
    erase(all.variables, found->second.variables, key);
    accelerator::runtime::forget_library_code(key->image());
    // A kernel of it may still run while the program ends: let it have its
    // memory for as long as the process lives.
    new std::shared_ptr<Module>(std::move(found->second.module));
    all.modules.erase(found);
  });
}

char __cudaInitModule(void** handle) {
  const cudaError_t status = guarded([&] {
    auto* module = reinterpret_cast<Module*>(handle);
    accelerator::runtime::require(
        module != nullptr, cudaErrorInvalidKernelImage);
    module->on(accelerator::runtime::current_device());
  });
  return status == cudaSuccess ? 1 : 0;
}

void __cudaRegisterFunction(
    void** handle,
    const char* host_function,
    char*,
    const char* device_name,
    int,
    uint3*,
    uint3*,
    dim3*,
    dim3*,
    int*) {
  guarded([&] {
    add_function(host_function, reinterpret_cast<Module*>(handle), device_name);
  });
}

void __cudaRegisterVar(
    void** handle,
    char* host_variable,
    char*,
    const char* device_name,
    int,
    size_t,
    int,
    int) {
  guarded([&] {
    add_variable(host_variable, reinterpret_cast<Module*>(handle), device_name);
  });
}

void __cudaRegisterManagedVar(
    void** handle,
    void** host_variable,
    char*,
    const char* device_name,
    int,
    size_t,
    int,
    int) {
  guarded([&] {
    auto* module = reinterpret_cast<Module*>(handle);
    accelerator::runtime::require(
        module != nullptr, cudaErrorInvalidKernelImage);
    module->add_managed(device_name, host_variable);
    add_variable(host_variable, module, device_name);
  });
}

void __cudaRegisterHostVar(void**, const char*, char*, size_t) {
  accelerator::runtime::report_missing("__cudaRegisterHostVar");
}

unsigned __cudaPushCallConfiguration(
    dim3 grid,
    dim3 block,
    size_t shared_bytes,
    cudaStream_t stream) {
  const cudaError_t status = call([&] {
    accelerator::runtime::thread_state().configurations.push_back(
        {grid, block, shared_bytes, stream});
  });
  return status == cudaSuccess ? 0 : 1;
}

cudaError_t __cudaPopCallConfiguration(
    dim3* grid,
    dim3* block,
    size_t* shared_bytes,
    void* stream) {
  return call([&] {
    auto& configurations = accelerator::runtime::thread_state().configurations;
    accelerator::runtime::require(
        !configurations.empty(), cudaErrorMissingConfiguration);
    const auto last = configurations.back();
    configurations.pop_back();
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = last.stream;
  });
}

} // extern "C"
