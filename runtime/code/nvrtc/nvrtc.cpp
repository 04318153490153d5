// NVRTC for a device that runs PTX: the real compiler does the work, asked for
// PTX where a program asks for machine code. Source: NVRTC API, chapters 3
// and 4; nvrtc.h of 13.5.
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/code/nvrtc/machine_code.h"
#include "runtime/code/nvrtc/real_nvrtc.h"

namespace {

/// A function of the real library; null when there is none.
template <typename Function>
Function real(const char* name) {
  static void* const library = accelerator::open_real(accelerator::kRealNvrtc);
  return library == nullptr ? nullptr
                            : reinterpret_cast<Function>(dlsym(library, name));
}

template <typename... Parameters, typename... Arguments>
nvrtcResult forward(
    const char* name,
    nvrtcResult (*)(Parameters...),
    Arguments... arguments) {
  const auto function = real<nvrtcResult (*)(Parameters...)>(name);
  return function == nullptr ? NVRTC_ERROR_INTERNAL_ERROR
                             : function(arguments...);
}

/// What programs have for machine code: the PTX of when they were last compiled
/// for a real architecture. NVIDIA's keep it when they are compiled again.
struct Codes {
  std::mutex mutex;
  std::unordered_map<nvrtcProgram, std::string> of;
};

Codes& codes() {
  static auto* all = new Codes; // programs may outlive what is static
  return *all;
}

void keep_code(nvrtcProgram program) {
  std::size_t size = 0;
  // Without code, such as with -dlto, there is a NUL alone.
  if (forward("nvrtcGetPTXSize", &nvrtcGetPTXSize, program, &size) !=
          NVRTC_SUCCESS ||
      size <= 1) {
    return;
  }
  std::string code(size, '\0');
  if (forward("nvrtcGetPTX", &nvrtcGetPTX, program, code.data()) ==
      NVRTC_SUCCESS) {
    code.insert(0, accelerator::nvrtc::kMachineCodeMark);
    const std::lock_guard lock(codes().mutex);
    codes().of[program] = std::move(code);
  }
}

/// The code of a program, for `take`; nothing where there is none.
template <typename Take>
nvrtcResult with_code(nvrtcProgram program, const void* result, Take&& take) {
  if (program == nullptr) {
    return NVRTC_ERROR_INVALID_PROGRAM;
  }
  if (result == nullptr) {
    return NVRTC_ERROR_INVALID_INPUT;
  }
  const std::lock_guard lock(codes().mutex);
  const auto found = codes().of.find(program);
  take(found == codes().of.end() ? std::string() : found->second);
  return NVRTC_SUCCESS;
}

} // namespace

#define ACCEL_FORWARD(name, ...) forward(#name, &name, __VA_ARGS__)

extern "C" {

/// Tells this library from NVIDIA's.
int accelerator_nvrtc() {
  return 1;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  const auto function =
      real<const char* (*)(nvrtcResult)>("nvrtcGetErrorString");
  return function == nullptr ? "NVRTC is not installed" : function(result);
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  return ACCEL_FORWARD(nvrtcVersion, major, minor);
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  return ACCEL_FORWARD(nvrtcGetNumSupportedArchs, count);
}

nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  return ACCEL_FORWARD(nvrtcGetSupportedArchs, architectures);
}

nvrtcResult nvrtcCreateProgram(
    nvrtcProgram* program,
    const char* source,
    const char* name,
    int count,
    const char* const* headers,
    const char* const* include_names) {
  return ACCEL_FORWARD(
      nvrtcCreateProgram, program, source, name, count, headers, include_names);
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program != nullptr) {
    const std::lock_guard lock(codes().mutex);
    codes().of.erase(*program);
  }
  return ACCEL_FORWARD(nvrtcDestroyProgram, program);
}

/// --gpu-architecture=sm_80 becomes compute_80.
nvrtcResult nvrtcCompileProgram(
    nvrtcProgram program,
    int count,
    const char* const* options) {
  if (count < 0 || (count > 0 && options == nullptr)) {
    return ACCEL_FORWARD(nvrtcCompileProgram, program, count, options);
  }
  std::vector<std::string> texts(options, options + count);
  bool is_real = false;
  for (std::string& text : texts) {
    const std::size_t at = text.find("sm_");
    const bool names_architecture = text.rfind("--gpu-architecture", 0) == 0 ||
        text.rfind("-arch", 0) == 0 || text.rfind("sm_", 0) == 0;
    if (names_architecture && at != std::string::npos) {
      text.replace(at, 3, "compute_");
      is_real = true;
    }
  }
  std::vector<const char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
  }
  const nvrtcResult status =
      ACCEL_FORWARD(nvrtcCompileProgram, program, count, pointers.data());
  if (is_real && status == NVRTC_SUCCESS) {
    keep_code(program);
  }
  return status;
}

