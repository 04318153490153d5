#include "cudasim/engine/translation/regions.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/translation/translator.h"
#include "cudasim/native/background.h"
#include "cudasim/native/compiler.h"
#include "cudasim/native/compiling.h"
#include "cudasim/native/object_cache.h"

namespace cudasim::engine {
namespace {

/// Visits until a region is worth its compilation: an instruction takes LLVM a
/// millisecond or two, and the interpreter some 15 ns.
constexpr std::uint32_t kManyVisits = 1 << 16;
/// Visits until it is worth to look whether an earlier process compiled it,
/// for which it has to be translated.
constexpr std::uint32_t kSomeVisits = 1 << 12;
/// What translation and LLVM take for an instruction, what an instruction of a
/// warp saves as native code, and what a warp takes to enter that.
constexpr std::uint64_t kNanosecondsToTranslate = 100'000;
constexpr std::uint64_t kNanosecondsToCompile = 3'000'000;
constexpr std::uint64_t kNanosecondsSaved = 7;
constexpr std::uint64_t kNanosecondsToEnter = 50;
/// Instructions that a call executes on average, below which the interpreter
/// does as well.
constexpr std::uint64_t kFewInstructions = 12;
constexpr std::uint32_t kMostAttempts = 3;

void say(const std::string& what) {
  std::fprintf(stderr, "CUDASIM_NATIVE: %s\n", what.c_str());
}

/// The setting. Kernels are interpreted where it is another, or cannot be met.
NativeMode read_mode() {
  const char* const setting = std::getenv("CUDASIM_NATIVE");
  const std::string mode = setting == nullptr ? "off" : setting;
  if (mode != "auto" && mode != "always") {
    return NativeMode::kOff;
  }
  const std::string obstacle = native_obstacle();
  if (!obstacle.empty()) {
    say(obstacle + ". Kernels are interpreted.");
    return NativeMode::kOff;
  }
  return mode == "auto" ? NativeMode::kAuto : NativeMode::kAlways;
}

const char* processor() {
  return best_isa() == Isa::kV4 ? "x86-64-v4" : "x86-64-v3";
}

/// The compiler of this process, which is loaded first of all; null where it
/// cannot be. @param why is set then.
native::Compiler* compiler(std::string* why = nullptr) {
  static auto& reason = *new std::string; // threads may outlive main()
  static native::Compiler* const instance = [] {
    auto loaded =
        native::Compiler::load(native::find_library(), processor(), &reason);
    native::Compiling::end_at_exit();
    return loaded.release(); // the code that it makes stays
  }();
  if (instance == nullptr && why != nullptr) {
    *why = reason;
  }
  return instance;
}

native::ObjectCache& cache() {
  static auto* const instance = new native::ObjectCache(native::cache_folder());
  return *instance; // threads may outlive main()
}

/// Since code was last found: what other programs left is of no use here.
std::atomic<int> looks_in_vain{0};
constexpr int kMostLooksInVain = 64;

/// Whether an earlier process left anything, so that it is worth to look.
bool may_find() {
  static const bool any = cache().has_objects();
  return any;
}

/// All that an object depends on.
std::string key_of(const std::string& text) {
  return processor() + ("\n" + text);
}

RegionFunction linked(
    native::Compiler& llvm,
    const std::string& object,
    std::string* why) {
  return reinterpret_cast<RegionFunction>(llvm.link(object, "region", why));
}

NativeMode& mode() {
  static NativeMode instance = read_mode();
  return instance;
}

} // namespace

NativeMode native_mode() {
  return mode();
}

std::string native_obstacle() {
  if (best_isa() == Isa::kBaseline) {
    return "needs AVX2 and FMA, which this processor lacks or CUDASIM_ISA "
           "forbids";
  }
  if (native::find_library().empty()) {
    return "needs LLVM: pip install 'llvmlite>=0.50,<0.51', or set "
           "CUDASIM_LLVM to the path of its libllvmlite.so";
  }
  std::string why;
  return compiler(&why) != nullptr ? "" : "cannot load LLVM: " + why;
}

void set_native_mode(NativeMode wish) {
  mode() = wish;
}

Regions::Regions(const Code& code, WarpLanes lanes)
    : code_(code),
      lanes_(lanes),
      at_once_(native_mode() == NativeMode::kAlways),
      threshold_(at_once_ ? 1 : kManyVisits),
      looks_after_(!at_once_ && may_find() ? kSomeVisits : 0),
      refusals_(at_once_ ? kReview : kManyVisits),
      places_(new Place[code.instructions.size() + 1]) {
  // Not by a thread that runs kernels, for which exit() does not wait.
  if (native_mode() != NativeMode::kOff) {
    compiler();
  }
}

Regions& Regions::of(WarpLanes lanes) {
  Others& others = lanes == WarpLanes::kRest ? of_rest_ : of_some_;
  std::call_once(others.once, [&] {
    others.regions = std::make_unique<Regions>(code_, lanes);
  });
  return *others.regions;
}

Regions::~Regions() {
  native::Background::instance().forget(this);
}

/// How the lanes' values lie now.
Shapes Regions::observed(const Slots& slots, const Seen& seen) const {
  Shapes shapes;
  for (const Slot slot : slots) {
    shapes[slot] =
        shape_of(seen.registers + slot, flow_->width_of(slot), seen.mask);
  }
  return shapes;
}

/// Has an idle thread do a job. @param nanoseconds as Background::add().
void Regions::when_idle(
    std::uint32_t pc,
    const Seen& seen,
    void (Regions::*job)(std::uint32_t, const Seen&),
    std::uint64_t nanoseconds) {
  std::vector<std::byte> registers(
      seen.registers, seen.registers + code_.frame_bytes);
  native::Background::instance().add(
      this,
      [this, pc, job, seen, registers = std::move(registers)] {
        (this->*job)(pc, {registers.data(), seen.mask, seen.stop});
      },
      nanoseconds);
}

/// Whether an earlier process left the code is known long before it would be
/// worth its compilation.
void Regions::look_for(std::uint32_t pc, const Seen& seen) {
  if (looks_in_vain < kMostLooksInVain) {
    when_idle(pc, seen, &Regions::look, 0);
  }
}

void Regions::look(std::uint32_t pc, const Seen& seen) {
  const native::Compiling turn;
  if (turn.allowed()) {
    looks_in_vain = find(pc, translate(pc, seen)) ? 0 : looks_in_vain + 1;
  }
}

/// Has code made for a place: at once, or by a thread of low priority.
void Regions::ask_for(std::uint32_t pc, const Seen& seen) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (places_[pc].attempts++ >= kMostAttempts) {
      return;
    }
  }
  if (at_once_) {
    make(pc, seen);
  } else if (compiler() != nullptr) {
    const std::size_t most =
        std::min(code_.instructions.size(), Translator::kMostInstructions);
    when_idle(pc, seen, &Regions::make, most * kNanosecondsToTranslate);
  }
}

