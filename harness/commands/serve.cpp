#include "agents/keys/key_source.h"
#include "base/error.h"
#include "base/files.h"
#include "base/freed_memory.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/profile.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/exit/interrupt.h"
#include "harness/machine/machine.h"
#include "harness/report/task_report.h"
#include "harness/report/terminal.h"
#include "harness/run/reports/reports.h"
#include "harness/run/session.h"
#include "harness/serve/board_pages.h"
#include "harness/serve/http/http_server.h"
#include "harness/serve/judge_routes.h"
#include "harness/serve/mailbox/mailbox_server.h"
#include "harness/serve/reward.h"
#include "harness/serve/served_tasks.h"
#include "harness/serve/server_application.h"
#include "tasks/catalogue.h"
#include "tasks/task/baseline.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct ServeCommand {
  std::string store;
  std::string bind = "127.0.0.1:8787";
  std::string socket, mailbox;
  std::string token_file, token_env, board_token;
  bool with_prompts = false;
  bool judge = false;
  JudgingOptions judging;
  std::string run = "serve";
  std::string reward = "kevin", config;
  bool seed_from_batch = false;
  std::vector<std::string> tasks; ///< folders beside the catalogue
  std::size_t queue = 4096;
  std::uint64_t owner_megabytes = 16'384;
};

Access access_of(const ServeCommand& command) {
  Access access;
  if (!command.token_file.empty()) {
    access.add_file(command.token_file);
  }
  if (!command.token_env.empty()) {
    agents::protect_keys({}); // the token is a secret like a key
    access.add_variable(command.token_env);
  }
  if (!command.board_token.empty()) {
    access.add_board_file(command.board_token);
  }
  if (!command.judge) { // there is nothing but the board, so a token is one for the board
    access.let_all_read();
  }
  return access;
}

BindAddress checked_bind(const ServeCommand& command, const Access& access) {
  BindAddress bind = parse_bind_address(command.bind);
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
  std::mutex mutex;
  HttpServer* server = nullptr; ///< nullptr: it does not run yet, or not any more
  void set(HttpServer* one) {
    const std::lock_guard lock(mutex);
    server = one;
  }
  /// HttpServer::post().
  template <typename... What> void post(What&&... what) {
    const std::lock_guard lock(mutex);
    if (server != nullptr) {
      server->post(std::forward<What>(what)...);
    }
  }
  std::function<void(std::function<void()>)> function() {
    return [this](std::function<void()> work) { post(std::move(work)); };
  }
  InTurn in_turn() {
    return [this](const std::string& owner, std::function<void()> work, Turn turn) {
      post(owner, std::move(work), turn);
    };
  }
};

/// Throws UsageError if there is no reward of the name in --reward.
Rewards rewards_of(const ServeCommand& command) {
  Rewards rewards = load_rewards(command.config);
  try {
    rewards.find(command.reward);
  } catch (const UsageError& error) {
    throw UsageError(std::string("--reward: ") + error.what(), error.remedy());
  }
  return rewards;
}

/// All that judges kernels for trainers.
class JudgePart {
public:
  JudgePart(const ServeCommand& command, const Access& access, Poster& poster)
      : options_(resolved(command.judging)), rewards_(rewards_of(command)),
        tasks_(tasks::find_catalogue(), command.tasks),
        devices_(open_devices(command.judging, options_)),
        store_(command.store, store::RunStore::Mode::ReadWrite), run_(own_run(command.run)),
        reports_(command.store, devices_->first(),
                 [this](const std::string& name) { return tasks_.find(name); }),
        service_(setup(command, access, poster)), routes_(service_, routes_setup(poster)) {}
  ~JudgePart() {
    try {
      store_.set_run_status(run_, "interrupted");
    } catch (const Error& error) {
      std::cerr << error.what() << '\n';
    }
  }
  JudgePart(const JudgePart&) = delete; // the routes refer to the service
  JudgePart& operator=(const JudgePart&) = delete;

