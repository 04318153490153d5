// Kernels of the host, which torch's side runs in the order of a stream.
#include <map>
#include <string>

#include "runtime/api/cudart/testing/support.h"
#include "runtime/core/streams/work/host_kernel_api.h"
#include "runtime/tools/cupti/testing/trace.h"

namespace accelerator::cupti::testing {
namespace {

using namespace accelerator::cudart::testing;

class HostKernels : public Runtime {};

TEST_F(HostKernels, AreKernelsOfTheirStreamAndCall) {
  OwnStream stream;
  Trace trace(
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME});
  for (const char* name : {"first (CPU kernel)", "second (CPU kernel)"}) {
    std::uint64_t state[4];
    ASSERT_NE(accelerator_host_kernel_begin(stream, state), 0);
    // What it calls itself is no part of it.
    int device = -1;
    ASSERT_OK(cudaGetDevice(&device));
    accelerator_host_kernel_end(state, name);
  }
  const Records records = trace.records();
  ASSERT_EQ(records.kernels.size(), 2u);
  EXPECT_STREQ(records.kernels[0].name, "first (CPU kernel)");
  EXPECT_STREQ(records.kernels[1].name, "second (CPU kernel)");
  EXPECT_LE(records.kernels[0].end, records.kernels[1].start);
  EXPECT_EQ(calls_of(records.calls, "cudaGetDevice").size(), 2u);
  std::map<std::uint32_t, CUpti_ActivityAPI> launches;
  for (const auto& call : calls_of(records.calls, "cudaLaunchKernel")) {
    launches[call.correlationId] = call;
  }
  ASSERT_EQ(launches.size(), 2u);
  std::uint32_t id = 0;
  EXPECT_CUPTI(cuptiGetStreamId(nullptr, stream, &id));
  for (const auto& kernel : records.kernels) {
    EXPECT_EQ(kernel.streamId, id);
    EXPECT_LE(kernel.start, kernel.end);
    ASSERT_EQ(launches.count(kernel.correlationId), 1u);
    EXPECT_GE(kernel.start, launches.at(kernel.correlationId).start);
  }
}

TEST_F(HostKernels, AreLaunchedAsHostFunctionsAre) {
  OwnStream stream;
  int runs = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  Trace trace({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  {
    const std::string name = "gone by the time that it runs";
    ASSERT_OK(
        accelerator_host_kernel_launch(stream, count, &runs, name.c_str()));
  }
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(runs, 1);
  const Records records = trace.records();
  ASSERT_EQ(records.kernels.size(), 1u);
  EXPECT_STREQ(records.kernels[0].name, "gone by the time that it runs");
}

TEST_F(HostKernels, AreNothingWhileNobodyWatches) {
  std::uint64_t state[4];
  EXPECT_EQ(accelerator_host_kernel_begin(nullptr, state), 0);
  int runs = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  ASSERT_OK(accelerator_host_kernel_launch(nullptr, count, &runs, "kernel"));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(runs, 1);
}

} // namespace
} // namespace accelerator::cupti::testing
