#pragma once

#include "agents/wire/request_parts.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::agents {

// The common parts of OpenAI's two formats.

constexpr std::string_view kOpenAiBaseUrl = "https://api.openai.com/v1";

std::vector<std::string> openai_headers(const std::string& key);
nlohmann::json openai_messages(const std::vector<Turn>& turns); ///< [{role, content}]

/// OpenAI sends requests with the same key to the machine whose cache holds their prefix.
void add_prompt_cache_key(nlohmann::json& body, const ModelRequest& request);

/// False if the model reasons: OpenAI then refuses a temperature.
bool sends_temperature(const ModelRequest& request, const WireOptions& options);

/// Batches go to OpenAI itself or to providers that take the same files. They never stream.
WireOptions batch_options(const std::string& extra_body);
std::string openai_batch_line(const std::string& custom_id, std::string_view path,
                              nlohmann::json body);

} // namespace winnow::agents
