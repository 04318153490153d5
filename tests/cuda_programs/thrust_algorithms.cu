// Thrust's algorithms on vectors of the device.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "tests/cuda_programs/check.h"

template <typename T>
void expect_all(
    const char* what,
    const thrust::device_vector<T>& found,
    const std::vector<T>& right) {
  expect_equal(what, -1, found.size(), right.size());
  const thrust::host_vector<T> values = found;
  for (std::size_t i = 0; i < right.size(); ++i) {
    expect_equal(what, static_cast<long>(i), values[i], right[i]);
  }
}

struct Square {
  __host__ __device__ long long operator()(int x) const {
    return static_cast<long long>(x) * x;
  }
};
struct IsSmall {
  __host__ __device__ bool operator()(int x) const {
    return x < 100;
  }
};

struct PlusOne {
  __host__ __device__ int operator()(int x) const {
    return x + 1;
  }
};
struct HalfOfFirst {
  __host__ __device__ float operator()(
      const thrust::tuple<int, int>& pair) const {
    return thrust::get<0>(pair) * 0.5f + thrust::get<1>(pair);
  }
};

int main() {
  constexpr int kCount = 5003;
  std::vector<int> values(kCount);
  unsigned state = 7;
  for (int& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<int>(state >> 10) % 400;
  }
  const thrust::device_vector<int> in(values.begin(), values.end());
  std::vector<int> sorted = values;
  std::sort(sorted.begin(), sorted.end());

  long long squares = 0;
  for (const int value : values) {
    squares += static_cast<long long>(value) * value;
  }
  expect_equal(
      "squares",
      0,
      thrust::transform_reduce(
          in.begin(), in.end(), Square(), 0ll, thrust::plus<long long>()),
      squares);
  expect_equal(
      "inner product",
      0,
      thrust::inner_product(in.begin(), in.end(), in.begin(), 0ll),
      squares);
  expect_equal(
      "count",
      0,
      static_cast<long>(thrust::count_if(in.begin(), in.end(), IsSmall())),
      static_cast<long>(
          std::count_if(values.begin(), values.end(), IsSmall())));
  expect_equal(
      "largest",
      0,
      static_cast<long>(thrust::max_element(in.begin(), in.end()) - in.begin()),
      static_cast<long>(
          std::max_element(values.begin(), values.end()) - values.begin()));

  thrust::device_vector<int> keys = in;
  thrust::device_vector<int> places(kCount);
  thrust::sequence(places.begin(), places.end());
  thrust::stable_sort_by_key(
      keys.begin(), keys.end(), places.begin(), thrust::greater<int>());
  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return values[a] > values[b];
  });
  expect_all("order", places, order);

  thrust::sort(keys.begin(), keys.end());
  std::map<int, int> sums;
  for (const int value : values) {
    sums[value] += value + 1;
  }
  std::vector<int> run_keys;
  std::vector<int> run_sums;
  for (const auto& [key, sum] : sums) {
    run_keys.push_back(key);
    run_sums.push_back(sum);
  }
  thrust::device_vector<int> out_keys(kCount);
  thrust::device_vector<int> out_sums(kCount);
  const auto plus_one =
      thrust::make_transform_iterator(keys.begin(), PlusOne());
  const auto ends = thrust::reduce_by_key(
      keys.begin(), keys.end(), plus_one, out_keys.begin(), out_sums.begin());
  out_keys.resize(ends.first - out_keys.begin());
  out_sums.resize(ends.second - out_sums.begin());
  expect_all("keys", out_keys, run_keys);
  expect_all("sums", out_sums, run_sums);

  thrust::device_vector<int> different = keys;
  different.erase(
      thrust::unique(different.begin(), different.end()), different.end());
  expect_all("different", different, run_keys);

  std::vector<int> thirds;
  for (int i = 0; i < 400; i += 3) {
    thirds.push_back(i);
  }
  const thrust::device_vector<int> multiples = thirds;
  thrust::device_vector<int> set(800);
  std::vector<int> right;
  set.erase(
      thrust::set_intersection(
          different.begin(),
          different.end(),
          multiples.begin(),
          multiples.end(),
          set.begin()),
      set.end());
  std::set_intersection(
      run_keys.begin(),
      run_keys.end(),
      thirds.begin(),
      thirds.end(),
      std::back_inserter(right));
  expect_all("intersection", set, right);
  set.resize(800);
  right.clear();
  set.erase(
      thrust::set_symmetric_difference(
          different.begin(),
          different.end(),
          multiples.begin(),
          multiples.end(),
          set.begin()),
      set.end());
  std::set_symmetric_difference(
      run_keys.begin(),
      run_keys.end(),
      thirds.begin(),
      thirds.end(),
      std::back_inserter(right));
  expect_all("symmetric difference", set, right);

  thrust::device_vector<int> small = in;
  small.erase(
      thrust::stable_partition(small.begin(), small.end(), IsSmall()),
      small.end());
  right.clear();
  std::copy_if(
      values.begin(), values.end(), std::back_inserter(right), IsSmall());
  expect_all("small", small, right);

  thrust::device_vector<int> scanned(kCount);
  thrust::inclusive_scan(
      in.begin(), in.end(), scanned.begin(), thrust::maximum<int>());
  right.resize(kCount);
  std::inclusive_scan(
      values.begin(), values.end(), right.begin(), [](int a, int b) {
        return std::max(a, b);
      });
  expect_all("largest so far", scanned, right);

  thrust::device_vector<int> bounds(4);
  const thrust::device_vector<int> wanted = std::vector<int>{-1, 50, 399, 1000};
  thrust::lower_bound(
      keys.begin(), keys.end(), wanted.begin(), wanted.end(), bounds.begin());
  right.clear();
  for (const int value : {-1, 50, 399, 1000}) {
    right.push_back(static_cast<int>(
        std::lower_bound(sorted.begin(), sorted.end(), value) -
        sorted.begin()));
  }
  expect_all("lower bounds", bounds, right);

  // Tuples, and memory that is not in a vector.
  thrust::device_vector<float> halves(kCount);
  const auto pairs = thrust::make_zip_iterator(
      thrust::make_tuple(in.begin(), thrust::make_counting_iterator(0)));
  thrust::transform(pairs, pairs + kCount, halves.begin(), HalfOfFirst());
  const float* raw = thrust::raw_pointer_cast(halves.data());
  float largest = 0;
  for (int i = 0; i < kCount; ++i) {
    largest = std::max(largest, values[i] * 0.5f + i);
  }
  expect_equal(
      "raw",
      0,
      thrust::reduce(
          thrust::device, raw, raw + kCount, 0.0f, thrust::maximum<float>()),
      largest);
}
