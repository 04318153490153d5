#include "runtime/code/linker/unit.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/code/ptx/reader.h"

namespace accelerator::linker {
namespace {

using ptx::Token;

// No device has more.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;

std::uint64_t size_of_type(std::string_view type) {
  const std::size_t digits = type.find_first_of("0123456789");
  std::uint64_t bits = 0;
  if (digits != std::string_view::npos) {
    std::from_chars(type.data() + digits, type.data() + type.size(), bits);
  }
  std::uint64_t count = 1;
  const std::size_t times = type.find('x', digits == type.npos ? 0 : digits);
  if (times != std::string_view::npos) { // .f16x2
    std::from_chars(type.data() + times + 1, type.data() + type.size(), count);
  }
  return type.find("ref") != std::string_view::npos // .texref and its kin
      ? 8
      : bits * count / 8;
}

std::uint64_t integer(std::string_view text) {
  std::uint64_t value = 0;
  return ptx::integer_of(text, value) ? value : 0;
}

class UnitReader {
 public:
  explicit UnitReader(Unit& unit)
      : unit_(unit), reader_(ptx::Lexer(unit.text, unit.name)) {}

  void read() {
    while (!reader_.at_end()) {
      directive();
    }
    if (unit_.target.empty()) {
      reader_.fail("'.target'");
    }
  }

 private:
  Range here() const {
    return range_of(unit_.text, reader_.current());
  }

  Token expect_name() {
    return reader_.expect_name("a name");
  }

  std::uint64_t expect_number() {
    return reader_.expect_integer("a number", kMostBytes);
  }

  // Goes on to the next token inside of something.
  void pass(std::string_view expected) {
    if (reader_.at_end()) {
      reader_.fail(expected);
    }
    reader_.take();
  }

  void directive() {
    if (reader_.accept(".version")) {
      version();
    } else if (reader_.accept(".target")) {
      const Token target = expect_name();
      unit_.target = target.text;
      while (reader_.accept(',')) {
        expect_name();
      }
    } else if (reader_.accept(".address_size")) {
      expect_number();
    } else if (reader_.accept(".file")) {
      file();
    } else if (reader_.accept(".section")) {
      reader_.take(); // its name
      block();
    } else if (reader_.accept(".pragma")) {
      while (!reader_.at_end() && !reader_.accept(';')) {
        reader_.take();
      }
    } else if (reader_.at('@')) {
      reader_.skip_line(); // "@@DWARF …"
    } else if (reader_.at(".alias")) {
      alias();
    } else if (!reader_.accept(';')) {
      definition();
    }
  }

  void version() {
    if (reader_.current().kind != Token::Kind::kNumber) {
      reader_.fail("a version such as 8.4");
    }
    const std::string_view text = reader_.take().text;
    const std::size_t dot = std::min(text.find('.'), text.size() - 1);
    unit_.version_major = static_cast<unsigned>(integer(text.substr(0, dot)));
    unit_.version_minor = static_cast<unsigned>(integer(text.substr(dot + 1)));
  }

  // .file index "name" [, time, size]
  void file() {
    const auto index = static_cast<unsigned>(expect_number());
    Range rest = here();
    if (reader_.current().kind != Token::Kind::kString) {
      reader_.fail("a file's name in quotes");
    }
    reader_.take();
    while (reader_.accept(',')) {
      rest.end = here().end;
      reader_.take();
    }
    unit_.files.push_back({index, std::string(rest.of(unit_.text))});
  }

  // "{ … }". Names in it count as used.
  Range block() {
    Range range = here();
    if (!reader_.at('{')) {
      reader_.fail("'{'");
    }
    std::size_t depth = 0;
    do {
      depth += reader_.at('{') ? 1 : 0;
      depth -= reader_.at('}') ? 1 : 0;
      if (reader_.current().is_name()) {
        unit_.used_names.insert(reader_.current().text);
      }
      range.end = here().end;
      pass("'}'");
    } while (depth > 0);
    return range;
  }

  // .alias other, function;
  void alias() {
    Item item;
    item.kind = Item::Kind::kAlias;
    item.linkage = Linkage::kVisible;
    item.is_defined = true;
    item.body.begin = here().begin;
    reader_.take();
    item.name = expect_name().text;
    reader_.expect(',');
    unit_.used_names.insert(expect_name().text);
    item.body.end = here().end;
    reader_.expect(';');
    unit_.items.push_back(std::move(item));
  }

  void definition() {
    Item item;
    item.begin = here().begin;
    for (bool found = true; found;) {
      if (reader_.accept(".visible")) {
        item.linkage = Linkage::kVisible;
      } else if (reader_.accept(".extern")) {
        item.linkage = Linkage::kExtern;
      } else if (reader_.accept(".weak")) {
        item.linkage = Linkage::kWeak;
      } else if (reader_.accept(".common")) {
        item.linkage = Linkage::kCommon;
      } else {
        found = false;
      }
    }
    if (reader_.at(".entry") || reader_.at(".func")) {
      function(std::move(item));
    } else if (reader_.current().is_dot()) {
      variables(std::move(item));
    } else {
      reader_.fail("a directive of a module, a variable or a function");
    }
  }

