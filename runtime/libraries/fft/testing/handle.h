// Handles of plans, for tests.
#pragma once

#include <cufft.h>
#include <gtest/gtest.h>

namespace accelerator::fft::testing {

/// A handle that there is not.
constexpr cufftHandle kNoPlan = 1 << 20;

/// A handle that is destroyed with the test.
class Handle {
 public:
  Handle() {
    EXPECT_EQ(cufftCreate(&handle_), CUFFT_SUCCESS);
  }
  ~Handle() {
    EXPECT_EQ(cufftDestroy(handle_), CUFFT_SUCCESS);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator cufftHandle() const {
    return handle_;
  }

 private:
  cufftHandle handle_ = 0;
};

} // namespace accelerator::fft::testing