/// @param seen registers as they were where the code is to begin: code for what
/// the code that there is refuses has in common with it. None: as the code
/// assumes that there is.
Regions::Translated Regions::translate(std::uint32_t pc, const Seen& seen) {
  if (flow_ == nullptr) {
    flow_ = std::make_unique<CodeFlow>(code_);
  }
  // LLVM takes a second for that, of what it is slowest with. In small steps:
  // the code of half as many instructions takes a quarter more time.
  constexpr std::size_t kMostText = 350'000;
  constexpr std::size_t kFewest = 32;
  std::size_t most = Translator::kMostInstructions;
  Translated result = translate(pc, seen, most);
  while (result.weight > kMostText && most > kFewest) {
    most -= most / 10;
    const Translator smaller(
        code_,
        *flow_,
        {lanes_, pc, result.stop, most},
        result.assumed,
        general_);
    if (smaller.pieces() != result.pieces) { // else it would be the same text
      result = translate(pc, seen, most);
    }
  }
  native::Compiling::end_at_exit();
  return result;
}

/// @param most instructions of the region: Translator::Scope's.
Regions::Translated Regions::translate(
    std::uint32_t pc,
    const Seen& seen,
    std::size_t most) {
  Translated result;
  const Known& known = known_[pc];
  if (seen.registers == nullptr) {
    result.assumed = known.assumed;
    result.stop = known.stop;
  } else {
    result.stop = seen.stop;
    result.is_other = at(pc) != nullptr;
    const Translator probe(
        code_,
        *flow_,
        {lanes_, pc, result.stop, most},
        result.assumed,
        general_);
    result.assumed = observed(probe.inputs(), seen);
    for (auto& [slot, shape] : result.assumed) {
      const auto before = known.common.find(slot);
      if (before != known.common.end()) {
        shape = meet(shape, before->second);
      }
    }
  }
  Translator translator(
      code_, *flow_, {lanes_, pc, result.stop, most}, result.assumed, general_);
  result.text = translator.translate();
  // Strips take it a quarter of the time of other text.
  result.weight = result.text.size() - translator.text_in_strips() / 4 * 3;
  result.table = translator.table();
  result.instructions = translator.size();
  result.handled = translator.called();
  result.nanoseconds_saved = kNanosecondsSaved *
      (result.instructions - result.handled) /
      std::max<std::size_t>(1, result.instructions);
  result.pcs = translator.pcs();
  result.pieces = translator.pieces();
  result.hopes = translator.hopes();
  if (!at_once_ && (translator.is_mostly_called() || translator.is_short())) {
    result.text.clear();
  }
  return result;
}

