#pragma once

#include "agents/model/model_endpoint.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// One recorded call, stored as a line of JSON: {"schema":"winnow.call","version":1,"key","model",
/// "request","reply","finish_reason","usage":{"prompt_tokens","cached_tokens","completion_tokens",
/// "reasoning_tokens","cache_write_tokens"},"dollars","price","seconds","first_token_seconds",
/// "request_id","attempts","repaired","status","error"}. Only schema, version, key and reply are
/// required. `winnow export` writes such lines and replays read them. A line with "device" is for
/// runs on this kind of device, which prefer it to the line without.
struct RecordedCall {
  std::string key;
  ModelReply reply;
  std::string request;     ///< JSON text; may be empty
  std::string device = {}; ///< "cuda"; empty: any
};

std::string encode_call(const RecordedCall& call); ///< one line without a newline
/// Throws Error with the expected form.
RecordedCall decode_call(std::string_view line);
/// Skips empty lines. Throws UsageError with file:line and the expected form, also if a key appears
/// twice for one device.
std::vector<RecordedCall> read_recording(const std::filesystem::path& path);

} // namespace winnow::agents
