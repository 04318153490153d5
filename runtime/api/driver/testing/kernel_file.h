// A file with kernels in it, and what one of them does.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {

/// A file, with kKernels in it, that goes with the test.
class KernelFile {
 public:
  explicit KernelFile(const std::string& content = kKernels)
      : path_(::testing::TempDir() + "cudasim_kernels.ptx") {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~KernelFile() {
    std::remove(path_.c_str());
  }
  const char* path() const {
    return path_.c_str();
  }

 private:
  std::string path_;
};

/// What the kernel "store" stores.
inline unsigned stored_by(CUfunction store, unsigned value) {
  const Array<unsigned> place(1);
  CUdeviceptr address = place.address();
  void* arguments[] = {&address, &value};
  EXPECT_EQ(
      cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
      CUDA_SUCCESS);
  return place.values()[0];
}

} // namespace accelerator::driver::testing