  void function(Item item) {
    item.kind = Item::Kind::kFunction;
    item.head = here();
    item.is_entry = reader_.take().is(".entry");
    if (reader_.accept(".attribute")) {
      parenthesized();
    }
    if (reader_.at('(')) {
      item.results = parameters();
    }
    item.name = expect_name().text;
    if (reader_.at('(')) {
      item.parameters = parameters();
    }
    while (!reader_.at('{') && !reader_.at(';')) { // .maxntid 64, 1, 1
      pass("a body or ';'");
    }
    item.head.end = range_of(unit_.text, reader_.last()).end;
    if (!reader_.accept(';')) {
      item.is_defined = true;
      item.body = block();
    }
    unit_.items.push_back(std::move(item));
  }

  void parenthesized() {
    reader_.expect('(');
    while (!reader_.accept(')')) {
      pass("')'");
    }
  }

  // "(.param .b32 a, .param .align 8 .b8 b[16])": their sizes.
  std::vector<std::uint64_t> parameters() {
    std::vector<std::uint64_t> sizes;
    reader_.expect('(');
    while (!reader_.accept(')')) {
      Item parameter;
      type(parameter);
      expect_name();
      dimensions(parameter);
      sizes.push_back(parameter.size);
      if (!reader_.at(')')) {
        reader_.expect(',');
      }
    }
    return sizes;
  }

  // Everything before the name. The size is that of one element then.
  void type(Item& item) {
    item.space = reader_.take().text;
    std::uint64_t elements = 1;
    while (reader_.current().is_dot()) {
      if (reader_.accept(".align")) {
        item.alignment = expect_number();
      } else if (reader_.accept(".attribute")) {
        parenthesized();
      } else if (reader_.accept(".ptr")) {
        pointer_hint();
      } else if (reader_.at(".v2") || reader_.at(".v4")) {
        elements = integer(reader_.take().text.substr(2));
      } else {
        item.size = size_of_type(reader_.take().text);
      }
    }
    item.size *= elements;
    item.alignment = std::max(item.alignment, item.size);
  }

  // .ptr .global .align 16
  void pointer_hint() {
    if (reader_.current().is_dot() && !reader_.at(".align")) {
      reader_.take();
    }
    if (reader_.accept(".align")) {
      expect_number();
    }
  }

  // "[4][2]"; expressions other than one number leave the size untold.
  void dimensions(Item& item) {
    while (reader_.accept('[')) {
      std::uint64_t count = 0;
      unsigned tokens = 0;
      while (!reader_.accept(']')) {
        ++tokens;
        count = integer(reader_.current().text);
        pass("']'");
      }
      const bool is_known = tokens == 1 && count > 0 &&
          item.size <= kMostBytes && count <= kMostBytes / (item.size + 1);
      item.size = is_known ? item.size * count : 0;
    }
  }

  // .global .align 4 .b8 a[4] = {1, 2}, b;
  void variables(Item item) {
    item.is_defined = item.linkage != Linkage::kExtern;
    item.head = here();
    type(item);
    item.head.end = here().begin;
    do {
      Item variable = item;
      variable.body = here();
      variable.name = expect_name().text;
      dimensions(variable);
      variable.body.end = here().begin;
      if (reader_.at('=')) {
        initial_value(variable);
      }
      unit_.items.push_back(std::move(variable));
    } while (reader_.accept(','));
    reader_.expect(';');
  }

  void initial_value(Item& variable) {
    std::size_t depth = 0;
    while (depth > 0 || (!reader_.at(',') && !reader_.at(';'))) {
      const bool opens = reader_.at('{') || reader_.at('(');
      const bool closes = reader_.at('}') || reader_.at(')');
      depth += opens ? 1 : 0;
      depth -= closes && depth > 0 ? 1 : 0;
      if (reader_.current().is_name()) {
        unit_.used_names.insert(reader_.current().text);
        variable.initial_names.emplace_back(reader_.current().text);
      }
      variable.body.end = here().end;
      pass("';'");
    }
  }

  Unit& unit_;
  ptx::Reader reader_;
};

} // namespace

Unit::Unit(std::string its_name, std::string its_text)
    : name(std::move(its_name)), text(std::move(its_text)) {
  text.erase(text.find_last_not_of('\0') + 1);
  UnitReader(*this).read();
}

bool Unit::defines(std::string_view symbol) const {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    return item.is_defined && item.linkage != Linkage::kStatic &&
        item.name == symbol;
  });
}

} // namespace accelerator::linker
