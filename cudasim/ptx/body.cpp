// The body of one function. Source: PTX ISA 8.4, 4.3 (statements), 9.7.12
// (control flow), 11.3 (control flow directives).
#include <algorithm>
#include <string>
#include <utility>

#include "cudasim/ptx/constants.h"
#include "cudasim/ptx/operands.h"
#include "cudasim/ptx/parser.h"
#include "cudasim/ptx/variables.h"
#include "runtime/code/ptx/reader.h"

namespace cudasim::ptx {
namespace {

class BodyParser {
 public:
  BodyParser(const Module& module, const Function& function)
      : module_(module),
        reader_(Lexer(
            std::string_view(*module.text).substr(0, function.body_end + 1),
            module.source_name,
            function.body_begin,
            {function.body_location.line, function.body_location.column + 1})) {
  }

  std::vector<Statement> parse() {
    // The text ends with the "}" of the body itself.
    std::size_t depth = 0;
    while (depth > 0 || !reader_.at('}')) {
      if (reader_.at('{')) {
        add(Statement::Kind::kScopeBegin, reader_.take());
        ++depth;
      } else if (reader_.at('}')) {
        add(Statement::Kind::kScopeEnd, reader_.take());
        --depth;
      } else {
        statement();
      }
    }
    return std::move(statements_);
  }

 private:
  Statement& add(Statement::Kind kind, const Token& first) {
    Statement& statement = statements_.emplace_back();
    statement.kind = kind;
    statement.location = first.location;
    return statement;
  }

  void statement() {
    if (reader_.at('@')) {
      Token first = reader_.take();
      if (reader_.at('@')) { // "@@DWARF …"
        reader_.skip_line();
        return;
      }
      Guard guard;
      guard.negated = reader_.accept('!');
      guard.predicate = reader_.expect_name("a predicate").text;
      Token opcode = reader_.expect_name("an instruction");
      instruction(first, opcode, std::move(guard));
    } else if (reader_.current().is_dot()) {
      directive();
    } else {
      Token first = reader_.expect_name("a statement");
      if (reader_.accept(':')) {
        label(first);
      } else {
        instruction(first, first, {});
      }
    }
  }

  void label(const Token& name) {
    if (reader_.accept(".branchtargets")) {
      targets(name, Statement::Kind::kBranchTargets);
    } else if (reader_.accept(".calltargets")) {
      targets(name, Statement::Kind::kCallTargets);
    } else if (reader_.accept(".callprototype")) {
      prototype(name);
    } else {
      add(Statement::Kind::kLabel, name).label = name.text;
    }
  }

  void targets(const Token& name, Statement::Kind kind) {
    Statement& statement = add(kind, name);
    statement.label = name.text;
    do {
      statement.targets.emplace_back(reader_.expect_name("a target").text);
    } while (reader_.accept(','));
    reader_.expect(';');
  }

  // label: .callprototype (results) _ (parameters) .noreturn;
  void prototype(const Token& name) {
    Statement& statement = add(Statement::Kind::kCallPrototype, name);
    statement.label = name.text;
    if (reader_.at('(')) {
      statement.results = parse_parameters(reader_, Owner::kPrototype);
    }
    reader_.expect_name("'_'");
    if (reader_.at('(')) {
      statement.parameters = parse_parameters(reader_, Owner::kPrototype);
    }
    while (reader_.accept(".noreturn") || reader_.accept(".abi_preserve_all")) {
    }
    reader_.expect(';');
  }

  void directive() {
    Token first = reader_.current();
    if (reader_.accept(".loc")) {
      source_line();
      return;
    }
    if (reader_.accept(".pragma")) {
      do {
        if (reader_.current().kind != Token::Kind::kString) {
          reader_.fail("a string");
        }
        reader_.take();
      } while (reader_.accept(','));
      reader_.expect(';');
      return;
    }
    Variable like;
    like.space = space_named(first.text);
    if (like.space == Space::kNone) {
      reader_.fail("an instruction or a directive of a body");
    }
    reader_.take();
    if (like.space == Space::kReg) {
      for (RegisterDeclaration& registers : parse_registers(reader_)) {
        add(Statement::Kind::kRegisters, first).registers =
            std::make_unique<RegisterDeclaration>(std::move(registers));
      }
      return;
    }
    for (Variable& variable : parse_variables(reader_, like)) {
      add(Statement::Kind::kVariable, first).variable =
          std::make_unique<Variable>(std::move(variable));
    }
  }

