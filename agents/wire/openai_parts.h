#pragma once

#include "agents/wire/format_base.h"
#include "agents/wire/request_parts.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::agents {

// The common parts of OpenAI's two formats.

class OpenAiFormat : public WireFormat {
public:
  /// `path`: below the base URL, for instance "/responses".
  OpenAiFormat(std::string_view name, std::string_view path) : name_(name), path_(path) {}

  std::string_view name() const final { return name_; }
  std::string_view default_base_url() const final;
  std::string url(const std::string& base, const std::string& model, bool stream) const final;
  std::vector<std::string> headers(const std::string& key) const final;
  nlohmann::json batch_item(const std::string& custom_id, nlohmann::json body) const final;

private:
  std::string_view name_;
  std::string_view path_;
};

nlohmann::json openai_messages(const std::vector<Turn>& turns); ///< [{role, content}]

/// OpenAI sends requests with the same key to the machine whose cache holds their prefix.
void add_prompt_cache_key(nlohmann::json& body, const ModelRequest& request);

/// False if the model reasons: OpenAI then refuses a temperature.
bool sends_temperature(const ModelRequest& request, const WireOptions& options);

} // namespace winnow::agents
