// NVRTC for a device that runs PTX: the real compiler does the work, asked for
// PTX where a program asks for machine code. Source: NVRTC API, chapters 3
// and 4.
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <string>
#include <vector>

#include "accelerator/runtime/real/real_library.h"

namespace {

#if CUDA_VERSION >= 13000
constexpr accelerator::RealLibrary kReal{
    "libnvrtc.so.13",
    "accelerator_nvrtc",
    "TORCH_CUDA_NVRTC_PATH",
    "CUDASIM_NVRTC_PATH",
    "cu13",
    "which compiles kernels at run time; pip install nvidia-cuda-nvrtc"};
#else
constexpr accelerator::RealLibrary kReal{
    "libnvrtc.so.12",
    "accelerator_nvrtc",
    "TORCH_CUDA_NVRTC_PATH",
    "CUDASIM_NVRTC_PATH",
    "cuda_nvrtc",
    "which compiles kernels at run time; pip install nvidia-cuda-nvrtc-cu12"};
#endif

/// A function of the real library; null when there is none.
template <typename Function>
Function real(const char* name) {
  static void* const library = accelerator::open_real(kReal);
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
  return ACCEL_FORWARD(nvrtcDestroyProgram, program);
}

/// --gpu-architecture=sm_80 becomes compute_80.
nvrtcResult nvrtcCompileProgram(
    nvrtcProgram program,
    int count,
    const char* const* options) {
  std::vector<std::string> texts(options, options + count);
  for (std::string& text : texts) {
    const std::size_t at = text.find("sm_");
    const bool names_architecture = text.rfind("--gpu-architecture", 0) == 0 ||
        text.rfind("-arch", 0) == 0 || text.rfind("sm_", 0) == 0;
    if (names_architecture && at != std::string::npos) {
      text.replace(at, 3, "compute_");
    }
  }
  std::vector<const char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
  }
  return ACCEL_FORWARD(nvrtcCompileProgram, program, count, pointers.data());
}

// What the device loads is PTX, so that is what it gets for machine code.
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  return forward("nvrtcGetPTXSize", &nvrtcGetPTXSize, program, size);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) {
  return forward("nvrtcGetPTX", &nvrtcGetPTX, program, code);
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

} // extern "C"
