#pragma once

#include "tasks/task/host_tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace winnow::tasks {

// Edits of one tensor for a mutant. Each edit returns an empty string, or the reason why this
// tensor does not allow the edit.

/// Sets to 0 every element with an index of `kept` or more along `axis`.
std::string keep_first(HostTensor& tensor, std::size_t axis, std::int64_t kept);

/// `extent` without the last eighth, but at least one index shorter.
std::int64_t without_last_eighth(std::int64_t extent);

/// Sets 32 to 256 consecutive elements in the middle to 0.
std::string skip_block(HostTensor& tensor);

/// Changes about one element in a thousand, at least one. The new value is 0 or, if `scaled`, the
/// mean of the other elements.
std::string leave_out(HostTensor& tensor, bool scaled);
/// Copies the elements that leave_out() changes. `to` has the dtype and the element count of
/// `from`.
void copy_left_out(const HostTensor& from, std::span<std::byte> to);

/// Swaps the order of the last two axes in memory but keeps the extents. Element (i, j) of the
/// result is element (j, i) of a tensor with swapped extents and the same bytes.
std::string transpose(HostTensor& tensor);

/// Overwrites the last eighth of all elements with the pattern.
std::string poison_tail(HostTensor& tensor, std::uint64_t pattern);

/// Fills the tensor with the pattern, then writes the rows of the last axis as if each had
/// `row_elements` elements. Elements that would lie outside the tensor are dropped.
std::string lay_out_for(HostTensor& tensor, std::int64_t row_elements, std::uint64_t pattern);

// `other` is the same tensor as another seed draws it.

/// In each row of the last axis, the first element replaces all those that follow the first value
/// as large as the largest of `other`, less one part in 1024.
std::string stop_early(HostTensor& tensor, const HostTensor& other);

/// Indices in [0, limit): the next index, modulo `limit`, replaces an index from where it has
/// occurred 1.5 times as often as any index in `other`.
std::string move_surplus(HostTensor& tensor, const HostTensor& other, double limit);

/// `tensor` has an element for each entry of the CSR matrix with these row pointers. The elements
/// of a row become 0 from 1.5 times the length of the longest row in `other_pointers` on.
std::string shorten_long_rows(HostTensor& tensor, const HostTensor& pointers,
                              const HostTensor& other_pointers);

/// Rounds to 10 bits of mantissa, to nearest, ties to even, within the range of a float.
double rounded_to_tf32(double value);

} // namespace winnow::tasks