// What the device loads is PTX, so that is what it gets for machine code.
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  return with_code(
      program, size, [&](const std::string& code) { *size = code.size(); });
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* result) {
  return with_code(program, result, [&](const std::string& code) {
    std::memcpy(result, code.data(), code.size());
  });
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, std::size_t* size) {
  return ACCEL_FORWARD(nvrtcGetPTXSize, program, size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* code) {
  return ACCEL_FORWARD(nvrtcGetPTX, program, code);
}

// What nvJitLink makes PTX of.
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram program, std::size_t* size) {
  return ACCEL_FORWARD(nvrtcGetLTOIRSize, program, size);
}

nvrtcResult nvrtcGetLTOIR(nvrtcProgram program, char* code) {
  return ACCEL_FORWARD(nvrtcGetLTOIR, program, code);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  return ACCEL_FORWARD(nvrtcGetProgramLogSize, program, size);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return ACCEL_FORWARD(nvrtcGetProgramLog, program, log);
}

nvrtcResult nvrtcAddNameExpression(
    nvrtcProgram program,
    const char* expression) {
  return ACCEL_FORWARD(nvrtcAddNameExpression, program, expression);
}

nvrtcResult nvrtcGetLoweredName(
    nvrtcProgram program,
    const char* expression,
    const char** name) {
  return ACCEL_FORWARD(nvrtcGetLoweredName, program, expression, name);
}

nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram program, std::size_t* size) {
  return ACCEL_FORWARD(nvrtcGetOptiXIRSize, program, size);
}

nvrtcResult nvrtcGetOptiXIR(nvrtcProgram program, char* code) {
  return ACCEL_FORWARD(nvrtcGetOptiXIR, program, code);
}

} // extern "C"

// Functions that only some of the headers declare that this is compiled with. A
// library of NVIDIA's that lacks one is told by NVRTC_ERROR_INTERNAL_ERROR.
#define ACCEL_LATER(name, parameters, ...)             \
  nvrtcResult later_##name parameters __asm__(#name);  \
  nvrtcResult later_##name parameters {                \
    return forward(#name, &later_##name, __VA_ARGS__); \
  }

extern "C" {

// Of CUDA 12, where they are nvrtcGetLTOIR by another name.
ACCEL_LATER(
    nvrtcGetNVVMSize,
    (nvrtcProgram program, std::size_t* size),
    program,
    size)
ACCEL_LATER(nvrtcGetNVVM, (nvrtcProgram program, char* code), program, code)
ACCEL_LATER(nvrtcGetPCHHeapSize, (std::size_t* size), size)
ACCEL_LATER(nvrtcSetPCHHeapSize, (std::size_t size), size)
ACCEL_LATER(nvrtcGetPCHCreateStatus, (nvrtcProgram program), program)
ACCEL_LATER(
    nvrtcGetPCHHeapSizeRequired,
    (nvrtcProgram program, std::size_t* size),
    program,
    size)
ACCEL_LATER(
    nvrtcSetFlowCallback,
    (nvrtcProgram program, int (*callback)(void*, void*), void* payload),
    program,
    callback,
    payload)
ACCEL_LATER(
    nvrtcGetTileIRSize,
    (nvrtcProgram program, std::size_t* size),
    program,
    size)
ACCEL_LATER(nvrtcGetTileIR, (nvrtcProgram program, char* code), program, code)
ACCEL_LATER(
    nvrtcInstallBundledHeaders,
    (const char* path, unsigned flags, const char** log),
    path,
    flags,
    log)
ACCEL_LATER(
    nvrtcGetBundledHeadersInfo,
    (void* info, const char** log),
    info,
    log)
ACCEL_LATER(
    nvrtcRemoveBundledHeaders,
    (const char* path, const char** log),
    path,
    log)

} // extern "C"
