// Names and marks of vendors' libraries.
#include "router/operators/vendor/file.h"

#include "router/operators/vendor/library.h"

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace torch_cuda::operators::vendor {
namespace {

namespace fs = std::filesystem;

// What TORCH_CUDA_OPERATORS of table.h writes; a version and ';' follow.
constexpr std::string_view kMark = "torch_cuda_vendor_torch=";

// The versions of PyTorch that there are operators for.
std::vector<std::string> versions_beside(
    const fs::path& folder,
    const std::string& stem) {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const auto name = entry.path().filename().string();
    if (name.rfind(stem + "-", 0) == 0 && entry.path().extension() == ".so") {
      const auto begin = stem.size() + 1;
      found.push_back(name.substr(begin, name.size() - 3 - begin));
    }
  }
  // "2.9" is before "2.12".
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
    return std::pair(one.size(), one) < std::pair(other.size(), other);
  });
  return found;
}

// A file's bytes, as far as they can be read.
class Content {
 public:
  explicit Content(const std::string& file) {
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (opened >= 0 && fstat(opened, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      begin_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, opened, 0);
    }
    if (opened >= 0) {
      ::close(opened);
    }
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() {
    if (begin_ != MAP_FAILED) {
      munmap(begin_, size_);
    }
  }

  std::string_view text() const {
    return begin_ == MAP_FAILED
        ? std::string_view()
        : std::string_view(static_cast<const char*>(begin_), size_);
  }

 private:
  void* begin_ = MAP_FAILED;
  size_t size_ = 0;
};

} // namespace

std::optional<std::string> operators_beside(
    const std::string& name,
    const std::string& device_library,
    const std::string& torch) {
  const auto folder = fs::path(device_library).parent_path();
  if (folder.empty()) {
    return std::nullopt;
  }
  const auto stem = "libaccel_" + name + "_operators";
  std::error_code none;
  const std::string files[] = {stem + "-" + torch + ".so", stem + ".so"};
  for (const auto& file : files) {
    if (fs::exists(folder / file, none)) {
      return (folder / file).string();
    }
  }
  const auto others = versions_beside(folder, stem);
  TORCH_CHECK(
      others.empty(),
      "torch_cuda: the device library ",
      name,
      ", ",
      device_library,
      ", has no operators for this PyTorch: found those for PyTorch ",
      c10::Join(", ", others),
      "; needed is ",
      stem,
      "-",
      torch,
      ".so beside it. Type python -m pip install 'torch==",
      others.empty() ? torch : others.back(),
      ".*' for a PyTorch that it has operators for, or install a version of "
      "the device's wheel that is made for ",
      torch,
      " (for its vendor: vendor_operators(torch = [..., \"",
      torch,
      "\"]), docs/vendors.md).");
  return std::nullopt;
}

std::string why_not_opened(const std::string& file, const std::string& torch) {
  const Content mapped(file);
  const auto content = mapped.text();
  const auto mark = content.find(kMark);
  if (mark == std::string_view::npos) {
    // What has no operators at all is told when it is opened.
    return content.find(kEntryPoint) == std::string_view::npos
        ? ""
        : "it does not say for which PyTorch it was compiled. Build it again "
          "with the table.h that this torch_cuda brings.";
  }
  const auto begin = mark + kMark.size();
  const std::string version(
      content.substr(begin, content.find(';', begin) - begin));
  return version == torch
      ? ""
      : "it was compiled for PyTorch " + version + ", and this is " + torch +
          ". Type python -m pip install 'torch==" + version +
          ".*', or build the library for " + torch + " (docs/vendors.md).";
}

} // namespace torch_cuda::operators::vendor
