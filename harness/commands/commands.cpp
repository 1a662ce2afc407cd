#include "harness/commands/commands.h"

#include "harness/config/duration.h"
#include "harness/named/named_task.h"
#include "store/run_store.h"
#include "tasks/task/task.h"

#include <fmt/format.h>

namespace winnow::harness {

namespace {

CLI::Validator number_check(bool (*is_good)(double), const char* what, const char* name) {
  return {[is_good, what](std::string& text) {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && is_good(value);
            return good ? std::string() : fmt::format("expected a number {}, not {}", what, text);
          },
          name};
}

} // namespace

CLI::Validator at_least_zero() {
  return number_check([](double value) { return value >= 0; }, "of at least 0", "");
}

CLI::Validator above_zero() {
  return number_check([](double value) { return value > 0; }, "above 0", "POSITIVE");
}

CLI::Option* add_duration(CLI::App& sub, const std::string& name, std::chrono::milliseconds& value,
                          const std::string& help) {
  constexpr std::chrono::minutes kShownInMinutes{2};
  CLI::Option* option = sub.add_option_function<std::string>(
      name, [name, &value](const std::string& text) { value = duration_option(name, text); }, help);
  if (value.count() > 0) {
    option->default_str(value < kShownInMinutes ? fmt::format("{}s", value.count() / 1000)
                                                : fmt::format("{}m", value.count() / 60'000));
  }
  return option;
}

void add_query_options(CLI::App& sub, store::LeaderboardQuery& query) {
  sub.add_option("--task", query.task, "only this task, by name or folder (default: all)")
      ->transform(name_in_stores);
  sub.add_option("--run", query.run, "only this run, by name or number (default: all)");
  sub.add_option("--device", query.device, "only this device: " + tasks::device_words(" or "));
}

void finish_options(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      option->allow_extra_args(false);
    }
    option->capture_default_str();
    const std::string usual = option->get_default_str();
    if (usual == "[]" || (usual == "0" && option->get_type_name().ends_with("POSITIVE"))) {
      option->default_str(""); // the help says what holds without the option
    }
  }
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    finish_options(*sub);
  }
}

} // namespace winnow::harness
