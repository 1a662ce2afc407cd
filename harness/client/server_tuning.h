#pragma once

#include "harness/client/judge_server.h"
#include "harness/tuning/tuned_family.h"

#include <cstddef>
#include <stop_token>
#include <string>

namespace winnow::harness {

/// Lets a server try choices of a kernel's parameters, at most `most`. Throws UsageError, Error;
/// Error also after a request to stop, which cancels the job.
TunedFamily tuned_at_server(const ServerOptions& options, const std::string& task,
                            const std::string& text, std::size_t most, const std::stop_token& stop);

} // namespace winnow::harness