  JudgeRoutes& routes() { return routes_; }
  /// Begins to judge what waits; says so in one line.
  std::string start() {
    store_.set_run_status(run_, "running");
    service_.start();
    const ServiceState state = service_.state();
    return fmt::format("judges on {} ({}); {} jobs of an earlier start wait", devices_->names(),
                       devices_->first().name, state.queued + state.running);
  }

private:
  store::RowId own_run(const std::string& name) {
    const std::optional<store::RunRow> known = store_.find_run(name);
    if (!known) {
      const store::RowId run =
          store_.create_run(name, config_of_server(), environment_of(*devices_));
      locked_run(store_, name);
      return run;
    }
    if (known->name != name || nlohmann::json::parse(known->config) != config_of_server()) {
      throw UsageError("the store has a search of the name '" + known->name + "'",
                       "give the server's run another name with --run NAME");
    }
    return locked_run(store_, name).id;
  }
  JudgeServiceSetup setup(const ServeCommand& command, const Access& access, Poster& poster) {
    constexpr std::size_t kAskedForEachDevice = 8;
    JudgeServiceSetup setup{store_, run_};
    setup.find_task = [this](const std::string& name) { return tasks_.find(name); };
    setup.evaluations = devices_->factory();
    setup.protocol = options_;
    setup.device_kind = devices_->first().kind;
    setup.device_name = devices_->first().name;
    setup.in_flight = kAskedForEachDevice * devices_->size();
    setup.queue = command.queue;
    setup.owner_bytes = command.owner_megabytes << 20U;
    setup.owners = access.owners();
    setup.allowance = [&access](const std::string& owner) {
      const std::size_t evaluations = access.evaluations_of(owner);
      return evaluations > 0 ? std::optional(Allowance{evaluations, hidden_draw_of("", owner)})
                             : std::nullopt;
    };
    setup.has_board = access.clients() > access.owners();
    setup.rewards = rewards_;
    setup.reward = command.reward;
    setup.seed_from_batch = command.seed_from_batch;
    setup.light = light_on(*devices_, options_.cache, command.judging.broker);
    setup.post = poster.function();
    return setup;
  }
  JudgeRoutes::Setup routes_setup(Poster& poster) {
    JudgeRoutes::Setup setup;
    setup.in_turn = poster.in_turn();
    setup.version = winnow_version();
    setup.task = [this](const std::string& name) { return served_task_json(*tasks_.find(name)); };
    setup.report = [this](const Target& target, const std::string& sees) {
      return reports_.page(target, sees);
    };
    setup.task_list = [this] {
      if (task_list_.is_null()) {
        std::vector<tasks::Task> all;
        for (const std::string& name : tasks_.names()) {
          all.push_back(*tasks_.find(name));
        }
        task_list_ = served_list_json(all);
      }
      return task_list_;
    };
    return setup;
  }

  evaluators::EvaluationOptions options_;
  Rewards rewards_;
  ServedTasks tasks_;
  std::unique_ptr<evaluators::DevicePool> devices_;
  store::RunStore store_;
  store::RowId run_;
  ServedReports reports_;
  JudgeService service_;
  JudgeRoutes routes_;
  nlohmann::json task_list_;
};

std::string store_of(const ServeCommand& command) {
  if (command.judge && command.store.empty()) {
    throw UsageError("--judge needs --store FILE", "name the file that keeps kernels and verdicts");
  }
  return command.judge ? command.store : find_store(command.store);
}

