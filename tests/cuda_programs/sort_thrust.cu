// Sorting through Thrust: a radix sort of integers and a merge sort with a
// comparison.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/sort.h>

#include <algorithm>
#include <functional>

#include "tests/cuda_programs/check.h"

struct ByLastDigit {
  __host__ __device__ bool operator()(int a, int b) const {
    return a % 10 != b % 10 ? a % 10 < b % 10 : a < b;
  }
};

int main() {
  std::vector<int> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i * 2654435761u >> 9 & 0xfffff);
  }
  thrust::device_vector<int> sorted(values.begin(), values.end());
  thrust::device_vector<int> compared = sorted;
  thrust::sort(sorted.begin(), sorted.end());
  thrust::sort(compared.begin(), compared.end(), ByLastDigit());
  std::vector<int> expected = values;
  std::sort(expected.begin(), expected.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    expect_equal<int>("sorted", i, sorted[i], expected[i]);
  }
  std::sort(expected.begin(), expected.end(), ByLastDigit());
  for (std::size_t i = 0; i < values.size(); ++i) {
    expect_equal<int>("compared", i, compared[i], expected[i]);
  }
}
