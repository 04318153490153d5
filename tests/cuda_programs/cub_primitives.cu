// CUB's device-wide primitives.
#include <cub/cub.cuh>

#include <algorithm>
#include <map>
#include <numeric>

#include "tests/cuda_programs/check.h"

// Calls a primitive twice, as CUB wants it: for the size of its storage, and to
// run it.
template <typename Primitive>
void run(const Primitive& primitive) {
  std::size_t bytes = 0;
  CHECK_CUDA(primitive(nullptr, bytes));
  void* storage = nullptr;
  CHECK_CUDA(cudaMalloc(&storage, bytes));
  CHECK_CUDA(primitive(storage, bytes));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaFree(storage));
}

template <typename T>
void expect_all(const char* what, const T* found, const std::vector<T>& right) {
  const std::vector<T> values = to_host(found, right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    expect_equal(what, static_cast<long>(i), values[i], right[i]);
  }
}

struct IsOdd {
  __host__ __device__ bool operator()(int x) const {
    return x % 2 != 0;
  }
};

struct IsGreater {
  __host__ __device__ bool operator()(int a, int b) const {
    return a > b;
  }
};

int main() {
  constexpr int kCount = 20011;
  std::vector<int> values(kCount);
  unsigned state = 1;
  for (int& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<int>(state >> 8) % 1000 - 300;
  }
  const int* in = to_device(values);
  int* out = to_device(std::vector<int>(kCount));
  int* more = to_device(std::vector<int>(kCount));
  int* number = to_device(std::vector<int>(4));

  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, in, number, kCount);
  });
  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Min(storage, bytes, in, number + 1, kCount);
  });
  const int sum = std::accumulate(values.begin(), values.end(), 0);
  const int least = *std::min_element(values.begin(), values.end());
  expect_all("sum and minimum", number, {sum, least});

  cub::KeyValuePair<int, int>* place =
      to_device(std::vector<cub::KeyValuePair<int, int>>(1));
  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::ArgMax(storage, bytes, in, place, kCount);
  });
  const auto largest = std::max_element(values.begin(), values.end());
  expect_equal(
      "place of the maximum",
      0,
      to_host(place, 1)[0].key,
      static_cast<int>(largest - values.begin()));

  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, in, out, kCount);
  });
  std::vector<int> right(kCount);
  std::exclusive_scan(values.begin(), values.end(), right.begin(), 0);
  expect_all("scan", out, right);

  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceSelect::If(
        storage, bytes, in, out, number, kCount, IsOdd());
  });
  right.clear();
  std::copy_if(
      values.begin(), values.end(), std::back_inserter(right), IsOdd());
  expect_all("number of odd ones", number, {static_cast<int>(right.size())});
  expect_all("odd ones", out, right);

  run([&](void* storage, std::size_t& bytes) {
    return cub::DevicePartition::If(
        storage, bytes, in, out, number, kCount, IsOdd());
  });
  expect_all("odd ones in front", out, right);

  constexpr int kBins = 50;
  int* counts = to_device(std::vector<int>(kBins));
  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(
        storage, bytes, in, counts, kBins + 1, -300, 700, kCount);
  });
  std::vector<int> bins(kBins);
  for (const int value : values) {
    ++bins[(value + 300) / 20];
  }
  expect_all("histogram", counts, bins);

  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  const int* indices = to_device(order);
  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(
        storage, bytes, in, out, indices, more, kCount);
  });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return values[a] < values[b];
  });
  expect_all("order", more, order);
  std::vector<int> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  expect_all("sorted", out, sorted);

  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeysCopy(
        storage, bytes, in, more, kCount, IsGreater());
  });
  expect_all("merged", more, {sorted.rbegin(), sorted.rend()});

  // Runs of equal numbers, as the sorted ones have.
  int* lengths = to_device(std::vector<int>(kCount));
  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(
        storage, bytes, out, more, lengths, number, kCount);
  });
  std::map<int, int> runs;
  for (const int value : values) {
    ++runs[value];
  }
  std::vector<int> run_values;
  std::vector<int> run_lengths;
  std::vector<int> run_sums;
  for (const auto& [value, length] : runs) {
    run_values.push_back(value);
    run_lengths.push_back(length);
    run_sums.push_back(value * length);
  }
  expect_all("runs", number, {static_cast<int>(runs.size())});
  expect_all("values of runs", more, run_values);
  expect_all("lengths of runs", lengths, run_lengths);
  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(
        storage, bytes, out, more, out, lengths, number, cub::Sum(), kCount);
  });
  expect_all("sums of runs", lengths, run_sums);

  const int* borders = to_device(std::vector<int>{0, 10, 10, 5000, kCount});
  run([&](void* storage, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Max(
        storage, bytes, in, number, 3, borders + 1, borders + 2);
  });
  expect_equal(
      "segment",
      0,
      to_host(number, 3)[2],
      *std::max_element(values.begin() + 5000, values.end()));
}
