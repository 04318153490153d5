#include "cudasim/ptx/variables.h"

#include <limits>
#include <string>
#include <utility>

#include "cudasim/ptx/constants.h"
#include "cudasim/ptx/operands.h"
#include "cudasim/ptx/special_registers.h"

namespace cudasim::ptx {
namespace {

constexpr std::uint64_t kLargestAlignment =
    std::numeric_limits<std::uint32_t>::max();
// More than any device's memory.
constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 46;
constexpr std::size_t kMostDimensions = 16;
// Bounds what zeros between inner lists, as in "= {{1}, {2}}", can take.
constexpr std::uint64_t kMostInitialValues = std::uint64_t{1} << 24;

std::uint32_t parse_alignment(Reader& reader) {
  Token token = reader.current();
  std::uint64_t bytes =
      reader.expect_integer("an alignment in bytes", kLargestAlignment);
  if (bytes == 0 || (bytes & (bytes - 1)) != 0) {
    reader.fail(token, "an alignment that is a power of two");
  }
  return static_cast<std::uint32_t>(bytes);
}

// ".ptr .global .align 16", ".align 16" behind the type of a kernel's
// parameter: what it points to, a hint.
void skip_pointer_hint(Reader& reader) {
  if (reader.accept(".ptr")) {
    const Space space = space_named(reader.current().text);
    if (space != Space::kNone && space != Space::kParam &&
        space != Space::kReg) {
      reader.take();
    }
  }
  if (reader.accept(".align")) {
    parse_alignment(reader);
  }
}

bool is_opaque(const Token& token) {
  return token.is(".texref") || token.is(".samplerref") || token.is(".surfref");
}

// Types that only instructions have.
bool is_declarable(Type type) {
  switch (type) {
    case Type::kNone:
    case Type::kU16x2:
    case Type::kS16x2:
    case Type::kU8x4:
    case Type::kS8x4:
    case Type::kBF16:
    case Type::kBF16x2:
    case Type::kTF32:
    case Type::kE4M3:
    case Type::kE5M2:
    case Type::kE2M1:
    case Type::kE2M3:
    case Type::kE3M2:
    case Type::kUE8M0:
    case Type::kUE4M3:
    case Type::kE4M3x2:
    case Type::kE5M2x2:
    case Type::kE2M1x2:
    case Type::kE2M3x2:
    case Type::kE3M2x2:
    case Type::kUE8M0x2:
    case Type::kF32x2:
    case Type::kB1:
    case Type::kU4:
    case Type::kS4:
      return false;
    default:
      return true;
  }
}

// Attributes and alignment, then the size of a vector, then the type.
void parse_type(Reader& reader, Variable& variable) {
  while (reader.at(".align") || reader.at(".attribute")) {
    if (reader.take().is(".align")) {
      variable.alignment = parse_alignment(reader);
    } else {
      variable.is_managed = parse_attributes(reader) || variable.is_managed;
    }
  }
  Token vector = reader.current();
  if (reader.accept(".v2")) {
    variable.vector = 2;
  } else if (reader.accept(".v4")) {
    variable.vector = 4;
  }
  if (is_opaque(reader.current())) {
    // A handle of 64 bits; the instructions on it are not known to anybody.
    reader.take();
    variable.type = Type::kB64;
    return;
  }
  if (reader.current().is_dot()) {
    variable.type = type_named(reader.current().text.substr(1));
  }
  if (!is_declarable(variable.type)) {
    reader.fail("a type");
  }
  reader.take();
  if (variable.vector * size_of(variable.type) > 16) {
    reader.fail(vector, "a vector of at most 16 bytes");
  }
}

// PTX has no expressions here.
std::uint64_t parse_dimension(Reader& reader) {
  return reader.accept("WARP_SZ")
      ? 32
      : reader.expect_integer("a number of elements", kLargestVariable);
}

// What is declared may not have any of PTX's own names.
// @param may_be_nameless whether "_" is a name.
Token new_name(Reader& reader, std::string_view what, bool may_be_nameless) {
  Token name = reader.expect_name(what);
  if ((name.is("_") && !may_be_nameless) || name.is("WARP_SZ") ||
      special_register_type(name.text) != Type::kNone) {
    reader.fail(name, what);
  }
  return name;
}

// @param may_be_nameless see new_name.
void parse_name_and_dimensions(
    Reader& reader,
    Variable& variable,
    bool may_be_nameless = false) {
  Token name = new_name(reader, "the name of a variable", may_be_nameless);
  variable.name = name.text;
  variable.location = name.location;
  while (reader.at('[')) {
    if (variable.dimensions.size() == kMostDimensions) {
      reader.fail("at most 16 dimensions");
    }
    reader.take();
    const bool is_open = reader.at(']') && variable.dimensions.empty();
    variable.dimensions.push_back(is_open ? 0 : parse_dimension(reader));
    if (variable.dimensions.size() > 1 && variable.dimensions.back() == 0) {
      reader.fail("at least one element");
    }
    reader.expect(']');
  }
  std::uint64_t bytes = 16 * 4; // the largest element
  for (std::uint64_t dimension : variable.dimensions) {
    if (dimension != 0 && bytes > kLargestVariable / dimension) {
      reader.fail(name, "a variable of at most 2^46 bytes");
    }
    bytes *= dimension != 0 ? dimension : 1;
  }
}

// Reads "{{1, 2}, {3}}" into a flat list with zeros where inner lists are
// shorter than their dimension. Each dimension has its braces, and each vector.
class Initializer {
 public:
  Initializer(Reader& reader, Variable& variable)
      : reader_(reader), variable_(variable), sizes_(variable.dimensions) {
    if (variable.vector > 1) {
      sizes_.push_back(variable.vector);
    }
  }

