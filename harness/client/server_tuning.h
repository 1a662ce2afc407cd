#pragma once

#include "harness/client/judge_server.h"
#include "harness/serve/judge_record.h"

#include <cstddef>
#include <stop_token>
#include <string>

namespace winnow::harness {

/// Lets a server try choices of a kernel's parameters, at most `most`, and returns its evaluation
/// of the best one. Throws UsageError, Error; Error also after a request to stop, which cancels the
/// job.
JudgeRecord tuned_at_server(const ServerOptions& options, const std::string& task,
                            const std::string& text, std::size_t most, const std::stop_token& stop);

} // namespace winnow::harness
