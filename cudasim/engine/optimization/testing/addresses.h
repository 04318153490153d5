// Addresses in local memory, and the ways in which code gets at a place there.
#pragma once

#include <string>

#include "cudasim/engine/optimization/testing/body.h"

namespace cudasim::engine::optimization::random_functions {

/// What is between the brackets, and the state space of such an access.
struct Place {
  std::string space; // with its point, or ""
  std::string address;
};

/// @param is_generic whether the address is, or else one of local memory.
/// @returns a register that has the address of a region.
std::string address_of(Body& body, const Region& region, bool is_generic);

/// @param bytes of the access, a power of 2. @param is_load or else a store.
/// @returns somewhere in a region.
Place place_in(Body& body, const Region& region, unsigned bytes, bool is_load);

/// @returns a register from which an index can be: a round's number, or any.
std::string index_source(Body& body);

} // namespace cudasim::engine::optimization::random_functions