  void parse() {
    items(0);
    if (!variable_.dimensions.empty() && variable_.dimensions[0] == 0) {
      std::uint64_t row = elements_below(0);
      std::uint64_t count = variable_.initializer.size();
      variable_.dimensions[0] = row == 0 ? 0 : (count + row - 1) / row;
    }
  }

 private:
  // What is at one place of dimension `level - 1`: a value, or a list.
  void items(std::size_t level) {
    if (level == sizes_.size()) {
      variable_.initializer.push_back(parse_initial_value(reader_));
      return;
    }
    Token opening = reader_.current();
    const std::size_t begin = variable_.initializer.size();
    const bool is_vector = level == variable_.dimensions.size();
    reader_.expect('{');
    std::uint64_t count = 0;
    while (count > 0 || !reader_.at('}')) {
      items(level + 1);
      ++count;
      fill(begin + count * elements_below(level), opening);
      if (!reader_.accept(',')) {
        break;
      }
    }
    reader_.expect('}');
    if (is_vector && count != sizes_[level]) {
      reader_.fail(
          opening, std::to_string(sizes_[level]) + " values of a vector");
    }
    if (sizes_[level] != 0 && count > sizes_[level]) {
      reader_.fail(
          opening,
          "at most " + std::to_string(sizes_[level]) + " initial values");
    }
  }

  void fill(std::uint64_t count, const Token& opening) {
    if (count > kMostInitialValues) {
      reader_.fail(opening, "fewer initial values (at most 2^24)");
    }
    Operand zero;
    zero.kind = Operand::Kind::kInteger;
    zero.location = opening.location;
    while (variable_.initializer.size() < count) {
      variable_.initializer.push_back(zero);
    }
  }

  // Elements in one item of dimension `level`.
  std::uint64_t elements_below(std::size_t level) const {
    std::uint64_t elements = 1;
    for (std::size_t i = level + 1; i < sizes_.size(); ++i) {
      elements *= sizes_[i];
    }
    return elements;
  }

