#include "cudasim/engine/warp/builtins.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/memory/address_space.h"

namespace cudasim::engine {
namespace {

/// The longest text that is read from device memory.
constexpr std::size_t kMostCharacters = 1 << 16;

/// Memory of one lane that holds the caller's arguments.
std::byte* argument(
    const Warp& warp,
    const Control& control,
    std::size_t number,
    int lane) {
  return warp.local_base + static_cast<std::uint64_t>(lane) * warp.local_size +
      warp.local_frame + control.arguments.at(number).from;
}

template <typename T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// A text that a lane can read, wherever it is, or a hint that it is not there.
std::string text_at(Warp& warp, int lane, std::uint64_t address) {
  std::string text;
  while (text.size() < kMostCharacters) {
    const std::uint64_t at = address + text.size();
    if (!is_readable(warp, lane, at, 1)) {
      return text.empty() ? "(bad address)" : text;
    }
    const char c = *reinterpret_cast<const char*>(at);
    if (c == '\0') {
      break;
    }
    text += c;
  }
  return text;
}

/// The arguments of one call as CUDA packs them: each aligned to its size, 4
/// bytes for int and 8 for long long, double and pointers.
class PackedArguments {
 public:
  PackedArguments(Warp& warp, int lane, std::uint64_t begin)
      : warp_(warp), lane_(lane), begin_(begin) {}

  /// The next one; 0 when the format asks for more than there are.
  template <typename T>
  T take() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const std::uint64_t place = begin_ + offset_;
    offset_ += sizeof(T);
    ++taken_;
    return is_readable(warp_, lane_, place, sizeof(T))
        ? read<T>(reinterpret_cast<const std::byte*>(place))
        : T{};
  }
  int taken() const {
    return taken_;
  }

 private:
  Warp& warp_;
  int lane_;
  std::uint64_t begin_;
  std::uint64_t offset_ = 0;
  int taken_ = 0;
};

/// What snprintf makes of one value, not more than kMostCharacters of it.
template <typename T>
std::string formatted(const std::string& conversion, T value) {
  std::string text(64, '\0');
  while (true) {
    const int size =
        std::snprintf(text.data(), text.size(), conversion.c_str(), value);
    if (size < 0) {
      return ""; // a width beyond what an int can say
    }
    const auto needed =
        std::min(static_cast<std::size_t>(size), kMostCharacters);
    if (needed < text.size()) {
      text.resize(needed);
      return text;
    }
    text.resize(needed + 1);
  }
}

/// Formats like printf.
/// @param taken how many arguments the format asked for.
std::string format(
    Warp& warp,
    int lane,
    const std::string& pattern,
    std::uint64_t packed,
    int* taken) {
  std::string result;
  PackedArguments arguments(warp, lane, packed);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      result += pattern[i];
      continue;
    }
    if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
      result += '%';
      ++i;
      continue;
    }
    std::string piece = "%";
    std::size_t end = i + 1;
    bool wide = false;
    while (end < pattern.size() &&
           std::strchr("-+ #0123456789.*hlLjzt", pattern[end]) != nullptr) {
      const char c = pattern[end++];
      if (c == '*') {
        const int number = arguments.take<int>();
        if (number < 0 && piece.back() == '.') {
          piece.pop_back(); // as if there were no precision
        } else {
          piece += std::to_string(number);
        }
      } else if (c == 'l' || c == 'j' || c == 'z' || c == 't') {
        wide = true;
      } else if (c != 'h' && c != 'L') {
        piece += c;
      }
    }
    if (end >= pattern.size()) {
      result += pattern.substr(i);
      break;
    }
    const char conversion = pattern[end];
    switch (conversion) {
      case 'd':
      case 'i': {
        const long long value =
            wide ? arguments.take<long long>() : arguments.take<int>();
        result += formatted(piece + "lld", value);
        break;
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        const unsigned long long value = wide
            ? arguments.take<unsigned long long>()
            : arguments.take<unsigned>();
        result += formatted(piece + "ll" + conversion, value);
        break;
      }
      case 'c':
        result += formatted(piece + "c", arguments.take<int>());
        break;
      case 'p':
        result += formatted(
            piece + "p",
            reinterpret_cast<void*>(arguments.take<std::uint64_t>()));
        break;
      case 's': {
        const auto address = arguments.take<std::uint64_t>();
        const std::string text =
            address == 0 ? "(null)" : text_at(warp, lane, address);
        result += formatted(piece + "s", text.c_str());
        break;
      }
      case 'a':
      case 'A':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        result += formatted(piece + conversion, arguments.take<double>());
        break;
      default:
        result += piece + conversion;
    }
    i = end;
  }
  *taken = arguments.taken();
  return result;
}

