// Turns a region of lowered code into LLVM's intermediate representation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/translation/flow.h"
#include "cudasim/engine/translation/ir/ir_writer.h"
#include "cudasim/engine/translation/ir/value.h"
#include "cudasim/engine/translation/region.h"

namespace cudasim::engine {

/// The variables of a register: of a base, and of the lanes.
std::string scalar_variable(Slot slot);
std::string vector_variable(Slot slot);
/// Where a node's code begins.
std::string node_label(std::uint32_t pc);
/// Whether a load or store stays where it is among the other accesses.
bool is_ordered_access(const std::string& text);

/// Translates one region. Values are followed by their shapes: what all lanes
/// have alike, or base + stride x lane, is a scalar, and an access to memory at
/// such an address is one check and one vector access. An instruction that has
/// no form here is executed by its handler, which the code calls.
class Translator {
 public:
  /// LLVM takes longer for each instruction of a larger region, and another
  /// region goes on where it ends.
  static constexpr std::size_t kMostInstructions = 256;

  /// Which code is made.
  struct Scope {
    WarpLanes lanes = WarpLanes::kAll;
    std::uint32_t entry = 0;
    std::uint32_t stop = kNowhere; // NativeRegion::stop
    /// Of the region's instructions; of hammocks it may have half as many more.
    std::size_t most = kMostInstructions;
  };

  /// @param assumed shapes of registers where the region begins; those that are
  /// not among them vary. The code looks whether they are so.
  /// @param general instructions that take their general form.
  Translator(
      const Code& code,
      const CodeFlow& flow,
      const Scope& scope,
      const Shapes& assumed,
      const std::set<std::uint32_t>& general);
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  /// Registers that the region reads before it writes them.
  Slots inputs() const;
  /// The text of a module with one function, "region" (RegionFunction); empty
  /// where the region has no instruction.
  std::string translate();
  /// What its NativeRegion::table has to hold.
  const std::vector<const void*>& table() const {
    return table_;
  }
  /// How many instructions it has, some perhaps more than once.
  std::size_t size() const {
    return written_instructions_;
  }
  /// Where they are.
  std::vector<std::uint32_t> pcs() const;
  /// The pieces that it translates: from which instruction to before which.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces() const;
  /// Where the code is left if operands are not as it hopes.
  const std::set<std::uint32_t>& hopes() const {
    return hopes_;
  }
  /// Whether handlers execute so much of it that interpreting it is as quick.
  bool is_mostly_called() const {
    return 4 * called_ > written_instructions_;
  }
  /// How many of them handlers execute.
  std::size_t called() const {
    return called_;
  }

  /// How much of the text is strips of lanes.
  std::size_t text_in_strips() const {
    return strip_text_;
  }

  /// Whether it has so few instructions that to enter it costs as much.
  bool is_short() const;

  static constexpr std::uint32_t kLongestNode = 512; // of instructions
  /// Text of exits before groups of accesses: each leaves all registers.
  static constexpr std::size_t kMostGroupExits = 60'000;
  /// From a branch to where lanes meet.
  static constexpr std::uint32_t kLongestHammock = 384;

 private:
  /// Instructions [begin, end), then a branch, the next node, or an end.
  struct Node {
    std::uint32_t end = 0;
    bool ends = false; // before an instruction that the interpreter executes
    Shapes in;
    bool reached = false;
    bool repeats = false; // is part of a loop within the region
    std::uint64_t resume = 0; // RegionState::resume; 0: only from nodes
  };
  using Nodes = std::map<std::uint32_t, Node>;

  // The region: nodes.cpp.
  void discover();
  std::vector<std::uint32_t> successors(std::uint32_t begin) const;
  std::set<std::uint32_t> behind(std::uint32_t begin) const;
  void find_loops();
  void find_resumptions();
  bool begins_loop(std::uint32_t begin) const;
  bool pauses(const Node& node) const;
  bool is_end(std::uint32_t pc) const;
  bool is_first_store(std::uint32_t pc) const;
  bool is_plain_barrier(std::uint32_t pc) const;
  bool is_tracked(Slot slot) const;

  // Its code: translator.cpp.
  std::string write_function();
  std::string write_entry();
  void define(
      const std::string& name,
      const std::string& result,
      const std::string& parameters,
      const std::function<std::string()>& write);
  std::string everyone() const;
  std::string base_of(const Value& lanes, const ValueShape& shape);
  void write_node(std::uint32_t begin, Node& node);
  void write_terminator(const Node& node);
  std::string where_lanes_part(const Inst& branch);
  void write_edge(std::uint32_t from, std::uint32_t to);
  void reach(Node& node);
  ValueShape shape_at(Node& node, Slot slot);

