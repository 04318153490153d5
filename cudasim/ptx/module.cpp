// The first pass: module directives, variables, and functions without bodies.
// Source: PTX ISA 8.4, chapter 11 (directives).
#include <string>
#include <utility>

#include "cudasim/ptx/parser.h"
#include "cudasim/ptx/variables.h"
#include "runtime/code/ptx/reader.h"

namespace cudasim::ptx {
namespace {

constexpr std::uint64_t kLargestNumber = 0xFFFFFFFF;
constexpr std::uint64_t kMostFiles = 1 << 20;

class ModuleParser {
 public:
  explicit ModuleParser(Module& module)
      : module_(module), reader_(Lexer(*module.text, module.source_name)) {}

  void parse() {
    header();
    while (!reader_.at_end()) {
      directive();
    }
  }

 private:
  void header() {
    if (!reader_.accept(".version")) {
      reader_.fail("'.version'");
    }
    version();
    if (!reader_.accept(".target")) {
      reader_.fail("'.target'");
    }
    target();
    if (reader_.accept(".address_size")) {
      address_size();
    }
  }

  // "8.4": two integers, which the lexer sees as one number.
  void version() {
    module_.version_location = reader_.current().location;
    std::string_view text = reader_.current().text;
    std::size_t dot = text.find('.');
    if (reader_.current().kind != Token::Kind::kNumber ||
        dot == std::string_view::npos ||
        !small_integer(text.substr(0, dot), module_.version_major) ||
        !small_integer(text.substr(dot + 1), module_.version_minor)) {
      reader_.fail("a version such as 8.4");
    }
    reader_.take();
  }