/// Code of an earlier process, or compiled: at once, or as soon as the process
/// can afford it.
void Regions::make(std::uint32_t pc, const Seen& seen) {
  const native::Compiling turn;
  if (!turn.allowed()) {
    return;
  }
  if (!at_once_ && is_covered(pc)) {
    return;
  }
  obtain(pc, translate(pc, seen));
}

/// Makes code anew that was left at an instruction more often than not.
/// @param pc where it begins.
void Regions::generalize(std::uint32_t pc, std::uint32_t left_at) {
  const native::Compiling turn;
  if (!turn.allowed() || known_[pc].hopes.count(left_at) == 0 ||
      at(pc) == nullptr) {
    return;
  }
  general_.insert(left_at);
  obtain(pc, translate(pc, Seen{}));
}

void Regions::obtain(std::uint32_t pc, Translated translated) {
  if (translated.text.empty() || find(pc, translated)) {
    return;
  }
  if (at_once_) {
    compile(pc, translated);
    return;
  }
  const std::uint64_t cost = translated.instructions * kNanosecondsToCompile;
  native::Background::instance().add(
      this,
      [this, pc, translated = std::move(translated)] {
        const native::Compiling turn;
        // Another process may have compiled it meanwhile.
        if (turn.allowed() && (at(pc) != nullptr || !is_covered(pc)) &&
            !find(pc, translated)) {
          compile(pc, translated);
        }
      },
      cost);
}

/// Whether code has been made that may execute a place, too, which was asked
/// for when the interpreter still came by: it is only made code of its own if
/// the interpreter comes by as often again.
bool Regions::is_covered(std::uint32_t pc) {
  Place& place = places_[pc];
  if (place.recounted || !known_[pc].assumed.empty() ||
      covered_.count(pc) == 0) {
    return false; // it has come by again, or it has code of its own that it
                  // left
  }
  place.recounted = true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --place.attempts;
  }
  place.visits.store(looks_after_, std::memory_order_relaxed);
  return true;
}

/// Uses what an earlier process left. @returns whether there is any.
bool Regions::find(std::uint32_t pc, const Translated& translated) {
  native::Compiler* const llvm = compiler();
  if (translated.text.empty() || llvm == nullptr) {
    return false;
  }
  const auto object = cache().find(key_of(translated.text));
  if (!object.has_value()) {
    return false;
  }
  std::string why;
  const RegionFunction function = linked(*llvm, *object, &why);
  native::Compiling::end_at_exit();
  if (function == nullptr) {
    return false; // of no use: compiled anew
  }
  native_statistics().found.fetch_add(1, std::memory_order_relaxed);
  publish(pc, translated, function);
  return true;
}

