// What cublasLtMatmul does with a product before it stores it. Source: cuBLAS
// API, cublasLtEpilogue_t.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <vector>

namespace accelerator::blas::lt {

/// The steps that an epilogue consists of.
struct Epilogue {
  bool bias = false; // add a vector with one value for each row of D
  enum class Activation { kNone, kRelu, kGelu } activation = Activation::kNone;
  bool keep_input = false; // _AUX: store what the activation got, or its sign
  bool backward = false; // DRELU, DGELU: multiply with the derivative at aux
  bool bias_gradient = false; // _BGRAD: sum over the columns into the bias
};

/// Takes an epilogue apart; false for one that is not known.
bool parse(cublasLtEpilogue_t epilogue, Epilogue* steps);

/// x or max(x, 0) or GELU in its tanh form, as cuBLASLt computes it.
double activate(Epilogue::Activation activation, double x);

/// The derivative of GELU's tanh form.
double gelu_derivative(double x);

} // namespace accelerator::blas::lt
