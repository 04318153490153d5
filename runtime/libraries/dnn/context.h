// What cudnnHandle_t stands for.
#pragma once

#include <cuda_runtime_api.h>

/// The type behind cudnnHandle_t; cuDNN leaves it open.
struct cudnnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
};
