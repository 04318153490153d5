#include "accelerator/runtime/nccl/describe.h"

namespace accelerator::nccl {

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
  const bool reduces = a.kind == Kind::kAllReduce || a.kind == Kind::kReduce ||
      a.kind == Kind::kReduceScatter;
  return a.kind == b.kind && a.type == b.type && a.count == b.count &&
      a.other == b.other && (!reduces || a.reduction == b.reduction);
}

} // namespace accelerator::nccl