  // Ends and pauses: exits.cpp.
  void write_counts();
  void write_end(std::uint32_t pc, RegionEnd end);
  void write_exit(std::uint32_t pc, RegionEnd end, const Slots& except = {});
  void write_pause(std::uint32_t pc, std::uint32_t to);
  std::string in_cold_block(const std::function<void()>& write);
  std::string cold_exit(
      std::uint32_t pc,
      RegionEnd end,
      const Slots& except = {});
  std::string cold_pause(std::uint32_t pc, std::uint32_t to);
  std::string write_resumptions(const std::string& fresh);

  /// One way from a branch, or a round of a loop, while it is written: what its
  /// lanes and the others have to know where the region ends (PartedLanes).
  struct Level {
    std::uint32_t branch = 0;
    std::string taken; // lanes, as a word
    bool is_second = false;
    std::string since; // a number, or a variable
    std::string mask; // the lanes that execute what is written
    const std::map<Slot, Value>* others = nullptr; // values of the other lanes
  };
  /// A branch that some lanes take, up to where they meet, or what is left of a
  /// loop that some lanes have left: hammocks.cpp. In code for some lanes, all
  /// of a node, too, with no levels.
  struct Hammock {
    std::string mask; // the lanes that execute what is written, as a word
    std::vector<Level> levels; // the innermost last
  };
  /// Instructions that lanes execute one behind the other.
  using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  struct Sides {
    Ranges taken; // none: the branch leads to where lanes meet
    Ranges other;
  };
  bool is_hammock(std::uint32_t branch) const;
  bool may_be_hammock(std::uint32_t branch) const;
  bool may_go_together(const Inst& branch) const;
  bool may_end_together(const Inst& branch) const;
  bool has_nodes(std::uint32_t begin, std::uint32_t end) const;
  bool sides_of(std::uint32_t branch, Sides* sides) const;
  bool is_jump(std::uint32_t pc) const;
  bool has_plain_sides(std::uint32_t branch, int level) const;
  bool are_plain(const Ranges& ranges, std::uint32_t join, int level) const;
  bool is_plain_side(std::uint32_t begin, std::uint32_t end, int level) const;
  const Inst* loop_at(std::uint32_t begin, std::uint32_t end) const;
  bool is_plain_loop(std::uint32_t branch, int level) const;
  void write_hammock(const Inst& branch);
  void write_sides(const Inst& branch);
  void write_loop(
      const Inst& branch,
      const std::string& lanes,
      const std::string& all);
  void write_pieces(std::uint32_t begin, std::uint32_t end);
  using Variables = std::map<Slot, std::string>;
  Variables keep(const Ranges& ranges, const Slots& live);
  void leave_if_over(std::uint32_t begin);
  void leave_in(const Variables& results);
  void take_from(const Variables& results);
  void write_side(const Ranges& ranges, Level level);
  void leave_threads();
  std::string threads_apart();
  void add_to(const std::string& variable, const std::string& more);
  Slots live_apart(std::uint32_t pc) const;
  Value value_apart(Slot slot);
  void write_levels();

  // Values: values.cpp.
  Value get(Slot slot);
  Value value_in(const std::map<Slot, Value>& values, Slot slot);
  Value from_frame(Slot slot);
  bool constant(const Inst& inst, Slot slot, int bytes, Value* value) const;
  bool operand(const Inst& inst, int index, int bits, Value* value);
  Value predicate_of(const Inst& inst, int index);
  void assign(const Inst& inst, int index, Value value);
  Value blend(const Value& condition, const Value& a, const Value& b);
  std::string guard_mask(const Inst& inst);
  std::string pointer_to(const void* address);
  Value number_of_table(std::uint64_t address);
  void write_back(Slot slot, const Value& value);

