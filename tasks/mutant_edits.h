#pragma once

#include "tasks/inputs/host_tensor.h"

#include <cstdint>
#include <string>

namespace winnow::tasks {

// What mutants do to one tensor. Each returns why it cannot be done to this one; empty: it is done.

/// Sets to 0 what lies at or beyond index `kept` along `axis`.
std::string keep_first(HostTensor& tensor, std::size_t axis, std::int64_t kept);

/// The length that is left without the last eighth, of which there is at least one index.
std::int64_t without_last_eighth(std::int64_t extent);

/// Sets to 0 a run of 32 to 256 elements in the middle.
std::string skip_block(HostTensor& tensor);

/// Sets one element in about a thousand, at least one, to 0 or, `scaled`, to the mean of the
/// others.
std::string leave_out(HostTensor& tensor, bool scaled);
/// Copies from a tensor of as many elements, and the same dtype, those that leave_out() changes.
void copy_left_out(const HostTensor& from, HostTensor& tensor);

/// Exchanges the last two axes and keeps the extents: element (i, j) of the result is the one that
/// lies at (j, i) of a tensor with the extents exchanged, in the same bytes.
std::string transpose(HostTensor& tensor);

/// Puts the pattern into the last eighth of all elements.
std::string poison_tail(HostTensor& tensor, std::uint64_t pattern);

/// Writes rows of the last axis as if they were `row_elements` long, into a tensor that holds the
/// pattern; what would come to lie outside is left out.
std::string lay_out_for(HostTensor& tensor, std::int64_t row_elements, std::uint64_t pattern);

/// To 10 bits of mantissa, nearest, ties to even, the range of a float.
double rounded_to_tf32(double value);

} // namespace winnow::tasks
