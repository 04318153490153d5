#include "runtime/libraries/blas/lt/epilogue.h"

#include <cmath>

namespace accelerator::blas::lt {
namespace {

constexpr double kRoot = 0.79788456080286535588; // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

} // namespace

bool parse(cublasLtEpilogue_t epilogue, Epilogue* steps) {
  using Activation = Epilogue::Activation;
  Epilogue e;
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      break;
    case CUBLASLT_EPILOGUE_RELU:
      e.activation = Activation::kRelu;
      break;
    case CUBLASLT_EPILOGUE_RELU_AUX:
      e.activation = Activation::kRelu;
      e.keep_input = true;
      break;
    case CUBLASLT_EPILOGUE_BIAS:
      e.bias = true;
      break;
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      e.activation = Activation::kRelu;
      e.bias = true;
      break;
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
      e.activation = Activation::kRelu;
      e.bias = e.keep_input = true;
      break;
    case CUBLASLT_EPILOGUE_DRELU:
      e.activation = Activation::kRelu;
      e.backward = true;
      break;
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
      e.activation = Activation::kRelu;
      e.backward = e.bias_gradient = true;
      break;
    case CUBLASLT_EPILOGUE_GELU:
      e.activation = Activation::kGelu;
      break;
    case CUBLASLT_EPILOGUE_GELU_AUX:
      e.activation = Activation::kGelu;
      e.keep_input = true;
      break;
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      e.activation = Activation::kGelu;
      e.bias = true;
      break;
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
      e.activation = Activation::kGelu;
      e.bias = e.keep_input = true;
      break;
    case CUBLASLT_EPILOGUE_DGELU:
      e.activation = Activation::kGelu;
      e.backward = true;
      break;
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
      e.activation = Activation::kGelu;
      e.backward = e.bias_gradient = true;
      break;
    default:
      return false;
  }
  *steps = e;
  return true;
}

double activate(Epilogue::Activation activation, double x) {
  switch (activation) {
    case Epilogue::Activation::kNone:
      return x;
    case Epilogue::Activation::kRelu:
      return x < 0 ? 0 : x;
    case Epilogue::Activation::kGelu:
      return 0.5 * x * (1 + std::tanh(kRoot * (x + kCubic * x * x * x)));
  }
  return x;
}

double gelu_derivative(double x) {
  const double t = std::tanh(kRoot * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) +
      0.5 * x * (1 - t * t) * kRoot * (1 + 3 * kCubic * x * x);
}

} // namespace accelerator::blas::lt
