// What a PTX module says, as the parser understands it: directives, variables,
// functions and instructions. Nothing here is executed or checked against the
// meaning of an instruction (engine/lowering does that).
// Source: PTX ISA 8.4, chapters 4 (syntax), 5 (state spaces, types), 11
// (directives).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/code/ptx/parse_error.h"

namespace cudasim::ptx {

// Words, places and errors are those of the linker too.
using namespace accelerator::ptx;

/// PTX ISA 5.1.
enum class Space : std::uint8_t {
  kNone, // generic in an instruction
  kReg,
  kConst,
  kGlobal,
  kLocal,
  kParam,
  kShared,
};

/// PTX ISA 5.2: fundamental types and the alternate floating-point formats.
enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kU16x2,
  kS16x2,
  kU8x4,
  kS8x4,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kTF32,
  kE4M3,
  kE5M2,
  kE2M1,
  kE2M3,
  kE3M2,
  kUE8M0,
  kUE4M3,
  kE4M3x2,
  kE5M2x2,
  kE2M1x2,
  kE2M3x2,
  kE3M2x2,
  kUE8M0x2,
  kF32,
  kF32x2,
  kF64,
  kB1, // elements of matrices, packed in registers
  kU4,
  kS4,
};

/// Bytes of one value of a type; 0 for kNone and kPred.
std::size_t size_of(Type type);
/// "s32" and the like, without the dot; "" for kNone.
std::string_view name_of(Type type);
/// The type of that name without the dot; kNone when it is no type.
Type type_named(std::string_view name);

/// One operand of an instruction, or one initial value of a variable.
struct Operand {
  enum class Kind : std::uint8_t {
    kRegister, // name; also a predicate with `negated`
    kSpecialRegister, // name such as "%tid", with `component` x, y, z or w
    kInteger, // bits: 64-bit two's complement
    kFloat, // bits: of a double (32-bit literals 0f… are widened), see `single`
    /// name of a variable, function, label or parameter, with `offset`. Also
    /// of a register that is declared without "%": the parser knows no scopes.
    /// As an initial value with `bits` not 0: only the bytes of the address
    /// that this mask shows, moved down ("0xFF00(sym)", PTX ISA 5.4.4).
    kSymbol,
    kAddress, // [elements[0] + offset]: a register, symbol or integer
    /// name[elements[0] + offset]: an element of an array, by a constant or a
    /// register. Nothing behind engine/forms has any.
    kElement,
    kVector, // {elements…}
    kSink, // "_"
    kPair, // elements[0] | elements[1], such as the "p|q" of setp
  };
  Kind kind = Kind::kSink;
  bool negated = false; // "!p" or "-%f1"
  bool single = false; // a literal 0fXXXXXXXX; `bits` holds its 32 bits then
  /// 'x', 'y', 'z', 'w', 'r', 'g', 'b' or 'a' after a dot. Of a video
  /// instruction '0' to '3' for .b0 to .b3, 'l' and 'h' for .h0 and .h1.
  char component = 0;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::string name;
  std::vector<Operand> elements;
  Location location;
};

/// `@p` or `@!p` before an instruction.
struct Guard {
  std::string predicate; // empty: no guard
  bool negated = false;
};

/// PTX ISA 4.3.2. "ld.global.v2.f32" has the opcode "ld" and the modifiers
/// "global", "v2", "f32", in the order of the text.
struct Instruction {
  std::string opcode;
  std::vector<std::string> modifiers;
  Guard guard;
  std::vector<Operand> operands; // for call: see Call below
  /// Behind the operands of what has the modifier L2::cache_hint.
  std::optional<Operand> cache_policy;
  /// For call: results, target, arguments, and the prototype of an indirect
  /// call. `operands` is empty then.
  struct Call {
    std::vector<Operand> results;
    Operand target;
    std::vector<Operand> arguments;
    std::string prototype; // label of .callprototype or .calltargets
  };
  std::unique_ptr<Call> call;
  Location location;
};

