#include "cudasim/ptx/variables.h"

#include <limits>
#include <string>
#include <utility>

#include "cudasim/ptx/constants.h"
#include "cudasim/ptx/operands.h"

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

// ".ptr .global .align 16": what a parameter points to, a hint.
void skip_pointer_hint(Reader& reader) {
  if (space_named(reader.current().text) != Space::kNone) {
    reader.take();
  }
  if (reader.accept(".align")) {
    parse_alignment(reader);
  }
}

bool is_opaque(const Token& token) {
  return token.is(".texref") || token.is(".samplerref") || token.is(".surfref");
}

// Alignment, attributes, vector size and type, in any order before the name.
void parse_type(Reader& reader, Variable& variable) {
  while (reader.current().is_dot()) {
    if (reader.accept(".align")) {
      variable.alignment = parse_alignment(reader);
    } else if (reader.accept(".attribute")) {
      variable.is_managed = parse_attributes(reader) || variable.is_managed;
    } else if (reader.accept(".ptr")) {
      skip_pointer_hint(reader);
    } else if (reader.accept(".v2")) {
      variable.vector = 2;
    } else if (reader.accept(".v4")) {
      variable.vector = 4;
    } else if (is_opaque(reader.current())) {
      // A handle of 64 bits; the instructions on it are not known to anybody.
      reader.take();
      variable.type = Type::kB64;
    } else {
      variable.type = type_named(reader.current().text.substr(1));
      if (variable.type == Type::kNone) {
        reader.fail("a type");
      }
      reader.take();
    }
  }
  if (variable.type == Type::kNone) {
    reader.fail("a type");
  }
}

std::uint64_t parse_dimension(Reader& reader) {
  Token token = reader.current();
  Constant size = constant_expression(reader);
  if (size.is_float || size.bits > kLargestVariable) {
    reader.fail(token, "a number of elements up to 2^46");
  }
  return size.bits;
}

void parse_name_and_dimensions(Reader& reader, Variable& variable) {
  Token name = reader.expect_name("the name of a variable");
  variable.name = name.text;
  variable.location = name.location;
  while (reader.at('[')) {
    if (variable.dimensions.size() == kMostDimensions) {
      reader.fail("at most 16 dimensions");
    }
    reader.take();
    variable.dimensions.push_back(reader.at(']') ? 0 : parse_dimension(reader));
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
// shorter than their dimension.
class Initializer {
 public:
  Initializer(Reader& reader, Variable& variable)
      : reader_(reader), variable_(variable), sizes_(variable.dimensions) {
    if (variable.vector > 1) {
      sizes_.push_back(variable.vector);
    }
  }

  void parse() {
    if (reader_.at('{') && !sizes_.empty()) {
      list(0);
    } else {
      value();
    }
    if (!variable_.dimensions.empty() && variable_.dimensions[0] == 0) {
      std::uint64_t row = elements_below(0);
      std::uint64_t count = variable_.initializer.size();
      variable_.dimensions[0] = row == 0 ? 0 : (count + row - 1) / row;
    }
  }

 private:
  // `level`: index into sizes_ of the dimension that the braces go over.
  void list(std::size_t level) {
    Token opening = reader_.current();
    std::size_t begin = variable_.initializer.size();
    reader_.expect('{');
    while (!reader_.at('}')) {
      if (reader_.at('{')) {
        if (level + 1 >= sizes_.size()) {
          reader_.fail("a value (the variable has fewer dimensions)");
        }
        std::size_t inner = variable_.initializer.size();
        list(level + 1);
        fill(inner + elements_below(level), opening);
      } else {
        value();
      }
      if (!reader_.accept(',')) {
        break;
      }
    }
    reader_.expect('}');
    if (sizes_[level] != 0) {
      std::uint64_t room = sizes_[level] * elements_below(level);
      if (variable_.initializer.size() - begin > room) {
        reader_.fail(
            opening, "at most " + std::to_string(room) + " initial values");
      }
    }
  }

  void value() {
    variable_.initializer.push_back(parse_initial_value(reader_));
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

std::vector<Variable> parse_parameters(Reader& reader) {
  std::vector<Variable> parameters;
  reader.expect('(');
  if (reader.accept(')')) {
    return parameters;
  }
  do {
    Variable parameter;
    parameter.space = space_named(reader.current().text);
    if (parameter.space != Space::kParam && parameter.space != Space::kReg) {
      reader.fail("'.param' or '.reg'");
    }
    reader.take();
    parse_type(reader, parameter);
    parse_name_and_dimensions(reader, parameter);
    parameters.push_back(std::move(parameter));
  } while (reader.accept(','));
  reader.expect(')');
  return parameters;
}

std::vector<RegisterDeclaration> parse_registers(Reader& reader) {
  Variable type;
  parse_type(reader, type);
  std::vector<RegisterDeclaration> declarations;
  do {
    Token name = reader.expect_name("the name of a register");
    RegisterDeclaration declaration;
    declaration.type = type.type;
    declaration.vector = type.vector;
    declaration.name = name.text;
    declaration.location = name.location;
    if (reader.accept('<')) {
      // "<0>" would read as one register, so it is not taken for a range.
      Token count = reader.current();
      declaration.count = static_cast<std::uint32_t>(
          reader.expect_integer("a number of registers", 1 << 24));
      if (declaration.count == 0) {
        reader.fail(count, "at least one register");
      }
      reader.expect('>');
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
    if (!reader.current().is_dot()) {
      reader.fail("an attribute such as '.managed'");
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
