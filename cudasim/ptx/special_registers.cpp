#include "cudasim/ptx/special_registers.h"

#include <unordered_map>

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

Type special_register_type(std::string_view name) {
  // Not destroyed: threads may outlive main().
  static const auto& kTypes = *new std::unordered_map<std::string_view, Type>{
      {"%aggr_smem_size", Type::kU32},
      {"%clock", Type::kU32},
      {"%clock64", Type::kU64},
      {"%clock_hi", Type::kU32},
      {"%cluster_ctaid", Type::kU32},
      {"%cluster_ctarank", Type::kU32},
      {"%cluster_nctaid", Type::kU32},
      {"%cluster_nctarank", Type::kU32},
      {"%clusterid", Type::kU32},
      {"%ctaid", Type::kU32},
      {"%current_graph_exec", Type::kU64},
      {"%dynamic_smem_size", Type::kU32},
      {"%globaltimer", Type::kU64},
      {"%globaltimer_hi", Type::kU32},
      {"%globaltimer_lo", Type::kU32},
      {"%gridid", Type::kU64},
      {"%is_explicit_cluster", Type::kPred},
      {"%laneid", Type::kU32},
      {"%lanemask_eq", Type::kU32},
      {"%lanemask_ge", Type::kU32},
      {"%lanemask_gt", Type::kU32},
      {"%lanemask_le", Type::kU32},
      {"%lanemask_lt", Type::kU32},
      {"%nclusterid", Type::kU32},
      {"%nctaid", Type::kU32},
      {"%nsmid", Type::kU32},
      {"%ntid", Type::kU32},
      {"%nwarpid", Type::kU32},
      {"%reserved_smem_offset_begin", Type::kU32},
      {"%reserved_smem_offset_cap", Type::kU32},
      {"%reserved_smem_offset_end", Type::kU32},
      {"%smid", Type::kU32},
      {"%tid", Type::kU32},
      {"%total_smem_size", Type::kU32},
      {"%warpid", Type::kU32},
  };
  // Nearly all names are ordinary registers: "%" a letter or two, digits.
  if (name.size() < 4) {
    return Type::kNone;
  }
  const auto found = kTypes.find(name);
  if (found != kTypes.end()) {
    return found->second;
  }
  if (name.size() > 4 && name.substr(name.size() - 3) == "_64" &&
      is_numbered(name.substr(0, name.size() - 3), "%pm", 7)) {
    return Type::kU64;
  }
  return is_numbered(name, "%envreg", 31) || is_numbered(name, "%pm", 7) ||
          is_numbered(name, "%reserved_smem_offset_", 1)
      ? Type::kU32
      : Type::kNone;
}

} // namespace cudasim::ptx
