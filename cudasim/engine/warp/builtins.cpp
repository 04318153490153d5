#include "cudasim/engine/warp/builtins.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/memory/device_heap.h"

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

/// A text in the device's memory, or a hint that it is not there.
std::string text_at(Warp& warp, std::uint64_t address) {
  std::string text;
  while (text.size() < kMostCharacters) {
    const std::uint64_t at = address + text.size();
    if (!find_range(warp, at, at + 1, false)) {
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

/// Formats like printf with arguments as CUDA packs them: each aligned to its
/// size, 4 bytes for int and 8 for long long, double and pointers.
std::string format(
    Warp& warp,
    const std::string& pattern,
    const std::byte* arguments) {
  std::string result;
  std::size_t offset = 0;
  const auto take = [&](std::size_t size) {
    offset = (offset + size - 1) / size * size;
    const std::byte* place = arguments + offset;
    offset += size;
    return place;
  };
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
        piece += std::to_string(read<int>(take(4)));
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
    char buffer[512];
    buffer[0] = '\0';
    switch (conversion) {
      case 'd':
      case 'i': {
        const long long value =
            wide ? read<long long>(take(8)) : read<int>(take(4));
        std::snprintf(buffer, sizeof(buffer), (piece + "lld").c_str(), value);
        break;
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        const unsigned long long value =
            wide ? read<unsigned long long>(take(8)) : read<unsigned>(take(4));
        std::snprintf(
            buffer, sizeof(buffer), (piece + "ll" + conversion).c_str(), value);
        break;
      }
      case 'c':
        std::snprintf(
            buffer, sizeof(buffer), (piece + "c").c_str(), read<int>(take(4)));
        break;
      case 'p':
        std::snprintf(
            buffer,
            sizeof(buffer),
            (piece + "p").c_str(),
            reinterpret_cast<void*>(read<std::uint64_t>(take(8))));
        break;
      case 's': {
        const std::string text = text_at(warp, read<std::uint64_t>(take(8)));
        std::snprintf(
            buffer, sizeof(buffer), (piece + "s").c_str(), text.c_str());
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
        std::snprintf(
            buffer,
            sizeof(buffer),
            (piece + conversion).c_str(),
            read<double>(take(8)));
        break;
      default:
        piece += conversion;
        std::snprintf(buffer, sizeof(buffer), "%s", piece.c_str());
    }
    result += buffer;
    i = end;
  }
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
    const EnclosingBlock& block,
    const Inst& inst,
    const Control& control,
    Mask active) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) == 0) {
      continue;
    }
    const auto word = [&](std::size_t number) {
      return read<std::uint64_t>(argument(warp, control, number, lane));
    };
    switch (control.builtin) {
      case Builtin::kPrint: {
        const std::string pattern = text_at(warp, word(0));
        const auto* arguments = reinterpret_cast<const std::byte*>(word(1));
        const std::string text = format(warp, pattern, arguments);
        print(block, text);
        const auto length = static_cast<int>(text.size());
        write_result(warp, control, lane, &length, sizeof(length));
        break;
      }
      case Builtin::kAssert: {
        const auto line = read<std::uint32_t>(argument(warp, control, 2, lane));
        const std::string text = text_at(warp, word(1)) + ":" +
            std::to_string(line) + ": " + text_at(warp, word(3)) + ": " +
            thread_name(block, warp, lane) + " Assertion `" +
            text_at(warp, word(0)) + "` failed.\n";
        std::fputs(text.c_str(), stderr);
        break;
      }
      case Builtin::kMalloc: {
        const void* memory = DeviceHeap::instance().allocate(word(0));
        write_result(warp, control, lane, &memory, sizeof(memory));
        break;
      }
      case Builtin::kFree:
        if (!DeviceHeap::instance().free(reinterpret_cast<void*>(word(0)))) {
          access_fault(
              warp, inst, FaultKind::kIllegalAddress, lane, word(0), 0, true);
          return false;
        }
        clear(*warp.ranges);
        break;
      case Builtin::kNone:
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
