#include "runtime/libraries/blas/lt/call.h"

#include "runtime/libraries/blas/lt/layout.h"
#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas::lt {
namespace {

/// matrix_bytes() of sizes as descriptors have them. check_sizes() has found
/// that they fit into an int.
std::size_t checked_bytes(
    std::uint64_t rows,
    std::uint64_t columns,
    std::int64_t leading,
    std::size_t size) {
  return matrix_bytes(
      static_cast<std::int64_t>(rows),
      static_cast<std::int64_t>(columns),
      leading,
      size);
}

/// The bias, or its gradient.
Extent bias_extent(const Call& call) {
  if (!call.epilogue.bias && !call.epilogue.bias_gradient) {
    return {nullptr, 0};
  }
  const std::size_t size = size_of(type_or(call.desc.bias_type, call.d));
  return strided_extent(
      call.desc.bias,
      checked_bytes(
          call.d.rows, 1, static_cast<std::int64_t>(call.d.rows), size),
      call.desc.bias_stride,
      size,
      call.d.batch_count);
}

/// What the activation got, or its sign.
Extent auxiliary_extent(const Call& call) {
  if (!call.epilogue.keep_input && !call.epilogue.backward) {
    return {nullptr, 0};
  }
  const bool bits = call.epilogue.activation == Epilogue::Activation::kRelu;
  const std::size_t size =
      bits ? 1 : size_of(type_or(call.desc.auxiliary_type, call.d));
  const Extent all = strided_extent(
      call.desc.auxiliary,
      checked_bytes(
          call.d.rows, call.d.columns, call.desc.auxiliary_leading, size),
      call.desc.auxiliary_stride,
      size,
      call.d.batch_count);
  return {all.pointer, bits ? all.bytes / 8 + (all.bytes % 8 != 0) : all.bytes};
}

} // namespace

bool reads_c(const Call& call, const void* device_beta) {
  if (!is_complex(call.desc.scale)) {
    return call.scalar(device_beta, call.beta) != 0;
  }
  // Of either size, both parts are zeros of some sign.
  const auto part = call.desc.scale == CUDA_C_64F ? CUDA_R_64F : CUDA_R_32F;
  const void* const beta = device_beta != nullptr ? device_beta : call.beta;
  return load(part, beta, 0) != 0 || load(part, beta, 1) != 0;
}

bool reachable(const Call& call) {
  const MatmulDesc& desc = call.desc;
  const auto optional = [](const void* pointer, std::size_t bytes) {
    return Extent{pointer, pointer == nullptr ? 0 : bytes};
  };
  const bool with_c = call.device_beta != nullptr || reads_c(call, nullptr);
  return accessible(
      kFunction,
      {memory_of(call.a_data, call.a, call.d.batch_count),
       memory_of(call.b_data, call.b, call.d.batch_count),
       memory_of(call.c_data, call.c, with_c ? call.d.batch_count : 0),
       memory_of(call.d_data, call.d, call.d.batch_count),
       bias_extent(call),
       auxiliary_extent(call),
       optional(call.device_alpha, size_of(desc.scale)),
       optional(call.device_beta, size_of(desc.scale)),
       optional(desc.scale_a, sizeof(float)),
       optional(desc.scale_b, sizeof(float)),
       optional(desc.scale_c, sizeof(float)),
       optional(desc.scale_d, sizeof(float)),
       optional(desc.amax_d, sizeof(float)),
       optional(call.mantissa_bits, sizeof(*call.mantissa_bits))});
}

void tell_reads(const Call& call) {
  const MatmulDesc& desc = call.desc;
  const auto optional = [](const void* pointer, std::size_t bytes) {
    return Read(pointer, pointer == nullptr ? 0 : bytes);
  };
  reads(
      {optional(call.device_alpha, size_of(desc.scale)),
       optional(call.device_beta, size_of(desc.scale)),
       optional(desc.scale_a, sizeof(float)),
       optional(desc.scale_b, sizeof(float)),
       optional(desc.scale_c, sizeof(float)),
       optional(desc.scale_d, sizeof(float))});
  const int count = call.d.batch_count;
  const bool with_c = reads_c(call, call.device_beta);
  reads(
      {read_of(call.a_data, call.a, count),
       read_of(call.b_data, call.b, count),
       read_of(call.c_data, call.c, with_c ? count : 0),
       call.epilogue.bias ? Read(bias_extent(call)) : Read(nullptr, 0)});
  if (!call.epilogue.backward) {
    return;
  }
  // Of bits, whole bytes; columns of them need not begin with one.
  const bool bits = call.epilogue.activation == Epilogue::Activation::kRelu;
  const std::size_t size = size_of(type_or(desc.auxiliary_type, call.d));
  reads(
      {bits ? Read(auxiliary_extent(call))
            : stream_work::batched_read(
                  matrix_read(
                      desc.auxiliary,
                      static_cast<std::int64_t>(call.d.rows),
                      static_cast<std::int64_t>(call.d.columns),
                      desc.auxiliary_leading,
                      size),
                  desc.auxiliary_stride,
                  size,
                  count)});
}

} // namespace accelerator::blas::lt
