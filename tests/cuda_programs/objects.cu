// What C++ programs do on a device: recursion, virtual functions, pointers to
// functions, new and delete, printf, assert.
#include <algorithm>
#include <cassert>

#include "tests/cuda_programs/check.h"

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) {
    return n + 1;
  }
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ void quick_sort(int* values, int first, int last) {
  if (first >= last) {
    return;
  }
  const int pivot = values[(first + last) / 2];
  int i = first;
  int j = last;
  while (i <= j) {
    while (values[i] < pivot) {
      ++i;
    }
    while (values[j] > pivot) {
      --j;
    }
    if (i <= j) {
      const int swap = values[i];
      values[i++] = values[j];
      values[j--] = swap;
    }
  }
  quick_sort(values, first, j);
  quick_sort(values, i, last);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual const char* name() const {
    return "shape";
  }
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float length) : side(length) {}
  __device__ float area() const override {
    return side * side;
  }
};
struct Rectangle : Square {
  float other;
  __device__ Rectangle(float a, float b) : Square(a), other(b) {}
  __device__ float area() const override {
    return side * other;
  }
  __device__ const char* name() const override {
    return "rectangle";
  }
};

using Operation = double (*)(double, double);
__device__ double add(double a, double b) {
  return a + b;
}
__device__ double power(double a, double b) {
  return pow(a, b);
}
__device__ Operation operations[] = {add, power, fmax};
__device__ Operation chosen = power;
__constant__ int offsets[4];

struct Node {
  int value;
  Node* next;
};

__global__ void everything(int* results, float* areas, double* numbers) {
  const int i = threadIdx.x;
  results[i] = ackermann(2, i % 5);
  int mine[16];
  for (int j = 0; j < 16; ++j) {
    mine[j] = (j * 7 + i * 3) % 16;
  }
  quick_sort(mine, 0, 15);
  for (int j = 0; j < 16; ++j) {
    assert(mine[j] == j);
  }
  Shape* shape = i % 3 == 0 ? new Rectangle(i, 2)
      : i % 3 == 1          ? new Square(i)
                            : static_cast<Shape*>(nullptr);
  areas[i] = shape != nullptr ? shape->area() : -1;
  if (shape != nullptr && i < 2) {
    printf(
        "%s %d has %.2f, %s %c %5.1e %llx %%\n",
        shape->name(),
        i,
        shape->area(),
        i ? "yes" : "no",
        'a' + i,
        12345.678,
        1ull << 40);
  }
  delete shape;
  Node* list = nullptr;
  for (int j = 0; j < i; ++j) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = j + offsets[j % 4];
    node->next = list;
    list = node;
  }
  int sum = 0;
  while (list != nullptr) {
    sum += list->value;
    Node* next = list->next;
    free(list);
    list = next;
  }
  results[i] += 1000 * sum;
  numbers[i] = operations[i % 3](i, 2) + chosen(2, i % 10);
}

int host_ackermann(int m, int n) {
  return m == 0 ? n + 1
                : host_ackermann(m - 1, n == 0 ? 1 : host_ackermann(m, n - 1));
}

int main() {
  constexpr int kThreads = 70;
  int* results = to_device(std::vector<int>(kThreads));
  float* areas = to_device(std::vector<float>(kThreads));
  double* numbers = to_device(std::vector<double>(kThreads));
  const int values[4] = {5, -3, 2, 11};
  CHECK_CUDA(cudaMemcpyToSymbol(offsets, values, sizeof(values)));
  CHECK_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  everything<<<1, kThreads>>>(results, areas, numbers);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<int> found = to_host(results, kThreads);
  const std::vector<float> found_areas = to_host(areas, kThreads);
  const std::vector<double> found_numbers = to_host(numbers, kThreads);
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0;
    for (int j = 0; j < i; ++j) {
      sum += j + values[j % 4];
    }
    expect_equal("result", i, found[i], host_ackermann(2, i % 5) + 1000 * sum);
    expect_equal(
        "area",
        i,
        found_areas[i],
        i % 3 == 0       ? 2.0f * i
            : i % 3 == 1 ? 1.0f * i * i
                         : -1.0f);
    const double number = i % 3 == 0 ? i + 2.0
        : i % 3 == 1                 ? 1.0 * i * i
                                     : std::max(i, 2);
    expect_equal("number", i, found_numbers[i], number + (1 << i % 10));
  }
}
