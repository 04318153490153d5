#include "runtime/code/nvjitlink/link.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>

#include "runtime/code/fatbin/containers.h"
#include "runtime/code/fatbin/fatbin.h"
#include "runtime/code/linker/register_limit.h"
#include "runtime/code/nvjitlink/keep.h"
#include "runtime/code/nvjitlink/real_link.h"
#include "runtime/code/nvjitlink/release.h"
#include "runtime/code/nvrtc/machine_code.h"

namespace accelerator::nvjitlink {
namespace {

constexpr int kMachineOfCuda = 190; // e_machine of a cubin
constexpr char kCompiled[] = "lto"; // the input that LTO IR becomes
constexpr std::string_view kInCompiled = " in 'lto'\n";

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

std::string_view without_comments(std::string_view text) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(begin == text.npos ? text.size() : begin);
    const bool is_line = begins_with(text, "//");
    if (!is_line && !begins_with(text, "/*")) {
      return text;
    }
    const std::size_t end = text.find(is_line ? "\n" : "*/", 2);
    text.remove_prefix(
        end == text.npos ? text.size() : end + (is_line ? 1 : 2));
  }
}

/// The type of an input, by how it begins; NONE for anything else.
nvJitLinkInputType type_of(std::string_view data) {
  if (nvrtc::stands_for_machine_code(data)) {
    return NVJITLINK_INPUT_CUBIN;
  }
  if (begins_with(data, "\x7f\x45LF")) {
    std::uint16_t machine = 0;
    if (data.size() >= 20) {
      std::memcpy(&machine, data.data() + 18, sizeof(machine));
    }
    return machine == kMachineOfCuda ? NVJITLINK_INPUT_CUBIN
                                     : NVJITLINK_INPUT_OBJECT;
  }
  if (begins_with(data, "!<arch>\n")) {
    return NVJITLINK_INPUT_LIBRARY;
  }
  if (begins_with(data, "\x50\xed\x55\xba")) {
    return NVJITLINK_INPUT_FATBIN;
  }
  if (fatbin::is_lto_ir(data.data(), data.size())) {
    return NVJITLINK_INPUT_LTOIR;
  }
  return begins_with(without_comments(data), ".version") ? NVJITLINK_INPUT_PTX
                                                         : NVJITLINK_INPUT_NONE;
}

/// 80 for PTX with ".target sm_80"; 0 where there is none.
std::uint32_t target_of(std::string_view ptx) {
  constexpr std::string_view kTarget = ".target";
  std::uint32_t number = 0;
  const std::size_t at = ptx.find(kTarget);
  const std::size_t digits = at == ptx.npos ? at : ptx.find('_', at);
  if (digits != ptx.npos) {
    std::from_chars(ptx.data() + digits + 1, ptx.data() + ptx.size(), number);
  }
  return number;
}

/// What the linker throws, as statuses.
template <typename Body>
void guarded(nvJitLinkResult of_link, Body&& body) {
  try {
    body();
  } catch (const linker::SyntaxError& error) {
    throw Failure(
        NVJITLINK_ERROR_PTX_COMPILE, std::string(error.what()) + "\n");
  } catch (const linker::LinkError& error) {
    // NVIDIA's assembler says it of LTO IR.
    const bool is_compiled = std::string_view(error.what()).find(kInCompiled) !=
        std::string_view::npos;
    throw Failure(
        is_compiled ? NVJITLINK_ERROR_PTX_COMPILE : of_link, error.what());
  } catch (const fatbin::FatbinError& error) {
    throw Failure(
        NVJITLINK_ERROR_INVALID_INPUT, std::string(error.what()) + "\n");
  }
}

} // namespace

void Link::open(std::vector<std::string> options) {
  read_options(std::move(options), options_);
  if (options_.relocatable) {
    linker_ = linker::Linker(linker::Linker::Undefined::kLeft);
  }
  is_open_ = true;
}

void Link::check_type(
    nvJitLinkInputType type,
    std::string_view data,
    const std::string& name) const {
  if (data.empty()) {
    throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "");
  }
  const nvJitLinkInputType found = type_of(data);
  if (type == NVJITLINK_INPUT_ANY) {
    if (found == NVJITLINK_INPUT_NONE) {
      throw Failure(
          kUnrecognizedInput, "unrecognized input type: " + name + "\n");
    }
  } else if (type == NVJITLINK_INPUT_NONE || found != type) {
    const bool is_cubin_as_object =
        type == NVJITLINK_INPUT_OBJECT && found == NVJITLINK_INPUT_CUBIN;
    if (!is_cubin_as_object) {
      throw Failure(
          kIncorrectType,
          "bad input: " + name + " is not of the type that is told\n");
    }
  }
}

void Link::add(
    nvJitLinkInputType type,
    std::string_view data,
    const std::string& name) {
  if (!is_open_) {
    return; // complete() fails
  }
  check_type(type, data, name);
  guarded(NVJITLINK_ERROR_INVALID_INPUT, [&] {
    if (nvrtc::stands_for_machine_code(data)) {
      add_ptx(name, data);
      has_others_ = true;
      return;
    }
    switch (type_of(data)) {
      case NVJITLINK_INPUT_LTOIR:
        if (!options_.link_time_optimization) {
          throw Failure(
              kNoLinkTimeOptimization, name + ": LTO IR requires -lto\n");
        }
        intermediate_.push_back(
            {NVJITLINK_INPUT_LTOIR, name, std::string(data)});
        break;
      case NVJITLINK_INPUT_PTX:
        add_ptx(name, data);
        has_others_ = true;
        break;
      default:
        add_container(type, data, name);
    }
  });
}