  // Instructions: instructions.cpp.
  const std::vector<std::string>& opcode_of(const Inst& inst) const;
  bool has_form(const Inst& inst) const;
  void write_instruction(const Inst& inst);
  void count(const Inst& inst, const std::string& mask);
  std::string lanes_in(const std::string& mask);
  std::string counted_now();
  std::string threads_now();
  void call_handler(const Inst& inst, const std::string& mask);
  bool write_row(const Inst& inst, const std::vector<std::string>& opcode);
  // integers.cpp, bits.cpp, floats.cpp, conversions.cpp
  bool integer(const Inst& inst, const std::vector<std::string>& opcode);
  bool logic(const Inst& inst, const std::vector<std::string>& opcode);
  bool fields(const Inst& inst, const std::vector<std::string>& opcode);
  bool permute(const Inst& inst);
  bool real(const Inst& inst);
  bool rounded(const Inst& inst, const std::vector<std::string>& opcode);
  std::string exponential(const std::string& a, bool vector);
  std::string inverse_root(const std::string& x, bool vector);
  std::string device_nan(int bits, bool vector);
  std::string extreme(
      bool most,
      const std::string& a,
      const std::string& b,
      int bits,
      bool vector);
  std::string flushed(const std::string& x, bool vector);
  std::string saturated(const std::string& x, int bits, bool vector);
  std::string chosen(
      const std::string& condition,
      const std::string& then,
      const std::string& otherwise,
      int bits,
      bool vector);
  bool compare(const Inst& inst, const std::vector<std::string>& opcode);
  bool select(const Inst& inst, const std::vector<std::string>& opcode);
  bool convert(const Inst& inst, const std::vector<std::string>& opcode);
  bool move(const Inst& inst, const std::vector<std::string>& opcode);
  bool pack(const Inst& inst, int bits);
  bool unpack(const Inst& inst, int bits);
  Value sum(const Value& a, const Value& b, bool subtract);
  Value product(const Value& a, const Value& b);
  bool widen(const Inst& inst, const Value& a, bool is_signed, Value* wide);
  bool divide(const Inst& inst, bool is_signed, bool remainder);
  void divide_lanes(
      const Inst& inst,
      const Value& a,
      const Value& b,
      bool is_signed,
      bool remainder);
  std::string write_quotient_by(bool is_signed);
  std::string write_quotient_of_lanes(bool is_signed);
  Value high_product(const Value& a, const Value& b, bool is_signed);
  Value shifted(bool left, bool is_signed, const Value& a, const Value& amount);
  Value plain(const std::string& op, const Value& a, const Value& b);
  Value of_lanes(
      const std::string& name,
      const Value& a,
      const std::string& more);
  Value complement(const Value& a);
  Value resized(const Value& a, int bits, bool is_signed);
  Value low_bits(int bits, const Value& count);
  bool was_left_at(const Inst& inst) const;
  std::string where_hope_fails(const Inst& inst);
  void require(const Inst& inst, const std::string& condition);
  bool bits_of_ramp(
      const Inst& inst,
      const std::string& op,
      const Value& a,
      const Value& b);
  bool shifted_ramp(const Inst& inst, const Value& a, std::int64_t amount);
  Value real_value(const std::string& text, int bits, bool vector);
  std::string as_real(const Value& value, bool vector);
  // collectives.cpp
  bool shuffle(const Inst& inst, const std::vector<std::string>& opcode);
  /// Of a shuffle: where the lanes' values come from, and for which lanes that
  /// is within their segment.
  struct Sources {
    std::string lanes;
    std::string inside;
  };
  Sources sources_of(const std::string& form, const Value& amounts, int bounds);
  std::string picked(const Value& a, const std::string& lanes);
  bool vote(const Inst& inst, const std::vector<std::string>& opcode);
  // memory.cpp
  bool memory(
      const Inst& inst,
      const std::vector<std::string>& opcode,
      const std::string& mask);
  /// What a load or store accesses.
  struct Place {
    std::string space; // "": that of all
    bool is_load = false;
    int count = 1; // values of each lane
    int bits = 32; // of a value
    bool is_signed = false;
    Value address; // of 64 bits; a vector where its rows are looked at
    bool is_scattered = false; // lane by lane, without a look at the rows
    bool is_allowed = false; // the code is left where it is not

    /// Whether it is seen when the access is executed where the lanes are, and
    /// whether each row of them is in one piece.
    bool is_looked_at() const {
      return !shape().affine;
    }
    std::int64_t lane_bytes() const {
      return static_cast<std::int64_t>(count) * bits / 8;
    }
    const ValueShape& shape() const {
      return address.shape;
    }
    /// Whether the lanes, or the two rows, are each accessed in one piece.
    bool in_pieces() const {
      return !shape().uniform() && !shape().straight();
    }
    /// From the lowest to behind the highest byte that the warp accesses.
    std::int64_t extent() const {
      const std::int64_t piece =
          shape().stride == 0 ? lane_bytes() : lane_bytes() * kRowLanes;
      return std::abs(shape().row) + piece;
    }
  };
  bool access_of(
      const Inst& inst,
      const std::vector<std::string>& opcode,
      Place* place) const;
  bool place_of(
      const Inst& inst,
      const std::vector<std::string>& opcode,
      Place* place);
  /// Of an access: where the path begins on which lanes lie anywhere, where the
  /// slow one does, where all meet, and the lanes.
  struct Paths {
    std::string scattered;
    std::string slow;
    std::string done;
    std::string mask;
  };
  /// Where the two rows of lanes access: addresses, or pointers.
  struct Hosts {
    std::string first;
    std::string second;
  };
  Value with_offset(const Value& base, std::int64_t offset);
  std::string is_inside(
      const Place& place,
      const std::string& low,
      const std::string& high);
  std::string beyond(const std::string& address, std::int64_t bytes);
  /// How far accesses reach that are looked at together, in bytes from the
  /// first one.
  struct Reach {
    std::int64_t down = 0;
    std::int64_t up = 0;
  };
  std::string may_access_rows(
      const Place& place,
      const std::string& first,
      const std::string& second,
      const Reach& reach);
  std::string may_access_pieces(const Place& place, const Reach& reach);
  Hosts addresses_of(const Place& place);
  Hosts pointers_to(const Place& place, const Hosts& addresses);
  Reach reach_of(
      const Inst& first,
      const Place& place,
      std::vector<std::uint32_t>* others) const;
  bool was_left_at_access(const Place& place) const;
  void require_allowed(const Inst& inst, Place* place);
  std::string may_access(const Inst& inst, const Place& place, const Hosts& at);
  std::string is_found(
      const Place& place,
      const std::string& inside,
      const std::string& low,
      const std::string& high);
  void prefetch(const Place& place);
  Paths part_paths(const Inst& inst, const Place& place, Hosts* pointers);
  bool is_lane_by_lane(const Inst& inst, const Place& place) const;
  void access_lanes(const Inst& inst, const Place& place, const Paths& paths);
  std::string numbers_at(const Place& place, int number);
  void call_slowly(const Inst& inst, const Paths& paths);
  std::vector<std::string> load_rows(const Place& place, const Hosts& pointers);
  std::vector<std::string> numbers_of(
      const Place& place,
      const Hosts& pointers);
  void load(const Inst& inst, const Place& place);
  void store_numbers(
      const Place& place,
      const std::vector<std::string>& values,
      const Hosts& pointers);
  void store(const Inst& inst, const Place& place);

