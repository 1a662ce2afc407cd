#pragma once

#include "tasks/plan/resolve/plan_context.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// The buffer and offset of a BufferReference at one shape. `buffer` is null if the reference picks
/// null.
struct BufferPlace {
  const Buffer* buffer = nullptr;
  std::int64_t offset = 0; ///< elements, below the buffer's count
};

BufferPlace resolve_buffer(const PlanContext& context, const BufferReference& reference,
                           const Scope& scope, const std::vector<Buffer>& buffers);

/// Appends the scratch buffers with their sizes at this shape to `buffers`. Their sum must fit into
/// the device's memory.
void add_scratch(const PlanContext& context, const Scope& scope, std::vector<Buffer>& buffers);

/// Returns nullopt for a count of 0. All functions of this file throw PlanMistake.
std::optional<FillStep> resolve_fill(const PlanContext& context, const Fill& fill,
                                     const Scope& scope, const std::vector<Buffer>& buffers);
std::optional<CopyStep> resolve_copy(const PlanContext& context, const Copy& copy,
                                     const Scope& scope, const std::vector<Buffer>& buffers);

} // namespace winnow::tasks
