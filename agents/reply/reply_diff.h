#pragma once

#include "agents/reply/reply.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

constexpr std::size_t kMaxDiffBytes = 1U << 20U; ///< of the reply, and of the file that results
constexpr std::size_t kMaxBlocks = 200;

/// The parent with all blocks applied, or the reason why there is none.
struct AppliedBlocks {
  std::optional<std::string> text;
  std::string problem; ///< names the block, counted from 1; for the next prompt
};

/// Whether the text has a line that begins a search/replace block.
bool has_block(std::string_view reply);

/// Applies the search/replace blocks of a reply to `parent`:
///
///     <<<<<<< SEARCH
///     whole lines that occur exactly once in the parent
///     =======
///     lines that replace them
///     >>>>>>> REPLACE
///
/// Text outside of the blocks counts for nothing. Every block applies to the parent as it is;
/// blocks must not overlap, and must not touch the plan comment. CRs and spaces at line ends do not
/// count when lines are compared. Lines of the result end in LF.
AppliedBlocks apply_blocks(std::string_view parent, std::string_view reply);

/// The kernel file of a reply to the operator "diff": the parent with the reply's blocks applied.
/// A reply without blocks may hold a complete kernel file instead. Never throws.
ExtractedKernel extract_changed_kernel(std::string_view parent, std::string_view reply,
                                       std::string_view finish_reason);

} // namespace winnow::agents
