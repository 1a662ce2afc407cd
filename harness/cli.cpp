#include "harness/cli.h"

#include "base/error.h"
#include "base/text.h"
#include "harness/command_reference.h"
#include "harness/commands/commands.h"
#include "harness/exit/interrupt.h"
#include "harness/log.h"
#include "harness/machine/machine.h"
#include "harness/report/error_printer.h"
#include "harness/report/terminal.h"
#include "harness/report/text_table.h"
#include "harness/report/visible_output.h"
#include "process/spawn.h"
#include "tasks/catalogue.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

/// The innermost subcommand on the command line.
const CLI::App& reached(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : reached(*chosen.front());
}

/// Example: "winnow tasks selftest".
std::string command_words(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return app.get_name() + (chosen.empty() ? "" : " " + command_words(*chosen.front()));
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    names.push_back(sub->get_name());
  }
  return names;
}

/// `winnow help tasks show` means `winnow tasks show --help`; `winnow version`, `winnow --version`.
std::vector<std::string> with_options(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  } else if (arguments == std::vector<std::string>{"version"}) {
    arguments.front() = "--version";
  }
  return arguments;
}

/// What is wrong with a request for help that names no command; CLI11 would show the general help.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  const bool asks = std::any_of(arguments.begin(), arguments.end(), [](const std::string& word) {
    return word == "--help" || word == "-h";
  });
  const CLI::App* level = &app;
  for (std::size_t i = 0; asks && i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("-")) {
      i += word == "--log-level" ? 1 : 0;
      continue;
    }
    if (level->get_require_subcommand_min() == 0) {
      return {}; // an argument of the command
    }
    const auto named =
        level->get_subcommands([&word](const CLI::App* sub) { return sub->get_name() == word; });
    if (named.empty()) {
      return "unknown command '" + word + "'" + suggestion(word, names_of_commands(*level));
    }
    level = named.front();
  }
  return {};
}

/// The option or subcommand nearest to a word that no command knows.
std::string near_miss(const CLI::App& app) {
  const CLI::App& command = reached(app);
  std::vector<std::string> extras = app.remaining(true);
  std::erase(extras, "--"); // what follows is no option
  if (extras.empty()) {
    return {};
  }
  const std::string& word = extras.front();
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const CLI::App* level : {&command, &app}) { // global options are allowed everywhere
      for (const CLI::Option* option : level->get_options()) {
        for (const std::string& name : option->get_lnames()) {
          if (level == &command || command.get_option_no_throw("--" + name) == nullptr) {
            known.push_back("--" + name);
          }
        }
      }
    }
  } else {
    known = names_of_commands(command);
  }
  const std::string kind = word.starts_with("-") ? "option"
                           : known.empty()       ? "argument"
                                                 : "command";
  return "unknown " + kind + " '" + word.substr(0, word.find('=')) + "'" +
         suggestion(word.substr(0, word.find('=')), known);
}

/// Wraps help texts at `columns`. A line that is too long continues below its description, which
/// begins after the last gap of two spaces.
std::string fitted(const std::string& help, std::size_t columns) {
  std::string text;
  for (const std::string_view line : split_lines(help)) {
    const std::size_t gap = line.rfind("  ");
    const std::size_t indent = gap == std::string_view::npos ? 0 : gap + 2;
    text += wrap_line(line, columns, indent) + "\n";
  }
  return text;
}

std::string parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string what = near_miss(app);
  return what.empty() ? error.what() : what;
}

/// Whether the command answers a program: it names no store that it chose.
bool writes_json(const CLI::App& command) {
  const CLI::Option* json = command.get_option_no_throw("--json");
  const CLI::Option* format = command.get_option_no_throw("--format");
  return (json != nullptr && !json->empty()) ||
         (format != nullptr && format->as<std::string>() == "json");
}

/// The last line of a command that chose its store: another one may have become the newest.
void name_chosen_store(const CLI::App& command) {
  const std::string store = take_chosen_store();
  const bool has_option = command.get_option_no_throw("--store") != nullptr;
  if (!store.empty() && has_option && !writes_json(command)) {
    std::cerr << "store: " << store << '\n';
  }
}

int act(const Action& chosen, const ErrorPrinter& errors) {
  const auto report = [&errors](const Error& error, ExitCode code) {
    return errors.failure(error.what(), error.remedy(), code);
  };
  end_on_interrupt();
  try {
    const ExitCode code = chosen();
    std::cout.flush();
    if (!std::cout) {
      throw Error("cannot write to stdout (is the disk full?)");
    }
    return to_int(code);
  } catch (const UsageError& error) {
    return report(error, ExitCode::Usage);
  } catch (const DeviceUnavailable& error) {
    return report(error, ExitCode::DeviceUnavailable);
  } catch (const NotPermitted& error) {
    return report(error, ExitCode::NotPermitted);
  } catch (const Error& error) {
    return report(error, ExitCode::Failure);
  } catch (const nlohmann::json::exception& error) {
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.find("] ") + 2, what.size())); // "[json.exception...] "
    return report(Error(fmt::format("JSON of a form that Winnow does not write ({})", what),
                        "restore a copy of the store or of the file that the command reads"),
                  ExitCode::Failure);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(Error(fmt::format("{}: {}", error.path1().string(), error.code().message()),
                        "look whether the path exists, whether you may read and write there, and "
                        "whether the disk is full"),
                  ExitCode::Usage);
  } catch (const std::exception& error) {
    return report(Error(error.what()), ExitCode::Failure);
  }
}

