#pragma once

#include "tasks/task/task.h"

#include <string>

namespace winnow::agents {

/// What decides how a task's kernels are made, as far as prompts tell techniques apart.
enum class WorkKind {
  Attention,   ///< products with a softmax between them
  Convolution, ///< sums over neighbours, by taps
  Scan,        ///< each output needs those before it
  Sparse,      ///< the positions of the data are data
  Product,     ///< products of matrices, or of a matrix and a vector
  Reduction,   ///< rows are reduced, and perhaps written again
  Streaming,   ///< each element by itself, or moved
  Other,
};

/// By the task's category where one means one kind of work, otherwise by the calls in its PyTorch
/// module. Other if neither tells.
WorkKind kind_of_work(const tasks::Task& task);

/// Arithmetic operations for a byte that must move, at the search shape that has the most.
double operations_per_byte(const tasks::Task& task, const std::string& device_kind);

} // namespace winnow::agents
