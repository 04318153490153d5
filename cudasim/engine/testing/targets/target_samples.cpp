// Instructions for the test of the targets of PTX, which asks NVIDIA's
// assembler the same (cudasim/engine/targets/ptxas_test.py).
//
//   target_samples draw SEED COUNT
//
// writes what is in front of them, and a form feed; then COUNT instructions of
// each row, with the row's number and a tab before each.
//
//   target_samples judge TARGET… < INSTRUCTIONS
//
// writes for each the targets that have it, and the first version that the
// first of them takes it with, separated by a tab; both empty where none has.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cudasim/engine/targets/target.h"
#include "cudasim/engine/testing/row_writer.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/ptx/parser.h"

namespace {

using namespace cudasim;
using engine::PtxVersion;

const std::string kBefore = engine::testing::module_declarations() +
    ".visible .entry kernel(.param .align 16 .b8 in_param[256]) {\n" +
    engine::testing::body_declarations() +
    "LABEL_0: LABEL_1: LABEL_2: LABEL_3:\n";

/// A module that is asked about several targets and versions.
class Sample {
 public:
  explicit Sample(const std::string& instruction) {
    try {
      module_ = ptx::parse_module(
          ".version 9.5\n.target sm_90\n.address_size 64\n" + kBefore +
              instruction + ";\nret;\n}\n",
          "sample");
      ptx::parse_body(*module_, *module_->functions.front());
    } catch (const ptx::ParseError&) {
      module_ = nullptr;
    }
  }

  bool is_taken(const std::string& target, PtxVersion version) const {
    if (module_ == nullptr) {
      return false;
    }
    module_->target = target;
    module_->version_major = version.major;
    module_->version_minor = version.minor;
    try {
      engine::verify_module(*module_);
      engine::verify_body(*module_, *module_->functions.front());
      return true;
    } catch (const ptx::ParseError&) {
      return false;
    }
  }

 private:
  std::unique_ptr<ptx::Module> module_;
};

PtxVersion first_version(const Sample& sample, const std::string& target) {
  for (PtxVersion version{6, 0}; version < engine::kNewestPtx;) {
    if (engine::is_version(version)) {
      if (sample.is_taken(target, version)) {
        return version;
      }
      ++version.minor;
    } else {
      version = {version.major + 1, 0};
    }
  }
  return engine::kNewestPtx;
}

void judge(
    const std::string& instruction,
    const std::vector<std::string>& targets) {
  const Sample sample(instruction);
  std::string taken;
  std::string first;
  for (const std::string& target : targets) {
    if (sample.is_taken(target, engine::kNewestPtx)) {
      first = taken.empty() ? target : first;
      taken += (taken.empty() ? "" : " ") + target;
    }
  }
  std::printf(
      "%s\t%s\n",
      taken.c_str(),
      taken.empty() ? "" : first_version(sample, first).text().c_str());
}

void draw(std::uint64_t seed, int count) {
  std::printf("%s\f\n", kBefore.c_str());
  engine::testing::RowWriter writer(seed);
  std::size_t number = 0;
  for (const auto& row : engine::testing::all_rows()) {
    for (int i = 0; i < count; ++i) {
      std::printf("%zu\t%s\n", number, writer.fitting(row).c_str());
    }
    ++number;
  }
}

} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "draw" && argc == 4) {
    draw(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
    return 0;
  }
  if (mode == "judge" && argc > 2) {
    const std::vector<std::string> targets(argv + 2, argv + argc);
    for (std::string line; std::getline(std::cin, line);) {
      judge(line, targets);
    }
    return 0;
  }
  std::fputs("usage: target_samples draw SEED COUNT | judge TARGET…\n", stderr);
  return 2;
}