ExitCode serve(const ServeCommand& command) {
  give_back_freed_memory(); // as the next: before any other thread starts
  Interrupt interrupt;
  const Access access = access_of(command);
  const BindAddress bind = checked_bind(command, access);
  const std::string store = store_of(command);
  store::BoardOptions page;
  page.with_prompts = command.with_prompts;
  page.winnow_version = winnow_version();
  page.names_folder = bind.is_loopback && !access.has_tokens();
  Poster poster;
  std::optional<JudgePart> judge;
  if (command.judge) {
    judge.emplace(command, access, poster);
  }
  BoardPages board(store, page, poster.function());
  ServerApplication application(access, bind.is_loopback && !access.has_tokens(), board,
                                judge ? &judge->routes() : nullptr);
  HttpLimits limits;
  limits.owner_share = access.clients() > 1 ? 0.5 : 1;
  HttpServer server({bind, command.socket}, application, limits);
  poster.set(&server);
  std::optional<MailboxServer> mailbox;
  if (!command.mailbox.empty()) {
    std::error_code is_there_or_unwritable;
    std::filesystem::create_directory(command.mailbox, is_there_or_unwritable);
    mailbox.emplace(command.mailbox, std::nullopt, application, poster.in_turn());
  }
  const OnInterrupt stop(interrupt, [&] { server.stop(); });
  if (judge) {
    std::cerr << judge->start() << '\n';
  }
  std::cout << "serves at " << url_of(bind, server.port()) << std::endl;
  for (const std::string& also : {command.socket, command.mailbox}) {
    std::cout << (also.empty() ? "" : "serves at " + also + "\n") << std::flush;
  }
  server.run();
  mailbox.reset();
  judge.reset(); // its threads post to the server
  poster.set(nullptr);
  return ExitCode::Interrupted;
}

void add_judge_options(CLI::App& sub, ServeCommand& command) {
  CLI::Option* judge = sub.add_flag(
      "--judge", command.judge, "also judge the kernels that trainers send, and answer rewards");
  std::vector<CLI::Option*> known = sub.get_options();
  add_judging_options(sub, command.judging, several_devices());
  add_duration(sub, "--time-budget", command.judging.evaluation.time_budget, kTimeBudgetHelp);
  sub.add_option("--run", command.run, "name of the run that keeps the kernels in the store");
  sub.add_option("--reward", command.reward,
                 "the reward of requests that name none: kevin, log, stages, tiers, or one of "
                 "--config");
  sub.add_option("--config", command.config,
                 "TOML file with rewards of your own: tables [serve.reward.NAME]")
      ->check(CLI::ExistingFile);
  sub.add_flag("--seed-from-batch", command.seed_from_batch,
               "give all kernels of a request the same inputs, and each request other inputs "
               "(default: each evaluation draws its own); boards do not rank such evaluations")
      ->excludes("--seed");
  sub.add_option("--task", command.tasks,
                 "folder of a task that is not in the catalogue; may be repeated");
  sub.add_option("--queue", command.queue, "number of kernels that may wait; the tokens share it")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  sub.add_option("--owner-megabytes", command.owner_megabytes,
                 "how much of the store one token may fill with kernels and replies")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24U));
  sub.add_option("--precheck-cmd", command.judging.evaluation.precheck,
                 "shell command that may refuse kernel files, as for `winnow eval`");
  for (CLI::Option* option : sub.get_options()) {
    if (std::find(known.begin(), known.end(), option) == known.end()) {
      option->needs(judge);
    }
  }
}

} // namespace

void add_serve(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "serve",
      "Show a store in a browser, with the newest results; with --judge, answer rewards "
      "to trainers over HTTP (docs/serve.md)",
      serve);
  sub.add_option("--store", command.store, kStoreHelp);
  sub.add_option("--bind", command.bind, "address and port to listen at; port 0: any free one");
  sub.add_option("--socket", command.socket,
                 "also listen at this path, as a Unix socket of this user");
  sub.add_option("--mailbox", command.mailbox,
                 "also take requests as files in this folder, for programs in a sandbox that "
                 "forbids sockets");
  sub.add_option("--token-file", command.token_file,
                 "file with the tokens that clients must send: a line OWNER TOKEN for each, or "
                 "OWNER TOKEN reads_all for an owner that sees all, or OWNER TOKEN evaluations=100 "
                 "for one that may have so many kernels judged; mode 0600");
  sub.add_option("--board-token", command.board_token,
                 "file with a token that sees the board, and all jobs with --judge");
  sub.add_option("--token-env", command.token_env,
                 "environment variable with the only token, instead of a file")
      ->excludes("--token-file");
  sub.add_flag("--with-prompts", command.with_prompts, "show prompts and replies, too");
  add_judge_options(sub, command);
}

} // namespace winnow::harness
