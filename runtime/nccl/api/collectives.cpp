// Collectives, sends and receives: NCCL API, collective communication functions
// and point-to-point communication functions.
#include <string>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/describe.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/group.h"
#include "runtime/nccl/operation.h"

namespace accelerator::nccl {
namespace {

/// Fills in what `op` means.
void set_reduction(
    const Communicator& communicator,
    ncclRedOp_t op,
    Operation* operation) {
  Signature& what = operation->signature;
  switch (op) {
    case ncclSum:
      what.reduction = Reduction::kSum;
      return;
    case ncclProd:
      what.reduction = Reduction::kProduct;
      return;
    case ncclMax:
      what.reduction = Reduction::kMaximum;
      return;
    case ncclMin:
      what.reduction = Reduction::kMinimum;
      return;
    case ncclAvg:
      what.reduction = Reduction::kMean;
      return;
    default:
      break;
  }
  const std::string name = name_of(what.kind);
  require(
      op >= 0,
      ncclInvalidArgument,
      name + " : invalid reduction operation " + std::to_string(op));
  const auto index = static_cast<std::size_t>(op - ncclNumOps);
  require(
      index < communicator.factors.size() &&
          communicator.factors[index].has_value(),
      ncclInvalidArgument,
      name + " : reduction operation " + std::to_string(op) +
          " unknown to this communicator");
  const Factor& factor = *communicator.factors[index];
  require(
      factor.type == what.type,
      ncclInvalidArgument,
      name + " : the elements are " + name_of(what.type) +
          ", but the reduction operation was created for " +
          name_of(factor.type));
  what.reduction = Reduction::kScaledSum;
  operation->factor = factor.bits;
  operation->factor_on_device = factor.on_device;
}

void require_rank(
    const Communicator& communicator,
    const Signature& what,
    const char* role) {
  require(
      what.other >= 0 && what.other < communicator.ranks(),
      ncclInvalidArgument,
      std::string(name_of(what.kind)) + " : invalid " + role + " " +
          std::to_string(what.other) + " (" + role + " should be in the 0.." +
          std::to_string(communicator.ranks() - 1) + " range)");
}

/// What others still read may not be written yet, and there is no copy of it.
void require_apart(
    const Communicator& communicator,
    const Operation& operation) {
  const std::size_t bytes = bytes_to_send(communicator, operation);
  const auto send = reinterpret_cast<std::uintptr_t>(operation.send);
  const auto receive = reinterpret_cast<std::uintptr_t>(operation.receive);
  require(
      communicator.ranks() == 1 ||
          (send < receive ? receive - send : send - receive) >= bytes,
      ncclInvalidArgument,
      "ncclAlltoAll : the buffers overlap; it does not work in place");
}

/// Checks the arguments as NCCL does, and adds the operation to the group.
ncclResult_t begin(
    ncclComm_t comm,
    Operation operation,
    ncclRedOp_t op = ncclSum) {
  return in_group([&] {
    const auto communicator = find(comm);
    Signature& what = operation.signature;
    communicator->require_ready();
    require(
        size_of(what.type) != 0,
        ncclInvalidArgument,
        std::string(name_of(what.kind)) + " : invalid type " +
            std::to_string(what.type));
    switch (what.kind) {
      case Kind::kAllReduce:
      case Kind::kReduce:
      case Kind::kReduceScatter: {
        require(
            is_reduced(what.type),
            ncclInvalidArgument,
            std::string(name_of(what.kind)) + " : " + name_of(what.type) +
                " is moved between ranks and not reduced, as on GPUs before "
                "sm_90");
        const std::lock_guard lock(communicator->mutex);
        set_reduction(*communicator, op, &operation);
        break;
      }
      default:
        break;
    }
    if (what.kind == Kind::kReduce || what.kind == Kind::kBroadcast ||
        what.kind == Kind::kGather || what.kind == Kind::kScatter) {
      require_rank(*communicator, what, "root");
    }
    if (what.kind == Kind::kAllToAll) {
      require_apart(*communicator, operation);
    }
    const bool message =
        what.kind == Kind::kSend || what.kind == Kind::kReceive;
    if (message) {
      require_rank(*communicator, what, "peer");
    }
    if (what.count != 0 || message) {
      add(operation, communicator);
    }
  });
}

} // namespace
} // namespace accelerator::nccl

using accelerator::nccl::begin;
using accelerator::nccl::Kind;
using accelerator::nccl::Operation;
using accelerator::nccl::Reduction;

namespace {

Operation operation(
    Kind kind,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    int other,
    cudaStream_t stream) {
  Operation made;
  made.signature = {kind, type, Reduction::kSum, other, count};
  made.send = send;
  made.receive = receive;
  made.stream = stream;
  return made;
}

} // namespace

ACCEL_NCCL_API(
    ncclResult_t,
    ncclAllReduce,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    ncclRedOp_t op,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm,
      operation(Kind::kAllReduce, send, receive, count, type, 0, stream),
      op);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclReduce,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    ncclRedOp_t op,
    int root,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm,
      operation(Kind::kReduce, send, receive, count, type, root, stream),
      op);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclReduceScatter,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    ncclRedOp_t op,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm,
      operation(Kind::kReduceScatter, send, receive, count, type, 0, stream),
      op);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclBroadcast,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    int root,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm,
      operation(Kind::kBroadcast, send, receive, count, type, root, stream));
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclBcast,
    void* buffer,
    size_t count,
    ncclDataType_t type,
    int root,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm,
      operation(Kind::kBroadcast, buffer, buffer, count, type, root, stream));
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclAllGather,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm, operation(Kind::kAllGather, send, receive, count, type, 0, stream));
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclAlltoAll,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm, operation(Kind::kAllToAll, send, receive, count, type, 0, stream));
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclGather,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    int root,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm, operation(Kind::kGather, send, receive, count, type, root, stream));
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclScatter,
    const void* send,
    void* receive,
    size_t count,
    ncclDataType_t type,
    int root,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm,
      operation(Kind::kScatter, send, receive, count, type, root, stream));
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclSend,
    const void* buffer,
    size_t count,
    ncclDataType_t type,
    int peer,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm, operation(Kind::kSend, buffer, nullptr, count, type, peer, stream));
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclRecv,
    void* buffer,
    size_t count,
    ncclDataType_t type,
    int peer,
    ncclComm_t comm,
    cudaStream_t stream) {
  return begin(
      comm,
      operation(Kind::kReceive, nullptr, buffer, count, type, peer, stream));
}