/// A register range `.reg .b32 %r<7>` or a single register `.reg .pred p`.
struct RegisterDeclaration {
  Type type = Type::kNone;
  std::uint32_t vector = 1; // 2 or 4 for .v2 and .v4
  std::string name; // without the <N>
  std::uint32_t count = 0; // N of <N>; 0: one register called `name`
  Location location;
};

/// A variable in a state space, or a parameter of a function.
struct Variable {
  Space space = Space::kNone;
  Type type = Type::kNone;
  std::uint32_t vector = 1;
  std::uint32_t alignment = 0; // bytes; 0: the type's own
  std::string name;
  /// Sizes of the dimensions, outermost first; 0 for "[]". Empty: no array.
  std::vector<std::uint64_t> dimensions;
  /// Flattened, in order; fewer than the array has are followed by zeros.
  std::vector<Operand> initializer;
  bool is_extern = false;
  bool is_visible = false;
  bool is_weak = false; // .weak or .common
  bool is_managed = false; // .attribute(.managed)
  /// Of a function's parameter or result in .reg: the register that it is in
  /// the body. Its value is passed in memory here, as `name`.
  std::string in_register;
  /// Of what a call passes on: whether its address may be taken, which only
  /// engine/forms does.
  bool is_addressed = false;
  Location location;

  /// Bytes of the whole variable; 0 for an array of unknown size.
  std::uint64_t size() const;
};

/// One statement of a body.
struct Statement {
  enum class Kind : std::uint8_t {
    kInstruction,
    kLabel,
    kRegisters,
    kVariable, // .shared, .local, .param or .const inside a body
    kScopeBegin, // "{"
    kScopeEnd, // "}"
    kBranchTargets, // label: .branchtargets a, b;   (for brx.idx)
    kCallTargets,
    kCallPrototype,
  };
  Kind kind = Kind::kLabel;
  std::string label; // kLabel and the three last kinds
  std::vector<std::string> targets; // kBranchTargets, kCallTargets
  std::unique_ptr<Instruction> instruction;
  std::unique_ptr<RegisterDeclaration> registers;
  std::unique_ptr<Variable> variable;
  /// kCallPrototype
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  Location location;
};

/// Performance directives of a kernel (PTX ISA 11.4); 0: not given.
struct LaunchBounds {
  std::uint32_t max_threads[3] = {0, 0, 0}; // .maxntid
  std::uint32_t required_threads[3] = {0, 0, 0}; // .reqntid
  std::uint32_t min_blocks = 0; // .minnctapersm
  std::uint32_t max_registers = 0; // .maxnreg
  std::uint32_t required_cluster[3] = {0, 0, 0}; // .reqnctapercluster, blocks
  bool has_cluster_limit = false; // .maxclusterrank
};

/// A .entry or .func. `body` is filled by parse_body only.
struct Function {
  std::string name;
  bool is_entry = false;
  bool is_extern = false;
  bool is_visible = false;
  bool is_weak = false;
  bool has_body = false;
  bool is_noreturn = false;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  LaunchBounds bounds;
  std::vector<Statement> body;
  /// Where the body's text is in Module::text: after "{" up to "}".
  std::size_t body_begin = 0;
  std::size_t body_end = 0;
  Location body_location; // of the "{"
  Location location;
};

/// A module after the first pass: everything but the bodies.
struct Module {
  std::shared_ptr<const std::string> text;
  std::string source_name; // for messages: the library or file
  std::uint32_t version_major = 0;
  std::uint32_t version_minor = 0;
  Location version_location;
  std::string target; // "sm_80"
  Location target_location;
  std::uint32_t address_size = 64;
  std::vector<Variable> variables; // .global, .const, .shared, extern ones too
  std::vector<std::unique_ptr<Function>> functions; // in the text's order
  std::vector<std::string> files; // .file names by index (may have gaps)

  /// The functions by their names: definitions before declarations.
  std::unordered_map<std::string_view, const Function*> by_name;

  /// Adds a function, whose name and has_body do not change any more.
  void add(std::unique_ptr<Function> function);

  /// The function of that name: a definition before a declaration; null.
  const Function* find(std::string_view name) const;
};

} // namespace cudasim::ptx
