#include "harness/command_reference.h"

#include "base/text.h"
#include "harness/exit/exit_codes.h"
#include "harness/machine/machine.h"
#include "search/search.h"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

/// Text that roff prints as it is.
std::string roff(const std::string& text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) {
      escaped += "\\&";
    }
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    line_begins = c == '\n';
  }
  return escaped;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

/// "--device TEXT (best)"
std::string option_head(const CLI::Option& option) {
  std::string head = "\\fB" + roff(option.get_name(option.get_positional(), true)) + "\\fR";
  if (!option.get_positional() && !option.get_type_name().empty()) {
    head += " \\fI" + roff(option.get_type_name()) + "\\fR";
  }
  if (!option.get_default_str().empty()) {
    head += roff(" (" + option.get_default_str() + ")");
  }
  return head;
}

void add_options(const CLI::App& app, std::string& page) {
  for (const CLI::Option* option : shown_options(app)) {
    page += ".TP\n" + option_head(*option) + "\n" + roff(option->get_description()) + "\n";
  }
}

std::string synopsis(const CLI::App& app, const std::string& words) {
  std::string line = "\\fB" + roff(words) + "\\fR";
  for (const CLI::Option* option : shown_options(app)) {
    if (option->get_positional()) {
      const std::string name =
          option->get_name(true) + (option->get_items_expected_max() > 1 ? " ..." : "");
      line += roff(" " + (option->get_required() ? name : "[" + name + "]"));
    }
  }
  return line + roff(" [options]");
}

void add_command(const CLI::App& app, const std::string& words, std::string& page) {
  const std::vector<const CLI::App*> commands = shown_commands(app);
  page += ".SS " + roff(words) + "\n" + roff(app.get_description()) + ".\n";
  if (commands.empty()) {
    page += ".PP\n" + synopsis(app, words) + "\n";
    add_options(app, page);
  }
  for (const CLI::App* sub : commands) {
    add_command(*sub, words + " " + sub->get_name(), page);
  }
}

