#include "harness/serve/server_application.h"

#include "base/error.h"
#include "base/freed_memory.h"
#include "harness/serve/judge_routes.h"

#include <spdlog/spdlog.h>

namespace winnow::harness {
namespace {

/// The host without its port.
std::string_view host_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  return host.ends_with(']') || colon == std::string_view::npos ? host : host.substr(0, colon);
}

bool is_this_machine(std::string_view name) {
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

/// Whether a page of another site sends the request. Browsers name the site in all but a GET.
bool is_from_other_site(const HttpRequest& head) {
  return head.method != "GET" && !head.origin.empty() && !head.origin.ends_with("://" + head.host);
}

} // namespace

ServerApplication::ServerApplication(const Access& access, bool is_local, BoardPages& board,
                                     JudgeRoutes* judge)
    : access_(access), is_local_(is_local), board_(board), judge_(judge) {
  remember_health();
}

Admission ServerApplication::admit(const HttpRequest& head) {
  const std::optional<Target> target = parse_target(head.target);
  const std::optional<Client> client = access_.client_of(head.authorization);
  if (std::optional<HttpReply> refusal = refuse(head, target, client)) {
    return {std::move(refusal)};
  }
  if (head.method == "GET" && target->is({"v1", "health"})) {
    const std::lock_guard lock(mutex_);
    return {health_};
  }
  return {std::nullopt, client.value_or(Client{}).owner};
}

HttpReply unsaid_error(int status, const std::exception& error) {
  spdlog::error("serve: {}", error.what());
  return error_reply(status, "the server could not do this",
                     "its log says why; send the request again", 1);
}

std::optional<HttpReply> ServerApplication::refuse(const HttpRequest& head,
                                                   const std::optional<Target>& target,
                                                   const std::optional<Client>& client) const {
  // The name of another site may lead to this machine (DNS rebinding).
  if (is_local_ && !is_this_machine(host_name(head.host))) {
    return error_reply(403, "this server has no token, so it answers to the name localhost only",
                       "ask localhost, or start the server with --token-file");
  }
  if (is_from_other_site(head)) {
    return error_reply(403, "this server takes nothing from a page of another site");
  }
  const bool is_public = head.method == "GET" && target && target->is({"v1", "health"});
  if (!is_public && !client) {
    HttpReply reply =
        error_reply(401, "there is no such token", "send the header: Authorization: Bearer TOKEN");
    reply.asks_for_password = true;
    return reply;
  }
  if (!target) {
    return error_reply(400, "the target of the request is malformed");
  }
  if (head.method != "GET" && head.method != "POST" && head.method != "DELETE") {
    return error_reply(405, "this server knows GET, POST and DELETE");
  }
  return std::nullopt;
}

void ServerApplication::remember_health() {
  HttpReply health =
      judge_ != nullptr ? judge_->health() : error_reply(404, "this server does not judge");
  const std::lock_guard lock(mutex_);
  health_ = std::move(health);
}

void answering(Exchange& exchange, const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    exchange.reply(error_reply(422, error.what(), error.remedy()));
  } catch (const Error& error) {
    exchange.reply(unsaid_error(503, error));
  } catch (const std::exception& error) {
    exchange.reply(unsaid_error(500, error));
  }
}

void ServerApplication::handle(std::shared_ptr<Exchange> exchange) {
  answering(*exchange, [&] { route(exchange); });
}

void ServerApplication::route(const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& request = exchange->request();
  const Target target = parse_target(request.target).value();
  const std::optional<Client> client = access_.client_of(request.authorization);
  if (!client) { // admit() has refused it
    exchange->reply(error_reply(401, "there is no such token"));
  } else if (request.method == "GET" && target.is({})) {
    board_.answer(exchange, client->sees());
  } else if (request.method == "GET" && target.is({"version"})) {
    exchange->reply({200, board_.version() + "\n", "text/plain"});
  } else if (judge_ != nullptr) {
    judge_->answer(exchange, target, *client);
  } else {
    exchange->reply(error_reply(404, "this server has the pages / and /version",
                                "start it with --judge for /v1"));
  }
}

void ServerApplication::tick() {
  if (judge_ != nullptr) {
    judge_->tick();
  }
  remember_health();
  constexpr std::chrono::seconds kBetweenTrims{30}; // a large request leaves many free pages
  if (const auto now = std::chrono::steady_clock::now(); now - trimmed_ > kBetweenTrims) {
    trimmed_ = now;
    trim_freed_memory();
  }
}

void ServerApplication::end() {
  board_.end();
  if (judge_ != nullptr) {
    judge_->end();
  }
}

} // namespace winnow::harness