void write_result(
    const Warp& warp,
    const Control& control,
    int lane,
    const void* value,
    std::size_t size) {
  if (!control.results.empty()) {
    std::memcpy(
        warp.local_base + static_cast<std::uint64_t>(lane) * warp.local_size +
            warp.local_frame + control.results[0].to,
        value,
        size);
  }
}

void print(const EnclosingBlock& block, const std::string& text) {
  if (block.print != nullptr && *block.print) {
    (*block.print)(text);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
}

std::string thread_name(
    const EnclosingBlock& block,
    const Warp& warp,
    int lane) {
  const Dim3 size = block.size;
  const std::uint32_t thread =
      warp.index * kLanes + static_cast<std::uint32_t>(lane);
  const auto triple = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return "[" + std::to_string(x) + "," + std::to_string(y) + "," +
        std::to_string(z) + "]";
  };
  return "block: " + triple(block.index[0], block.index[1], block.index[2]) +
      ", thread: " +
      triple(thread % size.x,
             thread / size.x % size.y,
             thread / size.x / size.y);
}

} // namespace

bool call_builtin(
    Warp& warp,
    EnclosingBlock& block,
    const Inst& inst,
    const Control& control,
    Mask active) {
  if (is_for_launching(control.builtin)) {
    return call_device_runtime(
        warp, block.calling, block.size, inst, control, active);
  }
  const auto* memory = static_cast<const AddressSpace*>(block.memory);
  DeviceHeap* const heap = memory == nullptr ? nullptr : &memory->heap();
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) == 0) {
      continue;
    }
    const auto word = [&](std::size_t number) {
      return read<std::uint64_t>(argument(warp, control, number, lane));
    };
    switch (control.builtin) {
      case Builtin::kPrint: {
        int taken = -1; // without a format
        if (word(0) != 0) {
          const std::string pattern = text_at(warp, lane, word(0));
          print(block, format(warp, lane, pattern, word(1), &taken));
        }
        write_result(warp, control, lane, &taken, sizeof(taken));
        break;
      }
      case Builtin::kAssert: {
        const auto line = read<std::uint32_t>(argument(warp, control, 2, lane));
        const std::string text = text_at(warp, lane, word(1)) + ":" +
            std::to_string(line) + ": " + text_at(warp, lane, word(3)) + ": " +
            thread_name(block, warp, lane) + " Assertion `" +
            text_at(warp, lane, word(0)) + "` failed.\n";
        std::fputs(text.c_str(), stderr);
        break;
      }
      case Builtin::kMalloc: {
        const void* memory =
            heap == nullptr ? nullptr : heap->allocate(word(0));
        write_result(warp, control, lane, &memory, sizeof(memory));
        break;
      }
      case Builtin::kFree:
        if (heap == nullptr || !heap->free(reinterpret_cast<void*>(word(0)))) {
          access_fault(
              warp, inst, FaultKind::kIllegalAddress, lane, word(0), 0, true);
          return false;
        }
        break;
      default:
        break;
    }
  }
  if (control.builtin == Builtin::kAssert) {
    access_fault(
        warp, inst, FaultKind::kAssert, __builtin_ctz(active), 0, 0, false);
    return false;
  }
  return true;
}

} // namespace cudasim::engine