  Reader& reader_;
  Variable& variable_;
  std::vector<std::uint64_t> sizes_; // dimensions, and the vector's as the last
};

} // namespace

Space space_named(std::string_view directive) {
  struct Named {
    std::string_view directive;
    Space space;
  };
  constexpr Named kSpaces[] = {
      {".param", Space::kParam},
      {".reg", Space::kReg},
      {".shared", Space::kShared},
      {".global", Space::kGlobal},
      {".local", Space::kLocal},
      {".const", Space::kConst},
  };
  for (const Named& named : kSpaces) {
    if (named.directive == directive) {
      return named.space;
    }
  }
  return Space::kNone;
}

std::vector<Variable> parse_variables(Reader& reader, const Variable& like) {
  Variable common = like;
  parse_type(reader, common);
  std::vector<Variable> variables;
  if (reader.accept(';')) {
    return variables; // ".global .u32;" declares nothing
  }
  do {
    Variable variable = common;
    parse_name_and_dimensions(reader, variable);
    if (reader.accept('=')) {
      Initializer(reader, variable).parse();
    }
    variables.push_back(std::move(variable));
  } while (reader.accept(','));
  reader.expect(';');
  return variables;
}

std::vector<Variable> parse_parameters(Reader& reader, Owner owner) {
  const bool is_entry = owner == Owner::kEntry;
  std::vector<Variable> parameters;
  reader.expect('(');
  if (reader.accept(')')) {
    return parameters;
  }
  do {
    Variable parameter;
    parameter.space = space_named(reader.current().text);
    if (parameter.space != Space::kParam &&
        (is_entry || parameter.space != Space::kReg)) {
      reader.fail(is_entry ? "'.param'" : "'.param' or '.reg'");
    }
    reader.take();
    Token type = reader.current();
    parse_type(reader, parameter);
    if (is_entry) {
      skip_pointer_hint(reader);
    }
    parse_name_and_dimensions(reader, parameter, owner != Owner::kFunction);
    const bool in_register = parameter.space == Space::kReg;
    if (parameter.dimensions.size() > (in_register ? 0 : 1)) {
      reader.fail(in_register ? "no array in registers" : "one dimension");
    }
    if (parameter.vector > 1 && !in_register && parameter.dimensions.empty()) {
      reader.fail(type, "no vector in .param");
    }
    if (in_register) {
      parameter.space = Space::kParam;
      parameter.in_register = parameter.name;
      parameter.name += '@'; // no name of PTX
    }
    parameters.push_back(std::move(parameter));
  } while (reader.accept(','));
  reader.expect(')');
  return parameters;
}

std::vector<RegisterDeclaration> parse_registers(Reader& reader) {
  Variable type;
  parse_type(reader, type);
  std::vector<RegisterDeclaration> declarations;
  if (reader.accept(';')) {
    return declarations; // ".reg .u32;" declares nothing
  }
  do {
    Token name = new_name(reader, "the name of a register", false);
    RegisterDeclaration declaration;
    declaration.type = type.type;
    declaration.vector = type.vector;
    declaration.name = name.text;
    declaration.location = name.location;
    if (reader.accept('<')) {
      declaration.count = static_cast<std::uint32_t>(
          reader.expect_integer("a number of registers", 1 << 24));
      reader.expect('>');
      if (declaration.count == 0) {
        continue; // "<0>" declares none
      }
    }
    declarations.push_back(std::move(declaration));
  } while (reader.accept(','));
  reader.expect(';');
  return declarations;
}

bool parse_attributes(Reader& reader) {
  bool is_managed = false;
  reader.expect('(');
  do {
    if (!reader.at(".managed") && !reader.at(".unified")) {
      reader.fail("an attribute: '.managed' or '.unified(…)'");
    }
    is_managed = reader.take().is(".managed") || is_managed;
    if (reader.accept('(')) { // .unified(identifier, identifier)
      do {
        constant_expression(reader);
      } while (reader.accept(','));
      reader.expect(')');
    }
  } while (reader.accept(','));
  reader.expect(')');
  return is_managed;
}

} // namespace cudasim::ptx
