#include "runtime/code/nvjitlink/keep.h"

#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>

#include "runtime/code/linker/unit.h"
#include "runtime/code/nvrtc/real_nvrtc.h"

namespace accelerator::nvjitlink {
namespace {

using linker::Item;
using linker::Linkage;

constexpr char kKeeper[] = "torch_cuda_keeps_";

template <typename Function>
Function* real(const char* name) {
  static void* const library = open_real(kRealNvrtc);
  return library == nullptr ? nullptr
                            : reinterpret_cast<Function*>(dlsym(library, name));
}

bool is_identifier(const std::string& name) {
  return name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
             "$") == std::string::npos;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

std::string keeping_intermediate(
    const std::vector<std::string>& functions,
    std::uint32_t capability) {
  const auto create = real<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram");
  const auto compile =
      real<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram");
  const auto measure = real<decltype(nvrtcGetLTOIRSize)>("nvrtcGetLTOIRSize");
  const auto get = real<decltype(nvrtcGetLTOIR)>("nvrtcGetLTOIR");
  const auto destroy =
      real<decltype(nvrtcDestroyProgram)>("nvrtcDestroyProgram");
  if (create == nullptr || compile == nullptr || measure == nullptr ||
      get == nullptr || destroy == nullptr) {
    return "";
  }
  // Without their parameters: LTO IR is linked by name.
  std::string source = "extern \"C\" {\n";
  for (const std::string& function : functions) {
    if (!is_identifier(function)) {
      return "";
    }
    source += "__device__ void " + function + "();\n__device__ void (*" +
        kKeeper + function + ")() = " + function + ";\n";
  }
  source += "}\n";
  const std::string architecture =
      "-arch=compute_" + std::to_string(capability);
  const char* options[] = {architecture.c_str(), "-dlto", "-rdc=true"};
  nvrtcProgram program = nullptr;
  std::string code;
  if (create(&program, source.c_str(), "keep.cu", 0, nullptr, nullptr) ==
      NVRTC_SUCCESS) {
    std::size_t size = 0;
    if (compile(program, 3, options) == NVRTC_SUCCESS &&
        measure(program, &size) == NVRTC_SUCCESS) {
      code.resize(size);
      if (get(program, code.data()) != NVRTC_SUCCESS) {
        code.clear();
      }
    }
    destroy(&program);
  }
  return code;
}

std::set<std::string> kept_functions(
    const std::string& ptx,
    const std::vector<std::string>& functions) {
  std::set<std::string> kept;
  for (const Item& item : linker::Unit("lto", ptx).items) {
    if (item.kind != Item::Kind::kVariable && item.is_defined &&
        contains(functions, item.name)) {
      kept.insert(item.name);
    }
  }
  return kept;
}

std::string published(
    const std::string& ptx,
    const std::vector<std::string>& functions) {
  const linker::Unit unit("lto", ptx);
  std::string text = unit.text;
  // From the end on, so that places stay.
  for (auto item = unit.items.rbegin(); item != unit.items.rend(); ++item) {
    if (item->name.rfind(kKeeper, 0) == 0) {
      const std::size_t end = text.find(';', item->body.end);
      text.erase(item->begin, end + 1 - item->begin);
    } else if (
        item->kind == Item::Kind::kFunction &&
        item->linkage == Linkage::kStatic && contains(functions, item->name)) {
      text.insert(item->begin, ".visible ");
    }
  }
  return text;
}

} // namespace accelerator::nvjitlink
