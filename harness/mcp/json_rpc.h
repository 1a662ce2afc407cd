#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {

enum class RpcCode : int {
  NotJson = -32700,
  BadRequest = -32600,
  UnknownMethod = -32601,
  BadParams = -32602,
  Internal = -32603,
};

/// A request that gets an error for an answer.
class RpcFault : public std::runtime_error {
public:
  RpcFault(RpcCode code, const std::string& what, nlohmann::json id = nullptr)
      : std::runtime_error(what), code_(code), id_(std::move(id)) {}
  RpcCode code() const { return code_; }
  const nlohmann::json& id() const { return id_; } ///< null: the message told none

private:
  RpcCode code_;
  nlohmann::json id_;
};

struct RpcMessage {
  nlohmann::json id; ///< a string or a whole number; null: a notification, which gets no answer
  std::string method;
  nlohmann::json params; ///< an object
};

/// A message of JSON-RPC 2.0. nullopt: an answer, which belongs to no request, since a server of
/// tools sends none. Throws RpcFault.
std::optional<RpcMessage> parse_rpc(std::string_view line);

/// Whether a value can name a request or the progress of one: text or a whole number.
bool is_rpc_id(const nlohmann::json& value);

nlohmann::json rpc_answer(const nlohmann::json& id, nlohmann::json result);
/// Without an id if the message told none: the Model Context Protocol knows no id null.
nlohmann::json rpc_error(const RpcFault& fault);
nlohmann::json rpc_notification(const std::string& method, nlohmann::json params);

} // namespace winnow::harness
