#include "harness/report/eval_report.h"

#include "base/text.h"
#include "harness/report/json_table.h"
#include "tasks/result/speedup.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kSpeedupNote =
    "speedup: the median of baseline time / candidate time over pairs of launches, not the "
    "quotient of the two medians; 95 %: the interval of the speedup";
constexpr const char* kEagerNote =
    "speedup: the time of PyTorch eager / the candidate's time, measured in the same session, but "
    "not side by side; 95 %: the interval of the speedup";

bool is_versus_eager(const json& evaluation) {
  return versus_at(evaluation) == tasks::kVersusEager;
}

std::string microseconds(double ns) {
  return ns > 0 ? number_text(ns / 1000) : "";
}

/// "0.93-1.03"; empty if unknown.
std::string bounds_text(const json& document) {
  return speedup_interval_text(bounds_at(document, "speedup"));
}

std::string speedup_at(const json& document) {
  return speedup_text(number_at(document, "speedup"), bounds_at(document, "speedup"));
}

/// The document of a hidden case has no shape.
bool is_hidden(const json& result) {
  return !result.contains("shape");
}

/// Check mode runs all tiny shapes at once, so its failure is not a case of one shape.
bool failed_in_check_mode(const json& evaluation) {
  const json& verdict = evaluation.at("verdict");
  const json& cases = evaluation.at("cases");
  return verdict != "correct" && verdict != "not_judged" && verdict != "infrastructure" &&
         (evaluation.at("stage") == "check" || evaluation.at("stage") == "tiny") &&
         std::none_of(cases.begin(), cases.end(),
                      [&](const json& result) { return result.at("verdict") == verdict; });
}

std::string cases_table(const json& evaluation) {
  json cases = evaluation.at("cases");
  if (cases.empty()) {
    return {};
  }
  const bool timed = std::any_of(cases.begin(), cases.end(), [](const json& result) {
    return number_at(result, "speedup") > 0;
  });
  if (failed_in_check_mode(evaluation)) {
    cases.push_back({{"stage", "check"},
                     {"shape", "(all tiny shapes)"},
                     {"verdict", evaluation.at("verdict")}});
  }
  const auto shape = [](const json& result) {
    return is_hidden(result) ? "(hidden)" : text_at(result, "shape");
  };
  const auto error = [](const json& ratio) {
    return number_at(ratio, "") > 0 ? fmt::format("{:.3g}", number_at(ratio, "")) : "";
  };
  const auto median = [](const json& ns) { return microseconds(number_at(ns, "")); };
  const auto baseline = [](const json& result) {
    return is_hidden(result) ? "" : microseconds(number_at(result, "baseline_median_ns"));
  };
  const bool eager = is_versus_eager(evaluation);
  TextTable table = json_table(cases, {{{"stage"}, "stage"},
                                       {{"shape"}, "", shape},
                                       {{"verdict"}, "verdict"},
                                       {{"error / limit", true}, "max_error_ratio", error},
                                       {{"median us", true}, "median_ns", median},
                                       {{eager ? "eager us" : "baseline us", true}, "", baseline},
                                       {{"speedup", true}, "", speedup_at},
                                       {{"95 %", true}, "", bounds_text}});
  remove_empty_columns(table);
  return to_aligned_text(table, 0) +
         (timed ? wrap_line(eager ? kEagerNote : kSpeedupNote, table_columns(), 0) + "\n\n" : "\n");
}

std::string hidden_text(const json& evaluation) {
  std::string text;
  for (const json& result : evaluation.at("cases")) {
    if (const std::string speed = text_at(result, "speed"); !speed.empty() && speed != "counts") {
      text += "hidden shape, " + speed + "\n";
    }
  }
  const double speedup = number_at(evaluation, "hidden_speedup");
  if (speedup > 0) {
    text += fmt::format(
        "hidden shapes: {} {}{}\n", tasks::speedup_text(speedup), rival_speed(evaluation),
        evaluation.at("promoted") == false ? ", too slow there to lead a search" : "");
  }
  return text;
}

/// For each failing verdict in the table, the reason at its first shape. The deciding verdict is
/// left out, because its reason is printed anyway.
std::string other_failures(const json& evaluation) {
  std::string text;
  std::set<std::string> told{text_at(evaluation, "verdict"), "correct", "not_judged"};
  for (const json& result : evaluation.at("cases")) {
    const std::string detail = text_at(result, "detail");
    if (detail.empty()) {
      continue;
    }
    const bool said = text_at(evaluation, "detail").find(detail) != std::string::npos;
    if (told.insert(text_at(result, "verdict")).second && !said) {
      text += fmt::format("also {}: {} ({}): {}\n", text_at(result, "verdict"),
                          text_at(result, "shape_id"), text_at(result, "shape"), detail);
    }
  }
  return text;
}

/// Lines of the compiler's log that are not in the detail already.
std::string rest_of_log(const json& evaluation) {
  std::string text;
  const std::string detail = text_at(evaluation, "detail") + "\n";
  const std::string log = text_at(evaluation, "build/log");
  for (const std::string_view line : split_lines(log)) {
    const bool told = detail.find(std::string(line) + "\n") != std::string::npos;
    text += told ? "" : std::string(line) + "\n";
  }
  return text;
}