  // .loc file line column [, function_name label [+ offset],
  // inlined_at file line column]: nothing here depends on it.
  void source_line() {
    line_of_file();
    while (reader_.accept(',')) {
      if (reader_.accept("function_name")) {
        reader_.expect_name("a label");
        if (reader_.at('+') || reader_.at('-')) {
          constant_expression(reader_);
        }
      } else if (reader_.accept("inlined_at")) {
        line_of_file();
      } else {
        reader_.fail("'function_name' or 'inlined_at'");
      }
    }
  }

  void line_of_file() {
    for (std::string_view what : {"a file's index", "a line", "a column"}) {
      reader_.expect_integer(what, 0xFFFFFFFF);
    }
  }

  void instruction(const Token& first, const Token& opcode, Guard guard) {
    auto instruction = std::make_unique<Instruction>();
    instruction->opcode = opcode.text;
    instruction->guard = std::move(guard);
    instruction->location = opcode.location;
    while (reader_.current().is_dot()) {
      instruction->modifiers.emplace_back(reader_.take().text.substr(1));
    }
    if (instruction->opcode == "mad") {
      add_rounding(opcode, instruction->modifiers);
    }
    if (instruction->opcode == "call") {
      instruction->call = std::make_unique<Instruction::Call>();
      call(*instruction->call);
    } else if (!reader_.at(';')) {
      instruction->operands = parse_operands(reader_);
      take_cache_policy(*instruction);
    }
    if (!reader_.accept(';')) {
      reader_.fail("',' or ';'");
    }
    add(Statement::Kind::kInstruction, first).instruction =
        std::move(instruction);
  }

  // mad.f32 without rounding, which PTX had before 3.2 and has for sm_1x: there
  // it was another operation, in whose place devices of today take fma.rn.ftz.
  void add_rounding(const Token& mad, std::vector<std::string>& modifiers) {
    if (modifiers.empty() || modifiers.back() != "f32" ||
        !std::all_of(
            modifiers.begin(), modifiers.end() - 1, [](const auto& modifier) {
              return modifier == "ftz" || modifier == "sat";
            })) {
      return;
    }
    const bool is_first = module_.target.rfind("sm_1", 0) == 0 &&
        module_.target.size() == 5; // not sm_100
    const bool is_old = module_.version_major < 3 ||
        (module_.version_major == 3 && module_.version_minor < 2);
    if (!is_first && !is_old) {
      reader_.fail(mad, "mad with a rounding such as .rn");
    }
    if (is_first && modifiers.front() != "ftz") {
      modifiers.insert(modifiers.begin(), "ftz");
    }
    modifiers.insert(modifiers.begin(), "rn");
  }

  static void take_cache_policy(Instruction& instruction) {
    const auto& modifiers = instruction.modifiers;
    if (std::find(modifiers.begin(), modifiers.end(), "L2::cache_hint") !=
        modifiers.end()) {
      instruction.cache_policy = std::move(instruction.operands.back());
      instruction.operands.pop_back();
    }
  }

  // call (results), target, (arguments), prototype;  All but the target may be
  // left out.
  void call(Instruction::Call& call) {
    if (reader_.at('(')) {
      call.results = arguments();
      reader_.expect(',');
    }
    call.target = parse_operand(reader_);
    if (!reader_.accept(',')) {
      return;
    }
    if (reader_.at('(')) {
      call.arguments = arguments();
      if (!reader_.accept(',')) {
        return;
      }
    }
    call.prototype = reader_.expect_name("the label of a prototype").text;
  }

  std::vector<Operand> arguments() {
    std::vector<Operand> operands;
    reader_.expect('(');
    if (!reader_.at(')')) {
      operands = parse_operands(reader_);
    }
    reader_.expect(')');
    return operands;
  }

  const Module& module_;
  Reader reader_;
  std::vector<Statement> statements_;
};

} // namespace

void parse_body(const Module& module, Function& function) {
  if (function.has_body && function.body.empty()) {
    function.body = BodyParser(module, function).parse();
  }
}

} // namespace cudasim::ptx
