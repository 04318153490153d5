#include "runtime/nccl/numeric/types.h"

namespace accelerator::nccl {

std::size_t size_of(ncclDataType_t type) {
  switch (static_cast<int>(type)) {
    case ncclInt8:
    case ncclUint8:
    case kFloat8e4m3:
    case kFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

bool is_reduced(ncclDataType_t type) {
  return size_of(type) != 0 && type != kFloat8e4m3 && type != kFloat8e5m2;
}

const char* name_of(ncclDataType_t type) {
  switch (static_cast<int>(type)) {
    case ncclInt8:
      return "int8";
    case ncclUint8:
      return "uint8";
    case ncclInt32:
      return "int32";
    case ncclUint32:
      return "uint32";
    case ncclInt64:
      return "int64";
    case ncclUint64:
      return "uint64";
    case ncclFloat16:
      return "float16";
    case ncclFloat32:
      return "float32";
    case ncclFloat64:
      return "float64";
    case ncclBfloat16:
      return "bfloat16";
    case kFloat8e4m3:
      return "float8_e4m3";
    case kFloat8e5m2:
      return "float8_e5m2";
    default:
      return "elements of an unknown type";
  }
}

const char* name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return "sum";
    case Reduction::kProduct:
      return "product";
    case Reduction::kMaximum:
      return "maximum";
    case Reduction::kMinimum:
      return "minimum";
    case Reduction::kMean:
      return "mean";
    case Reduction::kScaledSum:
      return "scaled sum";
  }
  return "unknown reduction";
}

} // namespace accelerator::nccl