/// "cublaslt, m=64, n=64: 123.40 us, the candidate takes 0.81x as long"
std::string libraries_text(const json& cases) {
  std::string text;
  for (const json& result : cases) {
    for (const json& library : value_at(result, "libraries")) {
      text += fmt::format("{}, {}: ", text_at(library, "name"), text_at(result, "shape"));
      const double median = number_at(library, "median_ns");
      const double own = number_at(result, "median_ns");
      if (library.at("agrees") == true && median > 0) {
        text += microseconds(median) + " us";
        text += own > 0 ? ", the candidate takes " + number_text(own / median) + "x as long" : "";
      } else {
        text += "not compared: " + text_at(library, "error");
      }
      text += "\n";
    }
  }
  return text;
}

std::string resources_table(const json& build) {
  if (build.at("kernels").empty()) {
    return {};
  }
  const auto spilled = [](const json& kernel) {
    return fmt::format("{:.0f}", number_at(kernel, "spill_store_bytes") +
                                     number_at(kernel, "spill_load_bytes"));
  };
  const TextTable table = json_table(
      build.at("kernels"), {{{"kernel (" + text_at(build, "architecture") + ")"}, "kernel"},
                            {{"registers", true}, "registers"},
                            {{"spill B", true}, "", spilled},
                            {{"stack B", true}, "stack_bytes"},
                            {{"static shared B", true}, "static_shared_bytes"}});
  return to_aligned_text(table, 0) + "\n";
}

std::string verdict_with_reason(const json& evaluation) {
  const std::string name = text_at(evaluation, "verdict");
  if (name == "not_judged" && evaluation.at("stage") == "compile") {
    return "compiles (nothing was run)";
  }
  const auto verdict = tasks::verdict_from_string(name); // a store may name any
  return name == "correct" || !verdict ? name : fmt::format("{} ({})", name, describe(*verdict));
}

/// ", GPU-8f6b..., driver CUDA 13.0, worker beta": what is known beside the model of the device.
std::string judge_text(const json& evaluation) {
  std::string text;
  for (const auto& [member, label] :
       {std::pair{"device_uuid", ", "}, {"driver", ", driver "}, {"worker", ", worker "}}) {
    const std::string value = text_at(evaluation, member);
    text += value.empty() ? "" : label + on_one_line(value);
  }
  return text;
}

/// For the author of a CUDA program that is no kernel file: what Winnow needs instead.
std::string form_hint(const json& evaluation, std::string_view task_word) {
  const json& verdict = evaluation.at("verdict");
  const auto says = [&](const std::string& words) {
    return (text_at(evaluation, "detail") + evaluation.at("notes").dump()).find(words) !=
           std::string::npos;
  };
  const bool is_other_form =
      (verdict == "bad_plan" && (says("no launch plan") || says("the kernel file is empty") ||
                                 says("the file defines no kernel"))) ||
      (verdict != "correct" && (says("host code") || (says("of kernel '") && says("; expected"))));
  return is_other_form ? fmt::format("hint: {}\n", kernel_form(task_word)) : "";
}

} // namespace

std::string kernel_form(std::string_view task_word) {
  const std::string form = "a kernel file is device code with a launch plan, and has no host code";
  return task_word.empty()
             ? form
             : fmt::format("{}; `winnow tasks template {} FILE` writes one to begin with", form,
                           task_word);
}

std::string_view why_not_measured(const json& evaluation) {
  const json& verdict = evaluation.at("verdict");
  return verdict == "infrastructure" || verdict == "not_judged" ? "was not judged"
                                                                : "is not correct";
}

std::string rival_speed(const json& evaluation) {
  return "the speed of " + versus_at(evaluation);
}

std::string circumstances_text(const json& document, const json& evaluation) {
  const std::string seed = text_at(evaluation, "seed");
  const std::string unranked = text_at(document, "unranked");
  return fmt::format("{} on {}{}, isolation {}{}{}, {} s\n", text_at(document, "device"),
                     text_at(document, "device_name"), judge_text(evaluation),
                     text_at(document, "isolation"), seed.empty() ? "" : ", seed ", seed,
                     number_text(number_at(document, "seconds"), 1)) +
         (unranked.empty() ? "" : "boards do not rank this kernel: " + unranked + "\n");
}

std::string eval_text(const json& evaluation, std::string_view task_word) {
  const json& build = evaluation.at("build");
  std::string text = resources_table(build) + cases_table(evaluation) + hidden_text(evaluation) +
                     libraries_text(evaluation.at("cases"));
  for (const json& finding : build.at("findings")) {
    text +=
        fmt::format("machine code: {}: {}\n", text_at(finding, "kind"), text_at(finding, "detail"));
  }
  text += "verdict: " + verdict_with_reason(evaluation);
  if (const std::string speedup = speedup_at(evaluation); !speedup.empty()) {
    const std::string bounds = bounds_text(evaluation);
    text += fmt::format(", {} {}{}{}{}", speedup, rival_speed(evaluation),
                        bounds.empty() ? "" : " (95 %: ", bounds, bounds.empty() ? "" : ")");
    text += ", the geometric mean over the timed shapes";
  }
  const std::string detail = text_at(evaluation, "detail");
  text += "\n" + (detail.empty() ? "" : "detail: " + detail + "\n");
  text += other_failures(evaluation);
  text += evaluation.at("verdict") == "compile_error" ? rest_of_log(evaluation) : "";
  for (const json& note : evaluation.at("notes")) {
    text += "note: " + note.get<std::string>() + "\n";
  }
  text += form_hint(evaluation, task_word);
  const std::string parameters = parameters_at(evaluation);
  text += (parameters.empty() ? "no parameters" : parameters) + "; " +
          circumstances_text(evaluation, evaluation);
  return wrap_lines(text, table_columns(), 2);
}

} // namespace winnow::harness