constexpr const char* kPlaces = R"(.SH ENVIRONMENT
.TP
.B WINNOW_STORE
The store for commands without --store.
.TP
.B WINNOW_CATALOGUE
A folder of tasks. Winnow uses it instead of its own catalogue.
.TP
.B WINNOW_PYTHON
The Python with PyTorch, by name or path.
.TP
.B CUDA_HOME
The folder of the CUDA toolkit, if the toolkit is not in a usual place.
.SH FILES
.TP
.I /usr/share/winnow
The tasks, configs and prices that come with Winnow.
.TP
.I /usr/share/doc/winnow
The documentation.
.TP
.I ~/.local/share/winnow/*.db
Stores. XDG_DATA_HOME moves them.
.TP
.I ~/.config/winnow/keys\fR, \fI~/.config/winnow/prices.toml
Keys and prices of your own. XDG_CONFIG_HOME moves them.
.TP
.I ~/.local/state/winnow/secret
By which Winnow knows the runs that you have stored. XDG_STATE_HOME moves it.
.TP
.I ~/.local/state/winnow/proofs
Which tasks `winnow tasks selftest` has proven.
.TP
.I ~/.cache/winnow
Compiled kernels. You may delete this folder. XDG_CACHE_HOME moves it.
)";

constexpr const char* kTasks = "$(winnow completion tasks 2>/dev/null)";

/// `--level TEXT:{a,b}` -> "a b"; empty where any value is taken.
std::string allowed_values(const CLI::Option& option) {
  if (option.check_lname("strategy")) {
    return join(search::strategy_names(), " ");
  }
  if (option.check_lname("task")) {
    return kTasks;
  }
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) {
    return {};
  }
  std::string values = type.substr(open + 1, close - open - 1);
  std::replace(values.begin(), values.end(), ',', ' ');
  return values;
}

bool takes_task(const CLI::App& app) {
  const std::vector<const CLI::Option*> options = app.get_options();
  return std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
    return option->get_positional() && option->get_name() == "TASK";
  });
}

struct Completion {
  std::string commands; ///< patterns of a case: "tasks"|"tasks list"
  std::string words;    ///< cases: what may follow a command
  std::string values;   ///< cases: what may follow an option
};

void add_completion(const CLI::App& app, const std::string& words, Completion& completion) {
  std::string subcommands;
  for (const CLI::App* sub : shown_commands(app)) {
    const std::string path = words + (words.empty() ? "" : " ") + sub->get_name();
    completion.commands += (completion.commands.empty() ? "\"" : "|\"") + path + "\"";
    subcommands += (subcommands.empty() ? "" : " ") + sub->get_name();
    add_completion(*sub, path, completion);
  }
  std::string options;
  for (const CLI::Option* option : shown_options(app)) {
    for (const std::string& name : option->get_lnames()) {
      options += (options.empty() ? "--" : " --") + name;
      if (const std::string values = allowed_values(*option); !values.empty()) {
        completion.values += fmt::format("    \"{} --{}\") known=\"{}\" ;;\n", words, name, values);
      }
    }
  }
  if (takes_task(app)) {
    subcommands = kTasks;
  }
  completion.words +=
      fmt::format("    \"{}\") commands=\"{}\" options=\"{}\" ;;\n", words, subcommands, options);
}

/// The part that bash and zsh share: from the words before the cursor to those that fit.
std::string choices(const CLI::App& app) {
  Completion completion;
  add_completion(app, "", completion);
  return "    case $longer in\n    " + completion.commands + R"() command=$longer ;;
    esac
  done
  local commands= options= known=
  case $command in
)" + completion.words +
         R"(  esac
  case "$command $before" in
)" + completion.values +
         R"(    *) if [[ $word == -* ]]; then known=$options; else known=$commands; fi ;;
  esac
)";
}

} // namespace

std::string man_page(const CLI::App& app) {
  std::string page = fmt::format(".TH WINNOW 1 \"\" \"winnow {0}\" \"User Commands\"\n"
                                 ".SH NAME\nwinnow \\- get language models to write GPU kernels, "
                                 "and prove which are good\n"
                                 ".SH SYNOPSIS\n.B winnow\n.I command\n[options]\n"
                                 ".SH DESCRIPTION\n{1}\nResults are on stdout, the log is on "
                                 "stderr.\n.SH OPTIONS\n",
                                 roff(winnow_version()), roff(app.get_description()));
  add_options(app, page);
  page += ".SH COMMANDS\n";
  for (const CLI::App* sub : shown_commands(app)) {
    add_command(*sub, sub->get_name(), page);
  }
  page += ".SH EXIT STATUS\n" + roff(exit_code_table()) + "\n";
  return page + kPlaces;
}

std::string bash_completion(const CLI::App& app) {
  return R"(# Completes the command line of winnow in bash.
_winnow() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= longer= at=
  for ((at = 1; at < COMP_CWORD; ++at)); do
    longer=${command:+$command }${COMP_WORDS[at]}
)" + choices(app) +
         R"(  COMPREPLY=($(compgen -W "$known" -- "$word"))
}
complete -o default -F _winnow winnow
)";
}

std::string zsh_completion(const CLI::App& app) {
  return R"(#compdef winnow
# Completes the command line of winnow in zsh.
_winnow() {
  local word=${words[CURRENT]} before=${words[CURRENT-1]} command= longer= at=
  for ((at = 2; at < CURRENT; ++at)); do
    longer=${command:+$command }${words[at]}
)" + choices(app) +
         R"(  compadd -- ${=known}
  [[ $word == -* ]] || _files
}
if [[ ${funcstack[1]} == _winnow ]]; then _winnow "$@"; else compdef _winnow winnow; fi
)";
}

} // namespace winnow::harness
