#include "runtime/libraries/dnn/elements.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace accelerator::dnn {
namespace {

/// Elements whose type C++ has, or CUDA's headers have.
template <typename Stored>
struct Plain {
  template <typename T>
  static T load(const void* memory, std::int64_t index) {
    const Stored value = static_cast<const Stored*>(memory)[index];
    if constexpr (std::is_arithmetic_v<Stored>) {
      return static_cast<T>(value);
    } else {
      return static_cast<T>(static_cast<float>(value));
    }
  }
  template <typename T>
  static void store(void* memory, std::int64_t index, T value) {
    static_cast<Stored*>(memory)[index] = of(value);
  }

 private:
  template <typename T>
  static Stored of(T value) {
    if constexpr (std::is_integral_v<Stored>) {
      if (std::isnan(value)) {
        return 0;
      }
      const double rounded = std::nearbyint(static_cast<double>(value));
      using Limits = std::numeric_limits<Stored>;
      // The largest integer of 64 bits is none that a double has.
      if (rounded >= static_cast<double>(Limits::max())) {
        return Limits::max();
      }
      return rounded <= static_cast<double>(Limits::min())
          ? Limits::min()
          : static_cast<Stored>(rounded);
    } else if constexpr (std::is_floating_point_v<Stored>) {
      return static_cast<Stored>(value);
    } else {
      return Stored(static_cast<float>(value));
    }
  }
};

struct Bit {
  template <typename T>
  static T load(const void* memory, std::int64_t index) {
    const auto* bytes = static_cast<const unsigned char*>(memory);
    return static_cast<T>(bytes[index / 8] >> (index % 8) & 1);
  }
  template <typename T>
  static void store(void* memory, std::int64_t index, T value) {
    auto* bytes = static_cast<unsigned char*>(memory);
    const auto mask = static_cast<unsigned char>(1U << (index % 8));
    bytes[index / 8] = static_cast<unsigned char>(
        value != T{} ? bytes[index / 8] | mask : bytes[index / 8] & ~mask);
  }
};

struct ByteBoolean {
  template <typename T>
  static T load(const void* memory, std::int64_t index) {
    return static_cast<T>(
        static_cast<const unsigned char*>(memory)[index] != 0);
  }
  template <typename T>
  static void store(void* memory, std::int64_t index, T value) {
    static_cast<unsigned char*>(memory)[index] = value != T{};
  }
};

/// Powers of two from 2^-127 to 2^127, and NaN. A number between two of them
/// becomes the larger one, as scales of blocks want it.
struct Exponent {
  template <typename T>
  static T load(const void* memory, std::int64_t index) {
    const int bits = static_cast<const unsigned char*>(memory)[index];
    return bits == 255 ? std::numeric_limits<T>::quiet_NaN()
                       : static_cast<T>(std::ldexp(1.0, bits - 127));
  }
  template <typename T>
  static void store(void* memory, std::int64_t index, T value) {
    auto& bits = static_cast<unsigned char*>(memory)[index];
    if (std::isnan(value)) {
      bits = 255;
      return;
    }
    int exponent = 0;
    const double fraction =
        std::frexp(std::fabs(static_cast<double>(value)), &exponent);
    // A fraction of 1/2 is a power of two itself.
    const int power = fraction == 0.5 ? exponent - 1 : exponent;
    bits = static_cast<unsigned char>(
        fraction == 0 ? 0 : std::clamp(power, -127, 127) + 127);
  }
};

/// Two 4-bit elements in a byte, the lower half first.
template <typename Value>
struct Half {
  template <typename T>
  static T load(const void* memory, std::int64_t index) {
    const unsigned char byte =
        static_cast<const unsigned char*>(memory)[index / 2];
    return static_cast<T>(Value::decode(byte >> (index % 2 * 4) & 15));
  }
  template <typename T>
  static void store(void* memory, std::int64_t index, T value) {
    unsigned char& byte = static_cast<unsigned char*>(memory)[index / 2];
    const unsigned shift = index % 2 * 4;
    byte = static_cast<unsigned char>(
        (byte & ~(15U << shift)) |
        Value::encode(static_cast<double>(value)) << shift);
  }
};

struct Int4 {
  static double decode(unsigned bits) {
    return bits >= 8 ? static_cast<int>(bits) - 16 : static_cast<int>(bits);
  }
  static unsigned encode(double value) {
    return static_cast<unsigned>(
               static_cast<int>(std::nearbyint(std::clamp(value, -8.0, 7.0)))) &
        15;
  }
};

struct UInt4 {
  static double decode(unsigned bits) {
    return bits;
  }
  static unsigned encode(double value) {
    return static_cast<unsigned>(std::nearbyint(std::clamp(value, 0.0, 15.0)));
  }
};

struct E2m1 {
  static constexpr std::array<double, 8> kValues{0, 0.5, 1, 1.5, 2, 3, 4, 6};

