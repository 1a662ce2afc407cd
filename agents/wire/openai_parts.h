#pragma once

#include "agents/wire/request_parts.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::agents {

// What OpenAI's two formats share.

constexpr std::string_view kOpenAiBaseUrl = "https://api.openai.com/v1";

std::vector<std::string> openai_headers(const std::string& key);
nlohmann::json openai_messages(const std::vector<Turn>& turns); ///< [{role, content}]

/// OpenAI routes requests with the same key to the machine that has their prefix in its cache.
void add_prompt_cache_key(nlohmann::json& body, const ModelRequest& request);

/// OpenAI refuses a temperature where the model reasons.
bool sends_temperature(const ModelRequest& request, const WireOptions& options);

/// Batches go to OpenAI itself (or to those who take its files), and never stream.
WireOptions batch_options(const std::string& extra_body);
std::string openai_batch_line(const std::string& custom_id, std::string_view path,
                              nlohmann::json body);

} // namespace winnow::agents
