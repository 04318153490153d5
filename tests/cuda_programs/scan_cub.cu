// A prefix sum by CUB, whose blocks wait for those before them.
#include <cub/cub.cuh>

#include "tests/cuda_programs/check.h"

int main() {
  for (const int count : {1, 300, 40000}) {
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) {
      values[i] = i % 11 - 4;
    }
    const int* in = to_device(values);
    int* out = to_device(std::vector<int>(count));
    std::size_t bytes = 0;
    CHECK_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, count));
    char* workspace = to_device(std::vector<char>(bytes));
    CHECK_CUDA(cub::DeviceScan::InclusiveSum(workspace, bytes, in, out, count));
    const std::vector<int> found = to_host(out, count);
    int expected = 0;
    for (int i = 0; i < count; ++i) {
      expected += values[i];
      expect_equal("prefix", i, found[i], expected);
    }
  }
}
