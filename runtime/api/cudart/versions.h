// What differs between the major versions of CUDA that this folder is compiled
// for, once with the headers of each.
#pragma once

#include <cuda_runtime_api.h>

/// The name of a function whose second version CUDA 13 made the only one.
#if CUDART_VERSION >= 13000
#define ACCEL_SECOND(name) name
#else
#define ACCEL_SECOND(name) name##_v2
#endif

#if CUDART_VERSION < 12080
// Later headers of CUDA 12 have these types, and later programs use them.
using cudaLibrary_t = struct CUlib_st*;
enum cudaJitOption : int { cudaJitMaxRegisters = 0 };
enum cudaLibraryOption : int {};
#endif
