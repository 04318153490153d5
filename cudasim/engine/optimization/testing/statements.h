// The kinds of statements that bodies have, each in the file that its heading
// names, and any of them.
#pragma once

#include <string>

#include "cudasim/engine/optimization/testing/body.h"

namespace cudasim::engine::optimization::random_functions {

/// Appends `count` statements of any kind.
void write_statements(Body& body, unsigned count);

/// Appends statements one level deeper, 1 to `most` unless that is too deep.
void write_nested(Body& body, unsigned most);

// arithmetic.cpp: registers alone.

/// Appends arithmetic, conversions and moves.
void write_arithmetic(Body& body);

/// Appends what changes a predicate.
void write_predicate(Body& body);

/// Appends swaps and chains of copies, some of which get lost.
void write_copies(Body& body);

// memory.cpp: local memory.

/// Appends a variable with something in all of its bytes, and the region.
void write_variable(Body& body, const std::string& name);

/// Appends a load or a store, if there is a region.
void write_access(Body& body);

/// Appends what compares or selects addresses of regions, if there is one.
void write_pointers(Body& body);

// branches.cpp: control flow without loops.

/// Appends two ways, of which a predicate chooses one.
void write_either_or(Body& body);

/// Appends a brx.idx to 3 or 4 places, some of which go on to the next.
void write_indexed_branch(Body& body);

/// Appends a block with registers and a variable whose names are there already.
void write_scope(Body& body);

/// Appends statements that nothing reaches.
void write_skipped(Body& body);

/// Appends a ret or, where the style has it, an exit, for some threads.
void write_end(Body& body);

/// Appends what stores any result, but in the kernel.
void write_early_result(Body& body);

// loops.cpp

/// Appends a loop of up to 7 rounds over statements, or one over all elements
/// of a region, unless that takes too long.
void write_loop(Body& body);

// calls.cpp

/// Appends a call, or two with the same arguments, unless that takes too long
/// or a region is too small for what a function does with its parameters.
void write_call(Body& body);

// exchanges.cpp: what threads of the kernel tell each other.

/// Appends a slot of shared memory for each thread, with a value, to the
/// kernel. %w0 is %tid.x.
void write_slots(Body& body);

/// Appends a shuffle, a vote, or a look at another thread's slot, where all
/// threads are sure to come by.
void write_exchange(Body& body);

} // namespace cudasim::engine::optimization::random_functions
