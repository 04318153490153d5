#include "accelerator/runtime/linker/unit.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace accelerator::linker {
namespace {

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

class UnitReader {
 public:
  explicit UnitReader(Unit& unit)
      : unit_(unit), scanner_(unit.text, {0, unit.text.size()}) {
    take();
  }

  void read() {
    while (!token_.at_end()) {
      directive();
    }
    if (unit_.target.empty()) {
      fail("'.target'");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const auto line = 1 +
        std::count(unit_.text.begin(),
                   unit_.text.begin() +
                       static_cast<std::ptrdiff_t>(token_.range.begin),
                   '\n');
    throw SyntaxError(
        unit_.name + ":" + std::to_string(line) + ": found '" +
        std::string(token_.text.substr(0, 60)) + "', expected " + expected);
  }

  Token take() {
    const Token taken = token_;
    end_ = token_.range.end;
    token_ = scanner_.next();
    return taken;
  }

  bool accept(std::string_view word) {
    if (!token_.is(word)) {
      return false;
    }
    take();
    return true;
  }

  void expect(std::string_view word) {
    if (!accept(word)) {
      fail("'" + std::string(word) + "'");
    }
  }

  Token expect_name() {
    if (!token_.is_name()) {
      fail("a name");
    }
    return take();
  }

  std::uint64_t expect_number() {
    if (token_.kind != Token::Kind::kNumber) {
      fail("a number");
    }
    return number(take().text);
  }

  // Numbers as sizes and indices have them: 16, 0x10, 16U.
  static std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const bool is_hexadecimal = text.substr(0, 2) == "0x";
    text.remove_prefix(is_hexadecimal ? 2 : 0);
    std::from_chars(
        text.data(),
        text.data() + text.size(),
        value,
        is_hexadecimal ? 16 : 10);
    return value;
  }

  void directive() {
    if (accept(".version")) {
      version();
    } else if (accept(".target")) {
      const Token target = expect_name();
      unit_.target = target.text;
      while (accept(",")) {
        expect_name();
      }
    } else if (accept(".address_size")) {
      expect_number();
    } else if (accept(".file")) {
      file();
    } else if (accept(".section")) {
      take(); // its name
      block();
    } else if (accept(".pragma")) {
      while (!token_.at_end() && !accept(";")) {
        take();
      }
    } else if (token_.is("@")) {
      scanner_.skip_line(); // "@@DWARF …"
      take();
    } else if (token_.is(".alias")) {
      alias();
    } else if (!accept(";")) {
      definition();
    }
  }

  void version() {
    if (token_.kind != Token::Kind::kNumber) {
      fail("a version such as 8.4");
    }
    const std::string_view text = take().text;
    const std::size_t dot = std::min(text.find('.'), text.size() - 1);
    unit_.version_major = static_cast<unsigned>(number(text.substr(0, dot)));
    unit_.version_minor = static_cast<unsigned>(number(text.substr(dot + 1)));
  }

  // .file index "name" [, time, size]
  void file() {
    const auto index = static_cast<unsigned>(expect_number());
    Range rest = token_.range;
    if (token_.kind != Token::Kind::kString) {
      fail("a file's name in quotes");
    }
    take();
    while (accept(",")) {
      rest.end = token_.range.end;
      take();
    }
    unit_.files.push_back({index, std::string(rest.of(unit_.text))});
  }

  // "{ … }". Names in it count as used.
  Range block() {
    Range range = token_.range;
    if (!token_.is("{")) {
      fail("'{'");
    }
    std::size_t depth = 0;
    do {
      if (token_.at_end()) {
        fail("'}'");
      }
      depth += token_.is("{") ? 1 : 0;
      depth -= token_.is("}") ? 1 : 0;
      if (token_.is_name()) {
        unit_.used_names.insert(token_.text);
      }
      range.end = token_.range.end;
      take();
    } while (depth > 0);
    return range;
  }

  // .alias other, function;
  void alias() {
    Item item;
    item.kind = Item::Kind::kAlias;
    item.linkage = Linkage::kVisible;
    item.is_defined = true;
    item.body.begin = take().range.begin;
    item.name = expect_name().text;
    expect(",");
    unit_.used_names.insert(expect_name().text);
    item.body.end = token_.range.end;
    expect(";");
    unit_.items.push_back(std::move(item));
  }

