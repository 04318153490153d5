// How operations of the graph API are added to a program, by their kinds.
#pragma once

#include "runtime/libraries/dnn/graph/program.h"

namespace accelerator::dnn {

/// @throws Refusal: this kind of operation is not supported.
void add_operation(Builder& builder, const State& operation);

/// Those of one family; false for an operation of another one.
bool add_convolution(Builder& builder, const State& operation);
bool add_elementwise(Builder& builder, const State& operation);
bool add_product(Builder& builder, const State& operation);
bool add_normalization(Builder& builder, const State& operation);
bool add_resampling(Builder& builder, const State& operation);
bool add_movement(Builder& builder, const State& operation);
bool add_random(Builder& builder, const State& operation);
bool add_attention_part(Builder& builder, const State& operation);

} // namespace accelerator::dnn
