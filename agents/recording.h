#pragma once

#include "agents/model_endpoint.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// One recorded call: a line of JSON {"schema":"winnow.call","version":1,"key","model","request",
/// "reply","finish_reason","usage":{...},"dollars","seconds"}. Live runs export these, replay reads
/// them.
struct RecordedCall {
  std::string key;
  ModelReply reply;
  std::string request; ///< JSON text; may be empty
};

std::string encode_call(const RecordedCall& call); ///< one line without a newline
/// Throws UsageError with file:line and what was expected.
std::vector<RecordedCall> read_recording(const std::filesystem::path& path);

} // namespace winnow::agents
