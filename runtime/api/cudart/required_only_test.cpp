// A device that has no optional group.
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

class RequiredOnly : public Runtime {};

TEST_F(RequiredOnly, SharesNoMemoryAndSaysSo) {
  OnDevice values(4);
  cudaIpcMemHandle_t handle;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, values.data()), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_OK(cudaDeviceSynchronize());
}

} // namespace
} // namespace accelerator::cudart::testing