void Link::add_ptx(const std::string& name, std::string_view text) {
  const std::uint32_t target = target_of(text);
  if (target > options_.capability) {
    throw Failure(
        NVJITLINK_ERROR_PTX_COMPILE,
        name + ": .target sm_" + std::to_string(target) +
            " is above -arch=sm_" + std::to_string(options_.capability) + "\n");
  }
  linker_.add(name, std::string(text));
}

void Link::add_container(
    nvJitLinkInputType type,
    std::string_view data,
    const std::string& name) {
  const nvJitLinkInputType kind = type_of(data);
  const bool is_library = kind == NVJITLINK_INPUT_LIBRARY;
  const fatbin::DeviceCode code = fatbin::find_code(data, name);
  if (code.lto_ir && options_.link_time_optimization) {
    intermediate_.push_back({type, name, std::string(data)});
    return;
  }
  auto found = fatbin::find_ptx(data, name, options_.capability);
  if (found.empty() && !is_library && code.lto_ir) {
    throw Failure(kNoLinkTimeOptimization, name + ": LTO IR requires -lto\n");
  }
  // Of a library nothing may be needed; an object may be the host's alone.
  if (found.empty() && !is_library &&
      (code.any || kind != NVJITLINK_INPUT_OBJECT)) {
    throw Failure(
        NVJITLINK_ERROR_INVALID_INPUT,
        name +
            " has no PTX for this device, which does not run machine code\n");
  }
  has_others_ = true;
  for (const auto& part : found) {
    if (is_library) {
      linker_.add_library_part(part.name, part.ptx);
    } else {
      linker_.add(part.name, part.ptx);
    }
  }
}

// NVIDIA's library writes PTX, when there is no other input.
std::vector<std::string> Link::options_of_real() const {
  std::vector<std::string> options;
  for (const std::string& option : options_.all) {
    const bool is_other = begins_with(option, "-ptx") ||
        begins_with(option, "-lto") || begins_with(option, "-dlto") ||
        begins_with(option, "-r");
    if (begins_with(option, "-arch=lto_")) {
      options.push_back("-arch=sm_" + std::to_string(options_.capability));
    } else if (!is_other) {
      options.push_back(option);
    }
  }
  options.emplace_back("-lto");
  options.emplace_back("-ptx");
  return options;
}

// The PTX of all LTO IR.
// @param kept functions that stay even if no kernel of it calls them.
std::string Link::compiled(const std::vector<std::string>& kept) const {
  RealLink real(options_of_real());
  for (const Input& input : intermediate_) {
    real.add(input.type, input.name, input.data);
  }
  if (!kept.empty()) {
    const std::string code = keeping_intermediate(kept, options_.capability);
    if (code.empty()) {
      return ""; // NVIDIA's NVRTC is not there
    }
    real.add(NVJITLINK_INPUT_LTOIR, "keep", code);
  }
  real.complete();
  return real.ptx();
}

// The same for a link with other inputs, which may call its functions. As
// NVIDIA's, it keeps them for these where it has no kernel.
std::string Link::compiled_for_others() const {
  const std::string alone = compiled({});
  std::vector<std::string> wanted = linker_.undefined_functions();
  if (wanted.empty() || alone.find(".entry") != alone.npos) {
    return alone;
  }
  std::string ptx = compiled(wanted);
  if (ptx.empty()) {
    return alone;
  }
  const std::set<std::string> defined = kept_functions(ptx, wanted);
  if (defined.size() < wanted.size()) {
    // The others are declared there, without their parameters.
    wanted.assign(defined.begin(), defined.end());
    ptx = compiled(wanted);
  }
  return published(ptx, wanted);
}

void Link::complete() {
  if (!is_open_) {
    throw Failure(NVJITLINK_ERROR_INTERNAL, "there is nothing to link\n");
  }
  if (options_.gives_ptx && (has_others_ || options_.relocatable)) {
    throw Failure(
        kIncorrectType, "-ptx requires that all inputs have LTO IR\n");
  }
  if (options_.link_time_optimization && intermediate_.empty()) {
    throw Failure(
        NVJITLINK_ERROR_NVVM_COMPILE, "-lto requires an input with LTO IR\n");
  }
  if (options_.gives_ptx) {
    linked_ = compiled({});
    return;
  }
  guarded(NVJITLINK_ERROR_INTERNAL, [&] {
    if (!intermediate_.empty()) {
      linker_.add(kCompiled, compiled_for_others());
    }
    linked_ = linker_.inputs() == 0
        ? std::string()
        : linker::limit_registers(
              "linked", linker_.link(), options_.max_registers);
  });
}

const std::string& Link::code() const {
  if (!linked_ || options_.gives_ptx) {
    throw Failure(NVJITLINK_ERROR_INTERNAL, "there is no linked code\n");
  }
  return *linked_;
}

const std::string& Link::ptx() const {
  if (!options_.gives_ptx) {
    throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "PTX requires -ptx\n");
  }
  if (!linked_) {
    throw Failure(NVJITLINK_ERROR_INTERNAL, "there is no linked PTX\n");
  }
  return *linked_;
}

const std::string& Link::intermediate() {
  if (!options_.link_time_optimization) {
    throw Failure(NVJITLINK_ERROR_INVALID_INPUT, "LTO IR requires -lto\n");
  }
  if (!linked_) {
    throw Failure(NVJITLINK_ERROR_INTERNAL, "there is no linked LTO IR\n");
  }
  if (linked_intermediate_.empty()) {
    RealLink real(options_of_real());
    for (const Input& input : intermediate_) {
      real.add(input.type, input.name, input.data);
    }
    real.complete();
    linked_intermediate_ = real.intermediate();
  }
  return linked_intermediate_;
}

} // namespace accelerator::nvjitlink
