// The linker: PTX goes in, and, as there is no machine code here, comes out.
// Source: CUDA driver API, module management. The statuses of what does not fit
// are not documented; programs have reported them.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/api/driver/call.h"
#include "runtime/api/driver/jit_options.h"
#include "runtime/code/fatbin/containers.h"
#include "runtime/code/fatbin/fatbin.h"
#include "runtime/code/linker/linker.h"
#include "runtime/code/linker/register_limit.h"
#include "runtime/core/modules/module.h"
#include "runtime/core/operations/files.h"

using namespace accelerator::runtime;
using namespace accelerator::driver;
namespace fatbin = accelerator::fatbin;
namespace linker = accelerator::linker;
using accelerator::linker::Linker;
using accelerator::linker::LinkError;
using accelerator::linker::SyntaxError;

namespace {

/// What to tell of an input.
std::string machine_code_alone(const std::string& name) {
  return name + ": " +
      fatbin::no_ptx_text(
             current_context().capability(),
             "there is machine code at most, which this device does not run");
}

/// What cuLinkCreate begins.
struct Link {
  Linker linker;
  JitOptions options;
  std::vector<std::string> empty_libraries; // as far as PTX goes
  std::string output;
};

HandleTable<Link>& links() {
  static auto* table = new HandleTable<Link>;
  return *table;
}

/// Throws what a device would say of one input.
void check(const std::string& ptx, const std::string& name) {
  Module(Module::Image{nullptr, Linker::by_itself(name, ptx)}, name)
      .on(current_context());
}

/// Adds PTX, a fat binary, an object or a library.
/// @param max_registers a thread of its kernels; 0: any.
void add(
    Link& link,
    CUjitInputType type,
    std::string_view data,
    const std::string& name,
    unsigned max_registers) {
  if (fatbin::is_lto_ir(data.data(), data.size())) {
    throw Failure(
        cudaErrorInvalidKernelImage, name + ": " + fatbin::lto_ir_text());
  }
  const auto capability = current_context().capability();
  auto found = type == CU_JIT_INPUT_PTX
      ? std::vector<fatbin::FoundPtx>{{name, std::string(data)}}
      : fatbin::find_ptx(data, name, capability);
  for (auto& part : found) {
    part.ptx =
        linker::limit_registers(part.name, std::move(part.ptx), max_registers);
  }
  if (type == CU_JIT_INPUT_LIBRARY) {
    for (const auto& part : found) {
      link.linker.add_library_part(part.name, part.ptx);
    }
    if (found.empty()) {
      link.empty_libraries.push_back(name);
    }
    return;
  }
  if (found.empty()) {
    throw Failure(cudaErrorNoKernelImageForDevice, machine_code_alone(name));
  }
  for (const auto& part : found) {
    check(part.ptx, part.name);
    link.linker.add(part.name, part.ptx);
  }
}

/// Runs a part of a link. What it throws goes into the link's log.
/// @param unfit what an input is that does not fit to the others.
template <typename Body>
void logged(Link& link, Status unfit, Body&& body) {
  try {
    try {
      body();
    } catch (const SyntaxError& error) {
      throw Failure(cudaErrorInvalidPtx, error.what());
    } catch (const fatbin::FatbinError& error) {
      throw Failure(cudaErrorInvalidKernelImage, error.what());
    } catch (const LinkError& error) {
      std::string message = error.what();
      for (const std::string& library : link.empty_libraries) {
        message += machine_code_alone(library) + "\n";
      }
      throw Failure(unfit, message);
    }
  } catch (const Failure& failure) {
    link.options.error.write(failure.message());
    throw;
  }
}

} // namespace

extern "C" {

CUresult cuLinkCreate(
    unsigned count,
    CUjit_option* names,
    void** values,
    CUlinkState* state) {
  return call([&] {
    auto link = std::make_shared<Link>();
    link->options = JitOptions(count, names, values);
    link->options.clear_logs();
    store(state, reinterpret_cast<CUlinkState>(links().add(std::move(link))));
  });
}

CUresult cuLinkAddData(
    CUlinkState state,
    CUjitInputType type,
    void* data,
    size_t size,
    const char* name,
    unsigned count,
    CUjit_option* options,
    void** values) {
  return call([&] {
    const auto link = links().get(state);
    const unsigned own_limit = JitOptions(count, options, values).max_registers;
    require(data != nullptr && type >= 0 && type < CU_JIT_NUM_INPUT_TYPES);
    logged(*link, cudaErrorInvalidSource, [&] {
      add(*link,
          type,
          {static_cast<const char*>(data), size},
          name != nullptr ? name : "input",
          own_limit != 0 ? own_limit : link->options.max_registers);
    });
  });
}

CUresult cuLinkAddFile(
    CUlinkState state,
    CUjitInputType type,
    const char* path,
    unsigned count,
    CUjit_option* options,
    void** values) {
  std::string text;
  const CUresult result = call([&] { text = operations::read_file(path); });
  return result != CUDA_SUCCESS ? result
                                : cuLinkAddData(
                                      state,
                                      type,
                                      text.data(),
                                      text.size(),
                                      path,
                                      count,
                                      options,
                                      values);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
  return call([&] {
    const auto link = links().get(state);
    require(image != nullptr && link->linker.inputs() > 0);
    logged(
        *link, cudaErrorUnknown, [&] { link->output = link->linker.link(); });
    store(image, link->output.data());
    if (size != nullptr) {
      *size = link->output.size() + 1;
    }
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return call([&] { links().remove(state); });
}

} // extern "C"
