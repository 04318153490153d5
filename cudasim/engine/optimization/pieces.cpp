#include "cudasim/engine/optimization/pieces.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine::optimization {

using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

namespace {

/// Pieces of one variable, at most.
constexpr std::size_t kMostPieces = 512;

/// The type of registers of so many bytes; of 2 for one byte.
Type bits_type(std::uint32_t bytes) {
  return bytes == 8 ? Type::kB64 : bytes == 4 ? Type::kB32 : Type::kB16;
}

std::string bits_text(std::uint32_t bytes) {
  return std::to_string(8 * bytes);
}

/// The bits of a constant of a type of so many bytes.
std::uint64_t bits_of(const Operand& constant, std::uint32_t bytes) {
  std::uint64_t bits = constant.bits;
  if (constant.kind == Kind::kInteger) {
    return bits;
  }
  if (constant.kind != Kind::kFloat) {
    throw NotOptimized("a value to store that is no number");
  }
  if (bytes == 4 && !constant.single) {
    double value = 0;
    std::memcpy(&value, &bits, 8);
    const auto narrow = static_cast<float>(value);
    bits = 0;
    std::memcpy(&bits, &narrow, 4);
  }
  return bits;
}

} // namespace

bool Pieces::add(
    std::uint32_t variable,
    const std::vector<const PlainAccess*>& accesses) {
  std::set<std::uint64_t> bounds;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const PlainAccess* access : accesses) {
    for (std::uint32_t i = 0; i < access->elements; ++i) {
      const std::uint64_t begin = access->begin + i * access->bytes;
      bounds.insert(begin);
      bounds.insert(begin + access->bytes);
    }
    ranges.emplace_back(
        access->begin, access->begin + access->bytes * access->elements);
  }
  if (bounds.size() > kMostPieces) {
    return false;
  }
  std::sort(ranges.begin(), ranges.end());
  auto& pieces = pieces_[variable];
  auto range = ranges.begin();
  std::uint64_t covered = 0;
  for (auto bound = bounds.begin(); std::next(bound) != bounds.end(); ++bound) {
    for (; range != ranges.end() && range->first <= *bound; ++range) {
      covered = std::max(covered, range->second);
    }
    if (*bound >= covered) {
      continue; // nobody looks at what is between
    }
    const std::uint64_t end = *std::next(bound);
    for (std::uint64_t begin = *bound; begin < end;) {
      std::uint32_t bytes = 8;
      while (begin % bytes != 0 || begin + bytes > end) {
        bytes /= 2;
      }
      pieces[begin] = {bytes, flat_.add_register(bits_type(bytes))};
      begin += bytes;
    }
  }
  return true;
}

void Pieces::add_step(const std::string& text, std::vector<Operand> operands) {
  steps_->push_back(make_step(text, std::move(operands), *like_));
}

std::uint32_t Pieces::width_of(std::uint32_t reg) const {
  return register_width(flat_.registers[reg]);
}

std::uint32_t Pieces::temporary(std::uint32_t bytes) {
  return flat_.add_register(bits_type(bytes));
}

void Pieces::replace(
    const Step& step,
    const PlainAccess& access,
    std::vector<Step>& steps) {
  like_ = &step;
  steps_ = &steps;
  const Operand& data = like_->instruction.operands[access.is_load ? 0 : 1];
  for (std::uint32_t i = 0; i < access.elements; ++i) {
    const Operand& element =
        data.kind == Kind::kVector ? data.elements[i] : data;
    const std::uint64_t begin = access.begin + i * access.bytes;
    if (!access.is_load) {
      store(access, begin, element);
    } else if (element.kind == Kind::kRegister) {
      load(access, begin, register_number(element.name));
    }
  }
}

