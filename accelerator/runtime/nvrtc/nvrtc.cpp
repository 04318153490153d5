// NVRTC for a device that runs PTX: the real compiler does the work, asked for
// PTX where a program asks for machine code. Source: NVRTC API, chapters 3
// and 4.
#include <dlfcn.h>
#include <link.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// The folder of this library, with a slash at its end.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0) {
    return "";
  }
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

void append_list(std::vector<std::string>& folders, const char* variable) {
  const char* value = std::getenv(variable);
  for (std::string rest = value == nullptr ? "" : value; !rest.empty();) {
    const std::size_t colon = rest.find(':');
    folders.push_back(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
}

/// NVIDIA's compiler: it needs no GPU. Looked for where torch_cuda looks for
/// CUDA's libraries, beside this package, and on the system.
void* open_real() {
  const std::string own = own_folder();
  std::vector<std::string> folders;
  append_list(folders, "CUDASIM_NVRTC_PATH");
  append_list(folders, "TORCH_CUDA_LIBRARY_PATH");
  append_list(folders, "LD_LIBRARY_PATH");
  folders.push_back(own + "../../nvidia/cuda_nvrtc/lib");
  for (const char* system :
       {"/usr/lib/x86_64-linux-gnu",
        "/usr/local/cuda/lib64",
        "/usr/lib64",
        "/usr/lib"}) {
    folders.emplace_back(system);
  }
  for (const std::string& folder : folders) {
    if (folder.empty() || folder + "/" == own) {
      continue;
    }
    void* library =
        dlopen((folder + "/libnvrtc.so.12").c_str(), RTLD_NOW | RTLD_LOCAL);
    // A copy of this very library is not what is looked for.
    if (library != nullptr && dlsym(library, "cudasimNvrtc") == nullptr) {
      return library;
    }
  }
  std::fprintf(
      stderr,
      "torch_cuda: found no libnvrtc.so.12 of NVIDIA, which compiles kernels at "
      "run time; pip install nvidia-cuda-nvrtc-cu12, or set "
      "CUDASIM_NVRTC_PATH to its folder\n");
  return nullptr;
}

/// A function of the real library; null when there is none.
template <typename Function>
Function real(const char* name) {
  static void* const library = open_real();
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
int cudasimNvrtc() {
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