CLI::App* add_printer(CLI::App& app, CLI::App& parent, Action& chosen, const char* name,
                      std::string (*text)(const CLI::App&)) {
  CLI::App* sub = parent.add_subcommand(name);
  sub->callback([&app, &chosen, text] {
    chosen = [&app, text] {
      std::cout << text(app);
      return ExitCode::Done;
    };
  });
  return sub;
}

/// For the build, which makes the man page with it.
void add_reference(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("_reference", "Print the man page");
  sub->group(""); // not in --help
  sub->require_subcommand(1);
  add_printer(app, *sub, chosen, "man", man_page);
}

std::string task_names(const CLI::App& /*app*/) {
  std::string names;
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(tasks::find_catalogue())) {
    names += entry.name + "\n";
  }
  return names;
}

void add_completion_scripts(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand(
      "completion", "Print a script that completes commands, options, tasks and strategies: "
                    "source <(winnow completion bash)");
  sub->require_subcommand(1);
  add_printer(app, *sub, chosen, "bash", bash_completion)->description("The script for bash");
  add_printer(app, *sub, chosen, "zsh", zsh_completion)->description("The script for zsh");
  add_printer(app, *sub, chosen, "tasks", task_names)
      ->description("The tasks of the catalogue, one a line: the scripts ask for them");
}

/// Commands that with_options() replaces: here for --help and the man page.
void add_words_for_options(CLI::App& app) {
  app.add_subcommand("help", "Print the help of a command: winnow help tasks selftest");
  app.add_subcommand("version", "Print the version");
}

/// Of commands that `winnow mcp` starts.
void end_with_parent(int parent) {
  try {
    process::watch_parent(parent, SIGTERM);
  } catch (const Error& error) {
    throw UsageError(std::string("--parent: ") + error.what());
  }
}

/// The first word that is neither an option nor the value of one that describe() allows everywhere.
std::string_view command_word(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("-")) {
      return words[i];
    }
    i += words[i] == "--log-level" || words[i] == "--parent" ? 1 : 0;
  }
  return {};
}

/// Describes one command if `word` names it, else all: their hundreds of options take 10 ms.
void add_commands(CLI::App& app, std::string_view word, Action& chosen) {
  const auto* const named = std::find_if(std::begin(kCommands), std::end(kCommands),
                                         [&](const auto& command) { return command.name == word; });
  if (named != std::end(kCommands)) {
    named->add(app, chosen);
    return;
  }
  for (const NamedCommand& command : kCommands) {
    command.add(app, chosen);
  }
  add_completion_scripts(app, chosen);
  add_words_for_options(app);
  add_reference(app, chosen);
}

void describe(CLI::App& app, std::string_view word, std::string& log_level, Action& chosen) {
  app.set_version_flag("--version", "winnow " + winnow_version());
  app.add_option("--log-level", log_level,
                 "trace, debug, info, warn, error or off; the log is on stderr")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option_function<int>("--parent", end_with_parent, "Process that ends this one by ending")
      ->group(""); // not in --help
  app.require_subcommand(1);
  app.fallthrough(); // allows global options after the subcommand: `winnow run --log-level debug`
  app.footer("Results are on stdout, the log on stderr.\n" + exit_code_table());
  add_commands(app, word, chosen);
  finish_options(app);
}

} // namespace

int run_cli(const std::vector<std::string>& arguments) {
  std::signal(SIGXFSZ,
              SIG_IGN); // a full file is an error with a message; children have the default
  const VisibleOutput visible_output;
  CLI::App app("Lets language models write GPU kernels and proves which are good.", "winnow");
  std::string log_level = "warn";
  Action chosen;
  const std::vector<std::string> words = with_options(arguments);
  describe(app, command_word(words), log_level, chosen);
  // Also for a command line that cannot be parsed.
  const ErrorPrinter errors(contains(words, "--json"), visible_output);
  if (const std::string what = unknown_command(app, words); !what.empty()) {
    return errors.misuse(what, "winnow");
  }
  try {
    // CLI11 takes the arguments in reverse order
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      std::ostringstream help; // contains the help or the version
      const int code = app.exit(error, help, std::cerr);
      std::cout << fitted(help.str(), output_columns().value_or(kUsualColumns));
      return code;
    }
    return errors.misuse(parse_error(app, error), command_words(app));
  } catch (const UsageError& error) {
    return errors.failure(error.what(), error.remedy(), ExitCode::Usage);
  }
  set_table_columns(output_columns().value_or(0));
  start_log(log_level);
  const int code = act(chosen, errors);
  name_chosen_store(reached(app));
  return code;
}

} // namespace winnow::harness