void Pieces::load(
    const PlainAccess& access,
    std::uint64_t begin,
    std::uint32_t target) {
  const auto& pieces = pieces_.at(access.variable);
  const Piece& first = pieces.at(begin);
  if (first.bytes == access.bytes) {
    extend(target, first.reg, access.bytes, access.is_signed);
    return;
  }
  const std::uint32_t width = access.bytes == 8 ? 8 : 4;
  const std::string bits = bits_text(width);
  std::uint32_t sum = 0;
  for (std::uint64_t at = begin; at < begin + access.bytes;) {
    const Piece& piece = pieces.at(at);
    std::uint32_t part = temporary(width);
    extend(part, piece.reg, piece.bytes, false);
    if (at == begin) {
      sum = part;
    } else {
      const std::uint32_t moved = temporary(width);
      add_step(
          "shl.b" + bits,
          {register_operand(moved),
           register_operand(part),
           integer_operand(8 * (at - begin))});
      const std::uint32_t both = temporary(width);
      add_step(
          "or.b" + bits,
          {register_operand(both),
           register_operand(sum),
           register_operand(moved)});
      sum = both;
    }
    at += piece.bytes;
  }
  extend(target, sum, access.bytes, access.is_signed);
}

void Pieces::extend(
    std::uint32_t target,
    std::uint32_t source,
    std::uint32_t bytes,
    bool is_signed) {
  const std::uint32_t to = width_of(target);
  const std::uint32_t from = width_of(source);
  const char* const kind = is_signed ? "s" : "u";
  const std::string text = to == from && bytes == from
      ? "mov.b" + bits_text(to)
      : std::string("cvt.") + kind + bits_text(to) + "." + kind +
          bits_text(to == bytes ? from : bytes);
  if (text[0] == 'm' || !is_float(flat_.registers[target])) {
    add_step(text, {register_operand(target), register_operand(source)});
    return;
  }
  // No conversion between integers has a register of floating-point numbers.
  const std::uint32_t bits = flat_.add_register(bits_type(to));
  add_step(text, {register_operand(bits), register_operand(source)});
  add_step(
      "mov.b" + bits_text(to),
      {register_operand(target), register_operand(bits)});
}

void Pieces::store(
    const PlainAccess& access,
    std::uint64_t begin,
    const Operand& source) {
  const auto& pieces = pieces_.at(access.variable);
  for (std::uint64_t at = begin; at < begin + access.bytes;) {
    const Piece& piece = pieces.at(at);
    const auto shift = static_cast<std::uint32_t>(8 * (at - begin));
    if (source.kind == Kind::kRegister) {
      store_register(piece, register_number(source.name), shift);
    } else {
      std::uint64_t bits = bits_of(source, access.bytes) >> shift;
      if (piece.bytes < 8) {
        bits &= (std::uint64_t{1} << 8 * piece.bytes) - 1;
      }
      add_step(
          "mov.b" + bits_text(width_of(piece.reg)),
          {register_operand(piece.reg), integer_operand(bits)});
    }
    at += piece.bytes;
  }
}

void Pieces::store_register(
    const Piece& piece,
    std::uint32_t source,
    std::uint32_t shift) {
  const std::uint32_t from = width_of(source);
  const std::uint32_t to = width_of(piece.reg);
  if (from != piece.bytes) {
    // Of a floating-point number only the bits have halves.
    const Type type = bits_type(from);
    const std::uint32_t bits = flat_.add_register(type);
    add_step(
        "mov.b" + bits_text(from),
        {register_operand(bits), register_operand(source)});
    source = bits;
    if (shift != 0) {
      source = flat_.add_register(type);
      add_step(
          "shr.u" + bits_text(from),
          {register_operand(source),
           register_operand(bits),
           integer_operand(shift)});
    }
  }
  const std::uint32_t cut =
      piece.bytes < to ? flat_.add_register(Type::kB16) : piece.reg;
  add_step(
      from == to ? "mov.b" + bits_text(to)
                 : "cvt.u" + bits_text(to) + ".u" + bits_text(from),
      {register_operand(cut), register_operand(source)});
  if (piece.bytes < to) {
    add_step(
        "and.b16",
        {register_operand(piece.reg),
         register_operand(cut),
         integer_operand(0xFF)});
  }
}

} // namespace cudasim::engine::optimization
