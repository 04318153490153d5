#include "cudasim/engine/optimization/testing/body.h"

#include <algorithm>

namespace cudasim::engine::optimization::random_functions {
namespace {

std::string registers_of(const char* type, const char* name, unsigned count) {
  return std::string(".reg .") + type + " %" + name + "<" +
      std::to_string(count) + ">;\n";
}

} // namespace

void Body::mix(const std::string& target, const std::string& source) {
  line("mad.lo.u32 $1, $1, 31, $2;", target, source);
}

std::string Body::fresh(const std::string& prefix) {
  return prefix + std::to_string(fresh_++);
}

Region Body::any_region() {
  return regions[random.below(static_cast<unsigned>(regions.size()))];
}

std::string Body::words() {
  return registers_of("b32", "w", kWords);
}

std::string Body::text() const {
  return words() + registers_of("b64", "d", kLongs) +
      registers_of("b16", "h", kShorts) + registers_of("f32", "f", kFloats) +
      registers_of("f64", "g", kDoubles) +
      registers_of("pred", "p", kPredicates) +
      registers_of("b64", "a", fresh_) + registers_of("b32", "x", fresh_) +
      registers_of("b16", "y", fresh_) + registers_of("pred", "q", fresh_) +
      lines_;
}

void Body::append(const std::string& line) {
  lines_ += line + "\n";
  executed +=
      rounds * static_cast<double>(std::count(line.begin(), line.end(), ';'));
}

} // namespace cudasim::engine::optimization::random_functions
