#include "harness/mcp/session.h"

#include "base/error.h"
#include "base/text.h"
#include "harness/mcp/tool_call.h"
#include "harness/mcp/tools.h"

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

// The newest comes first. What tools need is the same in all of them.
constexpr std::array<std::string_view, 4> kRevisions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                     "2024-11-05"};

constexpr const char* kInstructions =
    "Winnow judges GPU kernels: it compiles them, proves their answers at shapes that you do not "
    "see, and times them beside a baseline. Read `rules` and `describe_task` first. Then write "
    "several variants, judge them with one call of `evaluate`, mend what its details say, and "
    "repeat. `profile` explains a slow kernel, `race` compares two fast ones. The judge decides: "
    "do not time kernels by yourself.";

/// A text or a whole number of the params; null: there is none.
nlohmann::json id_member(const nlohmann::json& object, const char* name,
                         const nlohmann::json& request) {
  const auto member = object.find(name);
  if (member == object.end()) {
    return nullptr;
  }
  if (!is_rpc_id(*member)) {
    throw RpcFault(RpcCode::BadParams, fmt::format("{} must be a text or a whole number", name),
                   request);
  }
  return *member;
}

std::string needed_text(const RpcMessage& request, const char* name) {
  const auto member = request.params.find(name);
  if (member == request.params.end() || !member->is_string()) {
    throw RpcFault(RpcCode::BadParams, fmt::format("{} needs the text '{}'", request.method, name),
                   request.id);
  }
  return member->get<std::string>();
}

const nlohmann::json& object_param(const nlohmann::json& params, const char* name,
                                   const nlohmann::json& request) {
  static const nlohmann::json none = nlohmann::json::object();
  const auto member = params.find(name);
  if (member != params.end() && !member->is_object()) {
    throw RpcFault(RpcCode::BadParams, fmt::format("{} must be an object", name), request);
  }
  return member == params.end() ? none : *member;
}

const Tool& named_tool(const RpcMessage& request) {
  const std::string name = needed_text(request, "name");
  const Tool* tool = find_named(tools(), name);
  if (tool == nullptr) {
    throw RpcFault(RpcCode::BadParams,
                   fmt::format("unknown tool '{}'{}", shortened(name, 60),
                               suggestion(name, each<std::string>(tools(), &Tool::name))),
                   request.id);
  }
  return *tool;
}

/// Sends what a call reports; each message has a larger number than the one before.
class ProgressMessages {
public:
  ProgressMessages(nlohmann::json token, std::function<void(const nlohmann::json&)> send)
      : token_(std::move(token)), send_(std::move(send)) {}

  void send(const std::string& what) const {
    if (!token_.is_null()) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
      send_(rpc_notification(
          "notifications/progress",
          {{"progressToken", token_}, {"progress", seconds.count()}, {"message", what}}));
    }
  }

private:
  nlohmann::json token_;
  std::function<void(const nlohmann::json&)> send_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace

McpSession::McpSession(Setup setup) : setup_(std::move(setup)), calls_(setup_.most_calls) {}

void McpSession::take(std::string_view line, bool too_long) {
  try {
    if (too_long) {
      throw RpcFault(RpcCode::BadRequest,
                     fmt::format("a message has more than {} MiB", kMostMessageBytes >> 20U));
    }
    if (trim(line).empty()) {
      return;
    }
    if (const std::optional<RpcMessage> message = parse_rpc(line)) {
      handle(*message);
    }
  } catch (const RpcFault& fault) {
    setup_.send(rpc_error(fault));
  }
}

void McpSession::handle(const RpcMessage& message) {
  if (message.id.is_null()) {
    notice(message);
    return;
  }
  if (calls_.has(message.id)) {
    throw RpcFault(RpcCode::BadRequest,
                   "a request of this id is being answered: each needs an id "
                   "of its own",
                   message.id);
  }
  if (!initialized_ && message.method != "initialize" && message.method != "ping") {
    throw RpcFault(RpcCode::BadRequest, "the first request must be 'initialize'", message.id);
  }
  if (message.method != "tools/call") {
    setup_.send(rpc_answer(message.id, answer(message)));
    return;
  }
  try {
    call(message);
  } catch (const Error& error) { // the machine has no room for a call
    throw RpcFault(RpcCode::Internal, with_remedy(error), message.id);
  }
}

/// A notification gets no answer, not even a wrong one.
void McpSession::notice(const RpcMessage& message) {
  const auto id = message.params.find("requestId");
  if (message.method == "notifications/cancelled" && id != message.params.end()) {
    calls_.cancel(*id);
  }
}

nlohmann::json McpSession::answer(const RpcMessage& request) {
  if (request.method == "initialize") {
    return initialize(request);
  }
  if (request.method == "ping") {
    return nlohmann::json::object();
  }
  if (request.method == "tools/list") {
    if (request.params.contains("cursor")) {
      throw RpcFault(RpcCode::BadParams, "the list of tools has one page, and so no cursor",
                     request.id);
    }
    return tool_list_json(is_at_server(setup_.server));
  }
  throw RpcFault(RpcCode::UnknownMethod,
                 fmt::format("unknown method '{}'", shortened(request.method, 60)), request.id);
}

nlohmann::json McpSession::initialize(const RpcMessage& request) {
  if (initialized_) {
    throw RpcFault(RpcCode::BadRequest, "the session has been initialized before", request.id);
  }
  const std::string asked = needed_text(request, "protocolVersion");
  initialized_ = true;
  return {{"protocolVersion", contains(kRevisions, asked) ? asked : std::string(kRevisions[0])},
          {"capabilities", {{"tools", nlohmann::json::object()}}},
          {"serverInfo", {{"name", "winnow"}, {"title", "Winnow"}, {"version", setup_.version}}},
          {"instructions", kInstructions}};
}

void McpSession::call(const RpcMessage& request) {
  const Tool& tool = named_tool(request);
  const nlohmann::json arguments = object_param(request.params, "arguments", request.id);
  const nlohmann::json token =
      id_member(object_param(request.params, "_meta", request.id), "progressToken", request.id);
  if (calls_.is_full()) {
    setup_.send(rpc_answer(
        request.id, tool_error(fmt::format("{} calls are running already", setup_.most_calls),
                               "wait for one; `evaluate` takes several kernels in one call")));
    return;
  }
  calls_.start(request.id, [this, id = request.id, &tool, arguments,
                            progress = ProgressMessages(token, setup_.send)](const auto& goes_on) {
    const auto result = call_tool(tool, arguments, setup_.server, setup_.runner,
                                  {goes_on, [&](const std::string& what) { progress.send(what); }});
    if (result && goes_on()) {
      setup_.send(rpc_answer(id, *result));
    }
  });
}

} // namespace winnow::harness
