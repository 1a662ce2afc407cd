#include "harness/mcp/json_rpc.h"

#include "agents/json/json_text.h"
#include "base/error.h"
#include "base/text.h"

#include <fmt/format.h>

namespace winnow::harness {
namespace {

nlohmann::json parsed_message(std::string_view line) {
  if (const auto at = find_invalid_utf8(line)) {
    throw RpcFault(RpcCode::NotJson, fmt::format("the message is not UTF-8 at byte {}", *at));
  }
  try {
    return agents::parse_untrusted_json(line);
  } catch (const Error& error) {
    // It quotes a part of the text, which may end within a character.
    throw RpcFault(RpcCode::NotJson, to_valid_utf8(error.what()));
  }
}

/// The id of an object that may be no request at all.
nlohmann::json told_id(const nlohmann::json& message) {
  const auto id = message.find("id");
  return id != message.end() && is_rpc_id(*id) ? *id : nlohmann::json();
}

bool is_rpc_answer(const nlohmann::json& message) {
  return !message.contains("method") && (message.contains("result") || message.contains("error"));
}

void check_form(const nlohmann::json& message) {
  const nlohmann::json id = told_id(message);
  if (message.value("jsonrpc", nlohmann::json()) != "2.0") {
    throw RpcFault(RpcCode::BadRequest, "a message needs \"jsonrpc\": \"2.0\"", id);
  }
  if (message.contains("id") && id.is_null()) {
    throw RpcFault(RpcCode::BadRequest, "the id of a request is a text or a whole number");
  }
  const auto method = message.find("method");
  if (method == message.end() || !method->is_string()) {
    throw RpcFault(RpcCode::BadRequest, "a message needs a method, which is a text", id);
  }
  const auto params = message.find("params");
  if (params != message.end() && !params->is_object()) {
    throw RpcFault(RpcCode::BadParams, "params must be an object", id);
  }
}

} // namespace

bool is_rpc_id(const nlohmann::json& value) {
  return value.is_string() || value.is_number_integer();
}

std::optional<RpcMessage> parse_rpc(std::string_view line) {
  const nlohmann::json message = parsed_message(line);
  if (message.is_array()) {
    throw RpcFault(RpcCode::BadRequest, "batches are no part of this revision of the protocol: "
                                        "send one message a line");
  }
  if (!message.is_object()) {
    throw RpcFault(RpcCode::BadRequest, "a message must be an object");
  }
  if (is_rpc_answer(message)) {
    return std::nullopt;
  }
  check_form(message);
  return RpcMessage{told_id(message), message["method"].get<std::string>(),
                    message.value("params", nlohmann::json::object())};
}

nlohmann::json rpc_answer(const nlohmann::json& id, nlohmann::json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

nlohmann::json rpc_error(const RpcFault& fault) {
  nlohmann::json answer{
      {"jsonrpc", "2.0"},
      {"error", {{"code", static_cast<int>(fault.code())}, {"message", fault.what()}}}};
  if (!fault.id().is_null()) {
    answer["id"] = fault.id();
  }
  return answer;
}

nlohmann::json rpc_notification(const std::string& method, nlohmann::json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

} // namespace winnow::harness
