#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/interrupt.h"
#include "harness/machine.h"
#include "harness/report/terminal.h"
#include "harness/serve/board_pages.h"
#include "harness/serve/http/http_server.h"
#include "harness/serve/server_application.h"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

struct ServeCommand {
  std::string store;
  std::string bind = "127.0.0.1:8787";
  std::string token_file, token_env;
  bool with_prompts = false;
};

Access access_of(const ServeCommand& command) {
  Access access;
  if (!command.token_file.empty()) {
    access.add_file(command.token_file);
  }
  if (!command.token_env.empty()) {
    access.add_variable(command.token_env);
  }
  return access;
}

BindAddress checked_bind(const ServeCommand& command, const Access& access) {
  const BindAddress bind = parse_bind_address(command.bind);
  if (!bind.is_loopback && !access.has_tokens()) {
    throw UsageError("--bind " + command.bind +
                         ": other machines could use this server without a token",
                     "give a token with --token-file or --token-env, or bind to 127.0.0.1");
  }
  return bind;
}

std::string url_of(const BindAddress& bind, std::uint16_t port) {
  const bool is_v6 = bind.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", bind.address, is_v6 ? "]" : "", port);
}

/// The application needs the server to post to, and the server needs the application.
struct Poster {
  HttpServer* server = nullptr;
  std::function<void(std::function<void()>)> function() {
    return [this](std::function<void()> work) { server->post(std::move(work)); };
  }
};

ExitCode serve(const ServeCommand& command) {
  Interrupt interrupt; // before any other thread starts
  const Access access = access_of(command);
  const BindAddress bind = checked_bind(command, access);
  store::BoardOptions page;
  page.with_prompts = command.with_prompts;
  page.winnow_version = winnow_version();
  Poster poster;
  BoardPages board(find_store(command.store), page, poster.function());
  ServerApplication application(access, bind.is_loopback && !access.has_tokens(), board, nullptr);
  HttpServer server(bind, application);
  poster.server = &server;
  const OnInterrupt stop(interrupt, [&] { server.stop(); });
  std::cout << "board: " << url_of(bind, server.port()) << std::endl;
  server.run();
  return ExitCode::Interrupted;
}

} // namespace

void add_serve(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<ServeCommand>();
  CLI::App* sub = app.add_subcommand(
      "serve", "Show a store in a browser, with the newest results (docs/serve.md)");
  sub->add_option("--store", command->store, kStoreHelp);
  sub->add_option("--bind", command->bind, "address and port to listen at; port 0: any free one")
      ->capture_default_str();
  sub->add_option("--token-file", command->token_file,
                  "file with the tokens that clients must send: a line OWNER TOKEN for each");
  sub->add_option("--token-env", command->token_env,
                  "environment variable with the only token, instead of a file")
      ->excludes("--token-file");
  sub->add_flag("--with-prompts", command->with_prompts, "show prompts and replies, too");
  sub->callback([command, &chosen] { chosen = [command] { return serve(*command); }; });
}

} // namespace winnow::harness
