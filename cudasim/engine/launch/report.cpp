#include "cudasim/engine/launch/report.h"

#include <cstdio>

#include "cudasim/engine/code/readable_name.h"
#include "cudasim/engine/memory/address_space.h"

namespace cudasim::engine {
namespace {

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(
      text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," +
      std::to_string(z) + ")";
}

std::string invalid_access(
    std::uint64_t address,
    std::uint64_t bytes,
    bool is_write) {
  return std::string(is_write ? " write" : " read") + " of size " +
      std::to_string(bytes) + " bytes at address " + hexadecimal(address);
}

std::string headline(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kIllegalAddress:
    case FaultKind::kMisalignedAddress:
      return std::string(
                 fault.kind == FaultKind::kIllegalAddress ? "Invalid"
                                                          : "Misaligned") +
          invalid_access(fault.address, fault.size, fault.is_write);
    case FaultKind::kAssert:
      return "Device-side assert triggered";
    case FaultKind::kTrap:
      return "Trap";
    case FaultKind::kIllegalInstruction:
      return "Illegal instruction";
    case FaultKind::kUnsupported:
      return "The simulated device does not have this instruction";
    case FaultKind::kLaunchTimeout:
      return "The kernel does not end";
    case FaultKind::kStackOverflow:
      return "Stack overflow: calls need more local memory than there is";
    case FaultKind::kNone:
      break;
  }
  return "Unknown fault";
}

std::string allocations(const AddressSpace* memory, std::uint64_t address) {
  if (memory->heap().spans(address)) {
    return "    in the heap of malloc in kernels, where no allocation is, or no "
           "longer\n";
  }
  Range below;
  Range above;
  memory->neighbours(address, &below, &above);
  std::string text;
  if (below.end != 0) {
    text += "    " + std::to_string(address - below.end) +
        " bytes behind the end of allocation " + std::to_string(below.id) +
        " of " + std::to_string(below.end - below.begin) + " bytes at " +
        hexadecimal(below.begin) + "\n";
  }
  if (above.end != 0) {
    text += "    " + std::to_string(above.begin - address) +
        " bytes before allocation " + std::to_string(above.id) + " of " +
        std::to_string(above.end - above.begin) + " bytes at " +
        hexadecimal(above.begin) + "\n";
  }
  return text;
}

std::string allocations(const BlockRunner& block, const WarpRunner& warp) {
  const Fault& fault = warp.fault;
  if (fault.kind != FaultKind::kIllegalAddress || block.memory == nullptr) {
    return "";
  }
  if (warp.instruction_text().find(".shared") != std::string::npos) {
    return "    The block's shared memory has " +
        std::to_string(block.shared_bytes) + " bytes\n";
  }
  return allocations(
      static_cast<const AddressSpace*>(block.memory), fault.address);
}

std::string place(const BlockRunner& block, const WarpRunner& warp, int lane) {
  const Dim3 size = block.grid().launch->block;
  const std::uint32_t thread =
      warp.index * kLanes + static_cast<std::uint32_t>(lane);
  return "    by thread " +
      triple(thread % size.x,
             thread / size.x % size.y,
             thread / size.x / size.y) +
      " in block " + triple(block.index[0], block.index[1], block.index[2]) +
      "\n";
}

} // namespace

std::string fault_report(const BlockRunner& block) {
  const WarpRunner& warp = *block.faulting();
  const Fault& fault = warp.fault;
  std::string text = headline(fault) + "\n";
  if (fault.detail != nullptr) {
    text += std::string("    ") + fault.detail +
        (fault.address == 0 ? "" : ": " + hexadecimal(fault.address)) + "\n";
  }
  const Code* code = warp.faulting_code();
  if (code != nullptr) {
    text += "    at " + warp.instruction_text() + " in " +
        readable_name(block.grid().kernel->info.name);
    if (code->name != block.grid().kernel->info.name) {
      text += ", called " + readable_name(code->name);
    }
    text += " (" + code->source_name + ", PTX line " +
        std::to_string(fault.line) + ")\n";
  }
  if (fault.detail != nullptr) {
    text += "    " + std::string(fault.detail) + "\n";
  }
  text += place(block, warp, fault.lane);
  text += allocations(block, warp);
  return text;
}

std::string copy_report(
    const QueuedCopy& copy,
    std::uint64_t address,
    bool is_write,
    const AddressSpace* memory) {
  return "Invalid" + invalid_access(address, copy.width, is_write) +
      "\n    in " + copy.function + " of a kernel\n" +
      (memory == nullptr ? "" : allocations(memory, address));
}

std::string launched_by(const GivingThread& thread) {
  const auto& t = thread.thread;
  const auto& b = thread.block;
  return "    launched by thread " + triple(t[0], t[1], t[2]) + " in block " +
      triple(b[0], b[1], b[2]) + " of " + readable_name(thread.kernel) + "\n";
}

std::string hang_report(const BlockRunner& block) {
  return "A barrier that not all threads of the block come to\n    in " +
      readable_name(block.grid().kernel->info.name) + ", block " +
      triple(block.index[0], block.index[1], block.index[2]) + "\n";
}

} // namespace cudasim::engine