  void definition() {
    Item item;
    item.begin = token_.range.begin;
    for (bool found = true; found;) {
      if (accept(".visible")) {
        item.linkage = Linkage::kVisible;
      } else if (accept(".extern")) {
        item.linkage = Linkage::kExtern;
      } else if (accept(".weak")) {
        item.linkage = Linkage::kWeak;
      } else if (accept(".common")) {
        item.linkage = Linkage::kCommon;
      } else {
        found = false;
      }
    }
    if (token_.is(".entry") || token_.is(".func")) {
      function(std::move(item));
    } else if (token_.is_dot()) {
      variables(std::move(item));
    } else {
      fail("a directive of a module, a variable or a function");
    }
  }

  void function(Item item) {
    item.kind = Item::Kind::kFunction;
    item.head = token_.range;
    item.is_entry = take().is(".entry");
    if (accept(".attribute")) {
      parenthesized();
    }
    if (token_.is("(")) {
      item.results = parameters();
    }
    item.name = expect_name().text;
    if (token_.is("(")) {
      item.parameters = parameters();
    }
    while (!token_.is("{") && !token_.is(";")) { // .maxntid 64, 1, 1
      if (token_.at_end()) {
        fail("a body or ';'");
      }
      take();
    }
    item.head.end = end_;
    if (!accept(";")) {
      item.is_defined = true;
      item.body = block();
    }
    unit_.items.push_back(std::move(item));
  }

  void parenthesized() {
    expect("(");
    while (!accept(")")) {
      if (token_.at_end()) {
        fail("')'");
      }
      take();
    }
  }

  // "(.param .b32 a, .param .align 8 .b8 b[16])": their sizes.
  std::vector<std::uint64_t> parameters() {
    std::vector<std::uint64_t> sizes;
    expect("(");
    while (!accept(")")) {
      Item parameter;
      type(parameter);
      expect_name();
      dimensions(parameter);
      sizes.push_back(parameter.size);
      if (!token_.is(")")) {
        expect(",");
      }
    }
    return sizes;
  }

  // Everything before the name. The size is that of one element then.
  void type(Item& item) {
    item.space = take().text;
    std::uint64_t elements = 1;
    while (token_.is_dot()) {
      if (accept(".align")) {
        item.alignment = expect_number();
      } else if (accept(".attribute")) {
        parenthesized();
      } else if (accept(".ptr")) {
        pointer_hint();
      } else if (token_.is(".v2") || token_.is(".v4")) {
        elements = number(take().text.substr(2));
      } else {
        item.size = size_of_type(take().text);
      }
    }
    item.size *= elements;
    item.alignment = std::max(item.alignment, item.size);
  }

  // .ptr .global .align 16
  void pointer_hint() {
    if (token_.is_dot() && !token_.is(".align")) {
      take();
    }
    if (accept(".align")) {
      expect_number();
    }
  }

  // "[4][2]"; expressions other than one number leave the size untold.
  void dimensions(Item& item) {
    while (accept("[")) {
      std::uint64_t count = 0;
      unsigned tokens = 0;
      while (!accept("]")) {
        if (token_.at_end()) {
          fail("']'");
        }
        ++tokens;
        count = number(take().text);
      }
      const bool is_known = tokens == 1 && count > 0 &&
          item.size <= kMostBytes && count <= kMostBytes / (item.size + 1);
      item.size = is_known ? item.size * count : 0;
    }
  }

  // .global .align 4 .b8 a[4] = {1, 2}, b;
  void variables(Item item) {
    item.is_defined = item.linkage != Linkage::kExtern;
    item.head = token_.range;
    type(item);
    item.head.end = token_.range.begin;
    do {
      Item variable = item;
      variable.body = token_.range;
      variable.name = expect_name().text;
      dimensions(variable);
      variable.body.end = token_.range.begin;
      if (token_.is("=")) {
        initial_value(variable);
      }
      unit_.items.push_back(std::move(variable));
    } while (accept(","));
    expect(";");
  }

  void initial_value(Item& variable) {
    std::size_t depth = 0;
    while (depth > 0 || (!token_.is(",") && !token_.is(";"))) {
      if (token_.at_end()) {
        fail("';'");
      }
      const bool opens = token_.is("{") || token_.is("(");
      const bool closes = token_.is("}") || token_.is(")");
      depth += opens ? 1 : 0;
      depth -= closes && depth > 0 ? 1 : 0;
      if (token_.is_name()) {
        unit_.used_names.insert(token_.text);
        variable.initial_names.emplace_back(token_.text);
      }
      variable.body.end = token_.range.end;
      take();
    }
  }

  Unit& unit_;
  Scanner scanner_;
  Token token_;
  std::size_t end_ = 0; // of the one before
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