  // register_pressure.cpp
  void defer_load(const Inst& inst, const Place& place);
  void write_deferred(std::uint32_t pc);
  void write_deferred_loads();
  void forget_deferred_loads(const Slots& live);
  bool has_strip_form(const Inst& inst, int* operands) const;
  std::uint32_t strip_end(std::uint32_t begin, std::uint32_t end) const;
  void write_straight(std::uint32_t begin, std::uint32_t end);
  void write_strips(std::uint32_t begin, std::uint32_t end);
  std::string part_of(Slot slot, int strip);
  std::vector<std::string> loaded_part(const Place& place, int strip);

  const Code& code_;
  const CodeFlow& flow_;
  WarpLanes lanes_;
  std::uint32_t entry_;
  std::uint32_t stop_;
  std::size_t most_;
  const Shapes& assumed_;
  const std::set<std::uint32_t>& general_;
  /// What the text of an instruction says, once it was looked at.
  struct Form {
    std::vector<std::string> opcode; // the words of its name; none: not yet
    std::vector<std::string> operation; // without .ftz and .sat
    bool flushes = false; // .ftz
    bool saturates = false; // .sat
    int sources = 0; // operands that are no results
    bool is_known = false; // has_form()
  };
  const Form& form_of(const Inst& inst) const;
  mutable std::vector<Form> forms_; // by instructions
  Nodes nodes_;
  Slots written_; // by the region
  Slots tracked_; // those it reads or writes, of a known width
  IrWriter ir_;
  std::string body_;
  std::string cold_;
  /// What the region calls of the module, by names: what would be long at each
  /// place.
  std::map<std::string, std::string> functions_;

  // Of the node that is being written.
  Node* node_ = nullptr;
  std::map<Slot, Value> current_;
  /// What lanes have executed since variables were told.
  struct Counts {
    std::uint64_t instructions = 0;
    std::uint64_t threads = 0; // instructions of threads, of all 32 lanes
    // Of lanes of a hammock: a number in the code, and how many instructions
    // all that execute what is being written have executed besides.
    std::string apart = "0";
    std::uint64_t of_mask = 0;
  };
  Counts counts_;
  /// What an access that comes before others has found for them.
  struct Allowed {
    std::string condition; // empty: the code is left where it is not so
    std::string address; // of that access, where the condition is empty
    std::int64_t offset = 0; // that it has
  };
  std::map<std::uint32_t, Allowed> allowed_;
  /// What registers have in one strip of lanes, while that is written.
  std::map<Slot, std::string> parts_;
  /// Loads that are not written yet (Value::deferred).
  std::map<std::uint32_t, Place> deferred_;
  bool changed_ = false; // what is to be written, while it is
  /// Which lanes execute what is being written; null: all 32.
  Hammock* hammock_ = nullptr;
  bool is_behind_hammock_ = false; // with "%beyond" and "%threads_beyond"
  // Of the whole region.
  std::vector<const void*> table_;
  std::size_t written_instructions_ = 0;
  std::size_t called_ = 0; // those that handlers execute
  std::size_t strip_text_ = 0;
  std::size_t group_exits_ = 0; // text of the exits before groups of accesses
  std::set<std::uint32_t> hopes_;
};

} // namespace cudasim::engine
