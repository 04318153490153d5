#include "cudasim/engine/lowering/constants.h"

#include <cstring>
#include <new>

#include "cudasim/engine/code/watched_registers.h"

namespace cudasim::engine {

Slot ConstantPool::place(std::uint64_t bits, std::uint32_t width) {
  if (width < 8 && width > 0) {
    bits &= (std::uint64_t{1} << (8 * width)) - 1;
  } else if (width == 0) {
    bits = bits != 0 ? kAllLanes : 0;
  }
  const auto [found, is_new] = places_.try_emplace(
      {bits, width}, kConstantBit | static_cast<Slot>(bytes_));
  if (is_new) {
    bytes_ += (width == 0 ? 64 : std::size_t{kLanes} * width) + kRegisterGap;
  }
  return found->second;
}

std::shared_ptr<std::byte> ConstantPool::contents() const {
  constexpr std::align_val_t kAlignment{64};
  std::shared_ptr<std::byte> memory(
      static_cast<std::byte*>(::operator new(bytes_ + 64, kAlignment)),
      [bytes = bytes_](std::byte* pointer) {
        allow(pointer, bytes + 64);
        ::operator delete(pointer, std::align_val_t{64});
      });
  std::memset(memory.get(), 0, bytes_ + 64);
  forbid(memory.get(), bytes_ + 64);
  for (const auto& [key, slot] : places_) {
    const auto& [bits, width] = key;
    std::byte* place = memory.get() + (slot & ~kConstantBit);
    allow(place, width == 0 ? 4 : kLanes * width);
    if (width == 0) {
      std::memcpy(place, &bits, 4);
      continue;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      std::memcpy(place + lane * width, &bits, width);
    }
  }
  return memory;
}

} // namespace cudasim::engine
