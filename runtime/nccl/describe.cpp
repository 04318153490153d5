#include "runtime/nccl/describe.h"

#include <string_view>

namespace accelerator::nccl {
namespace {

bool reduces(Kind kind) {
  return kind == Kind::kAllReduce || kind == Kind::kReduce ||
      kind == Kind::kReduceScatter;
}

const char* short_name_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return "i8";
    case ncclUint8:
      return "u8";
    case ncclInt32:
      return "i32";
    case ncclUint32:
      return "u32";
    case ncclInt64:
      return "i64";
    case ncclUint64:
      return "u64";
    case ncclFloat16:
      return "f16";
    case ncclFloat32:
      return "f32";
    case ncclFloat64:
      return "f64";
    case ncclBfloat16:
      return "bf16";
    default:
      return name_of(type);
  }
}

const char* short_name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return "Sum";
    case Reduction::kProduct:
      return "Prod";
    case Reduction::kMaximum:
      return "Max";
    case Reduction::kMinimum:
      return "Min";
    case Reduction::kMean:
      return "Avg";
    case Reduction::kScaledSum:
      return "PreMulSum";
  }
  return name_of(reduction);
}

} // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kAllReduce:
      return "ncclAllReduce";
    case Kind::kReduce:
      return "ncclReduce";
    case Kind::kBroadcast:
      return "ncclBroadcast";
    case Kind::kAllGather:
      return "ncclAllGather";
    case Kind::kReduceScatter:
      return "ncclReduceScatter";
    case Kind::kAllToAll:
      return "ncclAlltoAll";
    case Kind::kGather:
      return "ncclGather";
    case Kind::kScatter:
      return "ncclScatter";
    case Kind::kSend:
      return "ncclSend";
    case Kind::kReceive:
      return "ncclRecv";
  }
  return "unknown";
}

std::string kernel_of(const Signature& signature) {
  const std::string begin = "ncclDevKernel_";
  if (signature.kind == Kind::kSend || signature.kind == Kind::kReceive) {
    return begin + "SendRecv";
  }
  const std::string name =
      begin + (name_of(signature.kind) + std::string_view("nccl").size());
  return reduces(signature.kind)
      ? name + "_" + short_name_of(signature.reduction) + "_" +
          short_name_of(signature.type)
      : name;
}

std::string describe(const Signature& signature) {
  std::string text = std::string(name_of(signature.kind)) + " of " +
      std::to_string(signature.count) + " " + name_of(signature.type);
  const std::string other = std::to_string(signature.other);
  switch (signature.kind) {
    case Kind::kAllReduce:
    case Kind::kReduceScatter:
      return text + " (" + name_of(signature.reduction) + ")";
    case Kind::kReduce:
      return text + " (" + name_of(signature.reduction) + ", to rank " + other +
          ")";
    case Kind::kBroadcast:
    case Kind::kScatter:
      return text + " (from rank " + other + ")";
    case Kind::kGather:
    case Kind::kSend:
      return text + " (to rank " + other + ")";
    case Kind::kReceive:
      return text + " (from rank " + other + ")";
    case Kind::kNone:
    case Kind::kAllGather:
    case Kind::kAllToAll:
      break;
  }
  return text;
}

bool same(const Signature& a, const Signature& b) {
  return a.kind == b.kind && a.type == b.type && a.count == b.count &&
      a.other == b.other && (!reduces(a.kind) || a.reduction == b.reduction);
}

} // namespace accelerator::nccl
