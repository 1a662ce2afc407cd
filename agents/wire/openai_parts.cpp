#include "agents/wire/openai_parts.h"

namespace winnow::agents {

using nlohmann::json;

std::string_view OpenAiFormat::default_base_url() const {
  return "https://api.openai.com/v1";
}

std::string OpenAiFormat::url(const std::string& base, const std::string& /*model*/,
                              bool /*stream*/) const {
  return BaseUrl(base, default_base_url()).with(path_);
}

std::vector<std::string> OpenAiFormat::headers(const std::string& key) const {
  std::vector<std::string> headers{"Content-Type: application/json"};
  if (!key.empty()) {
    headers.push_back("Authorization: Bearer " + key);
  }
  return headers;
}

json OpenAiFormat::batch_item(const std::string& custom_id, json body) const {
  body.erase("stream");
  body.erase("stream_options");
  return {{"custom_id", custom_id},
          {"method", "POST"},
          {"url", "/v1" + std::string(path_)},
          {"body", std::move(body)}};
}

json openai_messages(const std::vector<Turn>& turns) {
  json messages = json::array();
  for (const Turn& turn : turns) {
    messages.push_back({{"role", turn.role}, {"content", turn.text()}});
  }
  return messages;
}

void add_prompt_cache_key(json& body, const ModelRequest& request) {
  if (const std::string key = prefix_key(request); !key.empty()) {
    body["prompt_cache_key"] = key;
  }
}

bool sends_temperature(const ModelRequest& request, const WireOptions& options) {
  const bool reasons = !request.effort.empty() && request.effort != "none";
  return request.temperature >= 0 && !(options.openai_itself && reasons);
}

} // namespace winnow::agents