  static bool small_integer(std::string_view digits, std::uint32_t& value) {
    if (digits.empty() || digits.size() > 4) {
      return false;
    }
    value = 0;
    for (char digit : digits) {
      if (digit < '0' || digit > '9') {
        return false;
      }
      value = value * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return true;
  }

  void directive() {
    if (reader_.accept(".file")) {
      file();
    } else if (reader_.accept(".section")) {
      section();
    } else if (reader_.accept(".pragma")) {
      pragma();
    } else if (reader_.accept(".alias")) {
      alias();
    } else if (reader_.accept('@')) {
      // "@@DWARF …": debug information in the form of PTX ISA 2.
      reader_.expect('@');
      reader_.skip_line();
    } else {
      definition();
    }
  }

  void target() {
    module_.target_location = reader_.current().location;
    module_.target = reader_.expect_name("a target such as sm_80").text;
    while (reader_.accept(',')) {
      reader_.expect_name("an option of the target");
    }
  }

  void address_size() {
    Token token = reader_.current();
    module_.address_size = static_cast<std::uint32_t>(
        reader_.expect_integer("a size of addresses in bits", 64));
    if (module_.address_size != 64) {
      reader_.fail(token, "64: only 64-bit addresses are supported");
    }
  }

  // .file index "name" [, timestamp, size]
  void file() {
    std::uint64_t index = reader_.expect_integer("a file's index", kMostFiles);
    if (reader_.current().kind != Token::Kind::kString) {
      reader_.fail("a file's name in quotes");
    }
    std::string_view quoted = reader_.take().text;
    if (module_.files.size() <= index) {
      module_.files.resize(index + 1);
    }
    module_.files[index] = quoted.substr(1, quoted.size() - 2);
    for (int i = 0; i < 2 && reader_.accept(','); ++i) {
      reader_.expect_integer("a time or size", ~std::uint64_t{0});
    }
  }

  void section() {
    if (!reader_.current().is_dot()) {
      reader_.fail("the name of a section");
    }
    reader_.take();
    reader_.skip_block();
  }

  void pragma() {
    do {
      if (reader_.current().kind != Token::Kind::kString) {
        reader_.fail("a string");
      }
      reader_.take();
    } while (reader_.accept(','));
    reader_.expect(';');
  }

  // .alias other, function;  One more name for a function.
  void alias() {
    Token other = reader_.expect_name("the name of a function");
    reader_.expect(',');
    Token name = reader_.expect_name("the name of a function");
    const Function* function = module_.find(name.text);
    if (function == nullptr || !function->has_body || function->is_entry) {
      reader_.fail(name, "a function that has a body");
    }
    auto* declared = const_cast<Function*>(module_.find(other.text));
    if (declared == nullptr) {
      reader_.fail(other, "a function that is declared");
    }
    declared->is_extern = false;
    auto copy = std::make_unique<Function>();
    copy->name = other.text;
    copy->is_visible = declared->is_visible;
    copy->is_weak = declared->is_weak;
    copy->has_body = true;
    copy->is_noreturn = function->is_noreturn;
    copy->results = function->results;
    copy->parameters = function->parameters;
    copy->body_begin = function->body_begin;
    copy->body_end = function->body_end;
    copy->body_location = function->body_location;
    copy->location = other.location;
    module_.add(std::move(copy));
    reader_.expect(';');
  }

  // A variable or a function, with linkage before it.
  void definition() {
    Variable linkage;
    const bool is_common = reader_.accept(".common");
    if (is_common && !reader_.at(".global")) {
      reader_.fail("a variable in .global behind '.common'");
    }
    linkage.is_weak = is_common || reader_.accept(".weak");
    if (!linkage.is_weak) {
      linkage.is_visible = reader_.accept(".visible");
      linkage.is_extern = !linkage.is_visible && reader_.accept(".extern");
    }
    if (reader_.accept(".entry")) {
      function(linkage, true);
      return;
    }
    if (reader_.accept(".func")) {
      function(linkage, false);
      return;
    }
    linkage.space = space_named(reader_.current().text);
    if (reader_.accept(
            ".tex")) { // PTX ISA 5.1.8: the old name of .global .texref
      linkage.space = Space::kGlobal;
    } else if (
        linkage.space == Space::kGlobal || linkage.space == Space::kConst ||
        linkage.space == Space::kShared) {
      reader_.take();
    } else {
      reader_.fail("a directive of a module, a variable or a function");
    }
    for (Variable& variable : parse_variables(reader_, linkage)) {
      module_.variables.push_back(std::move(variable));
    }
  }

  void function(const Variable& linkage, bool is_entry) {
    auto function = std::make_unique<Function>();
    function->is_entry = is_entry;
    function->is_extern = linkage.is_extern;
    function->is_visible = linkage.is_visible;
    function->is_weak = linkage.is_weak;
    while (!is_entry && reader_.accept(".attribute")) {
      parse_attributes(reader_);
    }
    if (!is_entry && reader_.at('(')) {
      function->results = parse_parameters(reader_, Owner::kFunction);
    }
    Token name = reader_.expect_name("the name of a function");
    function->name = name.text;
    function->location = name.location;
    if (reader_.at('(')) {
      function->parameters = parse_parameters(
          reader_, is_entry ? Owner::kEntry : Owner::kFunction);
    }
    while (reader_.current().is_dot()) {
      function_directive(*function);
    }
    if (!reader_.accept(';')) {
      if (!reader_.at('{')) {
        reader_.fail("a body, ';' or a directive of a function");
      }
      Reader::Block block = reader_.skip_block();
      function->has_body = true;
      function->body_begin = block.begin;
      function->body_end = block.end;
      function->body_location = block.location;
    }
    module_.add(std::move(function));
  }

  void function_directive(Function& function) {
    LaunchBounds& bounds = function.bounds;
    const bool is_of_functions =
        reader_.at(".noreturn") || reader_.at(".abi_preserve_all");
    if (is_of_functions == function.is_entry) {
      reader_.fail(
          function.is_entry ? "a body, or a directive of a kernel"
                            : "a body, ';' or a directive of a function");
    }
    if (reader_.accept(".maxntid")) {
      extents(bounds.max_threads);
    } else if (reader_.accept(".reqntid")) {
      extents(bounds.required_threads);
    } else if (reader_.accept(".minnctapersm")) {
      bounds.min_blocks = number();
    } else if (reader_.accept(".maxnctapersm")) {
      number(); // the deprecated name of a hint
    } else if (reader_.accept(".maxnreg")) {
      bounds.max_registers = number();
    } else if (reader_.accept(".reqnctapercluster")) {
      extents(bounds.required_cluster);
    } else if (reader_.accept(".maxclusterrank")) {
      number();
      bounds.has_cluster_limit = true;
    } else if (!function.is_noreturn && reader_.accept(".noreturn")) {
      function.is_noreturn = true;
    } else if (reader_.accept(".pragma")) {
      pragma();
    } else if (
        !reader_.accept(".explicitcluster") &&
        !reader_.accept(".abi_preserve_all")) {
      reader_.fail("a body, ';' or a directive of a function");
    }
    if (bounds.max_threads[0] != 0 && bounds.required_threads[0] != 0) {
      reader_.fail(reader_.last(), "either .maxntid or .reqntid");
    }
    if (bounds.has_cluster_limit && bounds.required_cluster[0] != 0) {
      reader_.fail(
          reader_.last(), "either .maxclusterrank or .reqnctapercluster");
    }
  }

  std::uint32_t number() {
    Token token = reader_.current();
    const std::uint64_t value =
        reader_.expect_integer("a number", kLargestNumber);
    if (value == 0) {
      reader_.fail(token, "a number that is not 0");
    }
    return static_cast<std::uint32_t>(value);
  }

  // One to three sizes; those that are left out are 1.
  void extents(std::uint32_t sizes[3]) {
    sizes[0] = number();
    sizes[1] = reader_.accept(',') ? number() : 1;
    sizes[2] = reader_.accept(',') ? number() : 1;
  }

  Module& module_;
  Reader reader_;
};

} // namespace

std::unique_ptr<Module> parse_module(
    std::string text,
    std::string source_name) {
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  auto module = std::make_unique<Module>();
  module->text = std::make_shared<const std::string>(std::move(text));
  module->source_name = std::move(source_name);
  ModuleParser(*module).parse();
  return module;
}

} // namespace cudasim::ptx
