#include "runtime/code/ptx/block_scan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace accelerator::ptx {
namespace {

bool is_landmark(char c) {
  return c == '{' || c == '}' || c == '"' || c == '/';
}

// Walks over a text, counting lines on its way.
class Scan {
 public:
  Scan(std::string_view text, std::size_t begin)
      : text_(text), position_(begin) {}

  // Goes to the next brace, quote or slash; false at the end of the text.
  bool to_landmark() {
#if defined(__SSE2__)
    const __m128i open = _mm_set1_epi8('{');
    const __m128i close = _mm_set1_epi8('}');
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i slash = _mm_set1_epi8('/');
    const __m128i newline = _mm_set1_epi8('\n');
    while (position_ + 16 <= text_.size()) {
      __m128i chunk = _mm_loadu_si128(
          reinterpret_cast<const __m128i*>(text_.data() + position_));
      __m128i hit = _mm_or_si128(
          _mm_or_si128(
              _mm_cmpeq_epi8(chunk, open), _mm_cmpeq_epi8(chunk, close)),
          _mm_or_si128(
              _mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, slash)));
      unsigned lines = _mm_movemask_epi8(_mm_cmpeq_epi8(chunk, newline));
      unsigned hits = _mm_movemask_epi8(hit);
      if (hits != 0) {
        unsigned before = __builtin_ctz(hits);
        count(lines & ((1u << before) - 1));
        position_ += before;
        return true;
      }
      count(lines);
      position_ += 16;
    }
#endif
    for (; position_ < text_.size(); ++position_) {
      if (is_landmark(text_[position_])) {
        return true;
      }
      count(text_[position_] == '\n' ? 1 : 0);
    }
    return false;
  }

  // Goes behind the next `mark`; false when there is none.
  bool past(std::string_view mark) {
    std::size_t end = text_.find(mark, position_ + 1);
    if (end == std::string_view::npos) {
      return false;
    }
    end += mark.size();
    for (; position_ < end; ++position_) {
      count(text_[position_] == '\n' ? 1 : 0);
    }
    return true;
  }

  char operator[](std::size_t ahead) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void step(std::size_t count) {
    position_ += count;
  }
  std::size_t position() const {
    return position_;
  }
  std::uint32_t lines() const {
    return lines_;
  }
  std::size_t line_start() const {
    return last_line_end_ + 1;
  }

 private:
  // `ends`: bit i is set where the character at position_ + i ends a line.
  void count(unsigned ends) {
    if (ends == 0) {
      return;
    }
    last_line_end_ = position_ + (31 - __builtin_clz(ends));
    // Mostly one bit: lines are longer than 16 characters.
    do {
      ++lines_;
      ends &= ends - 1;
    } while (ends != 0);
  }

  std::string_view text_;
  std::size_t position_;
  std::uint32_t lines_ = 0;
  std::size_t last_line_end_ = 0;
};

} // namespace

BlockEnd find_block_end(std::string_view text, std::size_t begin) {
  Scan scan(text, begin);
  std::size_t depth = 1;
  while (scan.to_landmark()) {
    switch (scan[0]) {
      case '{':
        ++depth;
        scan.step(1);
        break;
      case '}':
        if (--depth == 0) {
          return {true, scan.position(), scan.lines(), scan.line_start()};
        }
        scan.step(1);
        break;
      case '"':
        if (!scan.past("\"")) {
          return {};
        }
        break;
      default: // "/"
        if (scan[1] == '/') {
          if (!scan.past("\n")) {
            return {};
          }
        } else if (scan[1] == '*') {
          scan.step(1); // "/*/" does not end itself
          if (!scan.past("*/")) {
            return {};
          }
        } else {
          scan.step(1);
        }
    }
  }
  return {};
}

} // namespace accelerator::ptx
