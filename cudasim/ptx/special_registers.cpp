#include "cudasim/ptx/special_registers.h"

#include <unordered_set>

namespace cudasim::ptx {
namespace {

// "%envreg7" begins with "%envreg" and ends with a number up to `last`.
bool is_numbered(std::string_view name, std::string_view stem, int last) {
  if (name.substr(0, stem.size()) != stem) {
    return false;
  }
  std::string_view digits = name.substr(stem.size());
  if (digits.empty() || digits.size() > 2) {
    return false;
  }
  int number = 0;
  for (char digit : digits) {
    if (digit < '0' || digit > '9') {
      return false;
    }
    number = number * 10 + (digit - '0');
  }
  return number <= last;
}

} // namespace

bool is_special_register(std::string_view name) {
  static const std::unordered_set<std::string_view> kNames = {
      "%aggr_smem_size",
      "%clock",
      "%clock64",
      "%clock_hi",
      "%cluster_ctaid",
      "%cluster_ctarank",
      "%cluster_nctaid",
      "%cluster_nctarank",
      "%clusterid",
      "%ctaid",
      "%current_graph_exec",
      "%dynamic_smem_size",
      "%globaltimer",
      "%globaltimer_hi",
      "%globaltimer_lo",
      "%gridid",
      "%is_explicit_cluster",
      "%laneid",
      "%lanemask_eq",
      "%lanemask_ge",
      "%lanemask_gt",
      "%lanemask_le",
      "%lanemask_lt",
      "%nclusterid",
      "%nctaid",
      "%nsmid",
      "%ntid",
      "%nwarpid",
      "%reserved_smem_offset_begin",
      "%reserved_smem_offset_cap",
      "%reserved_smem_offset_end",
      "%smid",
      "%tid",
      "%total_smem_size",
      "%warpid",
  };
  // Nearly all names are ordinary registers: "%" a letter or two, digits.
  if (name.size() < 4) {
    return false;
  }
  if (kNames.count(name) != 0) {
    return true;
  }
  if (name.size() > 4 && name.substr(name.size() - 3) == "_64" &&
      is_numbered(name.substr(0, name.size() - 3), "%pm", 7)) {
    return true;
  }
  return is_numbered(name, "%envreg", 31) || is_numbered(name, "%pm", 7) ||
      is_numbered(name, "%reserved_smem_offset_", 1);
}

} // namespace cudasim::ptx