  static double decode(unsigned bits) {
    return bits >= 8 ? -kValues[bits - 8] : kValues[bits];
  }
  static unsigned encode(double value) {
    const double size = std::isnan(value) ? 6 : std::fabs(value);
    unsigned best = 0;
    for (unsigned i = 1; i < kValues.size(); ++i) {
      const double nearer =
          std::fabs(kValues[i] - size) - std::fabs(kValues[best] - size);
      // Of two that are equally near the even one is taken.
      if (nearer < 0 || (nearer == 0 && i % 2 == 0)) {
        best = i;
      }
    }
    return std::signbit(value) ? best + 8 : best;
  }
};

/// Calls `body` with the reader and writer of a type.
template <typename Body>
void with_type(cudnnDataType_t type, Body body) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_FAST_FLOAT_FOR_FP8:
      return body(Plain<float>{});
    case CUDNN_DATA_DOUBLE:
      return body(Plain<double>{});
    case CUDNN_DATA_HALF:
      return body(Plain<__half>{});
    case CUDNN_DATA_BFLOAT16:
      return body(Plain<__nv_bfloat16>{});
    case CUDNN_DATA_INT8:
      return body(Plain<std::int8_t>{});
    case CUDNN_DATA_UINT8:
      return body(Plain<std::uint8_t>{});
    case CUDNN_DATA_INT32:
      return body(Plain<std::int32_t>{});
    case CUDNN_DATA_UINT32:
      return body(Plain<std::uint32_t>{});
    case CUDNN_DATA_INT64:
      return body(Plain<std::int64_t>{});
    case CUDNN_DATA_FP8_E4M3:
      return body(Plain<__nv_fp8_e4m3>{});
    case CUDNN_DATA_FP8_E5M2:
      return body(Plain<__nv_fp8_e5m2>{});
    case CUDNN_DATA_FP8_E8M0:
      return body(Exponent{});
    case CUDNN_DATA_FP4_E2M1:
      return body(Half<E2m1>{});
    case CUDNN_DATA_INT4:
      return body(Half<Int4>{});
    case CUDNN_DATA_UINT4:
      return body(Half<UInt4>{});
    case CUDNN_DATA_BOOLEAN:
      return body(Bit{});
    case CUDNN_DATA_BYTE_BOOLEAN:
      return body(ByteBoolean{});
    default:
      return;
  }
}

} // namespace

int bits_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_BOOLEAN:
      return 1;
    case CUDNN_DATA_FP4_E2M1:
    case CUDNN_DATA_INT4:
    case CUDNN_DATA_UINT4:
      return 4;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_FP8_E4M3:
    case CUDNN_DATA_FP8_E5M2:
    case CUDNN_DATA_FP8_E8M0:
    case CUDNN_DATA_BYTE_BOOLEAN:
      return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 16;
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_FAST_FLOAT_FOR_FP8:
    case CUDNN_DATA_INT32:
    case CUDNN_DATA_UINT32:
      return 32;
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64:
      return 64;
    default:
      return 0;
  }
}

std::size_t bytes_of(cudnnDataType_t type, std::int64_t count) {
  return (static_cast<std::size_t>(count) * bits_of(type) + 7) / 8;
}

template <typename T>
bool is_type(cudnnDataType_t type) {
  return type ==
      (std::is_same_v<T, float> ? CUDNN_DATA_FLOAT : CUDNN_DATA_DOUBLE);
}

template <typename T>
void load(
    cudnnDataType_t type,
    const void* memory,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    T* values) {
  with_type(type, [=](auto kind) {
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = decltype(kind)::template load<T>(memory, first + i * stride);
    }
  });
}

template <typename T>
void store(
    cudnnDataType_t type,
    void* memory,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    const T* values) {
  with_type(type, [=](auto kind) {
    for (std::int64_t i = 0; i < count; ++i) {
      decltype(kind)::template store<T>(memory, first + i * stride, values[i]);
    }
  });
}

template <typename T>
void round_to(cudnnDataType_t type, std::int64_t count, T* values) {
  if (is_type<T>(type) || type == CUDNN_DATA_DOUBLE) {
    return;
  }
  with_type(type, [=](auto kind) {
    for (std::int64_t i = 0; i < count; ++i) {
      alignas(8) unsigned char place[8] = {};
      decltype(kind)::template store<T>(place, 0, values[i]);
      values[i] = decltype(kind)::template load<T>(place, 0);
    }
  });
}

#define ACCEL_ELEMENTS(T)                    \
  template bool is_type<T>(cudnnDataType_t); \
  template void load<T>(                     \
      cudnnDataType_t,                       \
      const void*,                           \
      std::int64_t,                          \
      std::int64_t,                          \
      std::int64_t,                          \
      T*);                                   \
  template void store<T>(                    \
      cudnnDataType_t,                       \
      void*,                                 \
      std::int64_t,                          \
      std::int64_t,                          \
      std::int64_t,                          \
      const T*);                             \
  template void round_to<T>(cudnnDataType_t, std::int64_t, T*);
ACCEL_ELEMENTS(float)
ACCEL_ELEMENTS(double)
#undef ACCEL_ELEMENTS

} // namespace accelerator::dnn