void Regions::compile(std::uint32_t pc, const Translated& translated) {
  native::Compiler* const llvm = compiler();
  if (llvm == nullptr) {
    return;
  }
  std::string object;
  std::string why;
  const RegionFunction function =
      llvm->compile(translated.text, "region", &object, &why)
      ? linked(*llvm, object, &why)
      : nullptr;
  native::Compiling::end_at_exit();
  if (function == nullptr) {
    native_statistics().refused.fetch_add(1, std::memory_order_relaxed);
    say("LLVM refuses a region of " + code_.name +
        ", which is interpreted: " + why);
    return;
  }
  native_statistics().made.fetch_add(1, std::memory_order_relaxed);
  cache().put(key_of(translated.text), object);
  publish(pc, translated, function);
}

void Regions::publish(
    std::uint32_t pc,
    const Translated& translated,
    RegionFunction function) {
  native_statistics().handled.fetch_add(
      translated.handled, std::memory_order_relaxed);
  auto region = std::make_unique<NativeRegion>();
  region->function = function;
  region->stop = translated.stop;
  region->table = translated.table;
  region->nanoseconds_saved = translated.nanoseconds_saved;
  Known& known = known_[pc];
  const NativeRegion* const first = at(pc);
  if (translated.is_other && first != nullptr) {
    known.common = translated.assumed;
    first->otherwise.store(region.get(), std::memory_order_release);
  } else {
    if (first != nullptr) { // made anew: see generalize()
      region->otherwise.store(first->otherwise, std::memory_order_relaxed);
    } else {
      known.common = translated.assumed;
    }
    known.assumed = translated.assumed;
    known.hopes = translated.hopes;
    known.stop = translated.stop;
    places_[pc].region.store(region.get(), std::memory_order_release);
  }
  covered_.insert(translated.pcs.begin(), translated.pcs.end());
  made_.push_back(std::move(region));
}

/// Has a region made anew that is left at an instruction more often than not.
/// @param times that it was left there.
void Regions::look_at_leaver(std::uint32_t pc, std::uint64_t times) {
  Place& place = places_[pc];
  const std::uint32_t from = place.from.load(std::memory_order_relaxed);
  if (from == kNowhere || from == pc ||
      2 * times <= places_[from].calls.load(std::memory_order_relaxed) ||
      place.asked_for.exchange(from, std::memory_order_relaxed) == from) {
    return;
  }
  const auto make_anew = [this, from, pc] { generalize(from, pc); };
  if (at_once_) {
    make_anew();
  } else {
    native::Background::instance().add(
        this,
        make_anew,
        Translator::kMostInstructions * kNanosecondsToTranslate);
  }
}

/// Gives up code that is refused or does little.
/// @param calls so far: other threads may begin to count anew meanwhile.
/// @param seen registers that the code refused; none behind other calls.
void Regions::review(
    std::uint32_t pc,
    std::uint64_t calls,
    std::uint64_t instructions,
    const Seen& seen) {
  Place& place = places_[pc];
  const NativeRegion* const region = at(pc);
  if (!at_once_ && region != nullptr) {
    const std::uint64_t saved =
        instructions / calls * region->nanoseconds_saved;
    native::Background::instance().budget().saved(
        kReview * (std::max(saved, kNanosecondsToEnter) - kNanosecondsToEnter));
  }
  look_at_leaver(pc, calls);
  const bool refuses =
      place.refused.load(std::memory_order_relaxed) * 4 > calls;
  if (refuses && seen.registers == nullptr) {
    return; // what registers hold now is not what the code would begin with
  }
  if (!refuses && instructions / calls >= kFewInstructions) {
    return;
  }
  if (at_once_ && !refuses) {
    return;
  }
  place.region.store(nullptr, std::memory_order_release);
  place.calls.store(0, std::memory_order_relaxed);
  place.refused.store(0, std::memory_order_relaxed);
  place.instructions.store(0, std::memory_order_relaxed);
  if (refuses) {
    ask_for(pc, seen); // with what both have in common
  }
}

} // namespace cudasim::engine
