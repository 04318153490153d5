#include "runtime/core/streams/work/work_record.h"

#include <variant>

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/modules/occupancy.h"

namespace accelerator::runtime {
namespace {

tracing::Place place_of(const void* address) {
  using Kind = tracing::Place::Kind;
  const auto piece =
      machine().addresses().find(reinterpret_cast<std::uint64_t>(address));
  if (!piece.has_value()) {
    return {Kind::kPageable, 0};
  }
  switch (piece->space) {
    case Space::kHost:
    case Space::kRegistered:
      return {Kind::kPinned, piece->device};
    case Space::kManaged:
      return {Kind::kManaged, piece->device};
    case Space::kArray:
      return {Kind::kArray, piece->device};
    default:
      return {Kind::kDevice, piece->device};
  }
}

tracing::KernelPart part_of(Device& device, const KernelWork& work) {
  const KernelInfo& info = work.function->on(device).info;
  tracing::KernelPart part;
  part.name = work.function->name();
  part.grid = {work.grid.x, work.grid.y, work.grid.z};
  part.block = {work.block.x, work.block.y, work.block.z};
  part.registers = static_cast<unsigned>(registers_per_thread(device, info));
  part.static_shared_bytes = info.static_shared_bytes;
  part.dynamic_shared_bytes = work.shared_bytes;
  part.local_bytes = info.local_bytes;
  part.cooperative = work.cooperative;
  return part;
}

tracing::CopyPart part_of(const CopyWork& work) {
  return {
      work.kind,
      place_of(work.from),
      place_of(work.to),
      work.width * work.height * work.depth};
}

tracing::FillPart part_of(const FillWork& work) {
  return {
      place_of(work.to),
      work.value,
      work.width * work.height * work.depth * work.element_size};
}

} // namespace

tracing::WorkRecord record_of(
    Device& device,
    const StreamWork& work,
    const tracing::Origin& origin,
    std::uint64_t start,
    std::uint64_t end) {
  tracing::WorkRecord record;
  record.origin = origin;
  record.device = device.ordinal();
  record.start = start;
  record.end = end;
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    record.part = part_of(device, *kernel);
  } else if (const auto* copy = std::get_if<CopyWork>(&work)) {
    record.part = part_of(*copy);
  } else if (const auto* fill = std::get_if<FillWork>(&work)) {
    record.part = part_of(*fill);
  } else {
    tracing::KernelPart part;
    part.name = std::get<HostWork>(work).kernel;
    record.part = std::move(part);
  }
  return record;
}

} // namespace accelerator::runtime
