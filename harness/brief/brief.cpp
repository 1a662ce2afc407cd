#include "harness/brief/brief.h"

#include "agents/prompts/prompts.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "evaluators/evaluation/profile.h"
#include "harness/brief/result_parts.h"
#include "search/speed_bins.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json();
}

json shapes_with_light(const tasks::Evaluation& evaluation, const LightShares& light) {
  json shapes = shapes_json(evaluation);
  for (json& shape : shapes) {
    const auto found = light.by_shape.find(shape.at("shape").get<std::string>());
    shape["speed_of_light"] = found == light.by_shape.end() ? json() : json(found->second);
  }
  return shapes;
}

/// Whether an end of the interval lies further away than a change that a single measurement cannot
/// tell from noise, by which search::kSpeedEdges has its bin around 1.
bool is_wide(const tasks::Evaluation& evaluation) {
  const tasks::Bounds& bounds = evaluation.speedup_bounds;
  return bounds.known() &&
         (search::speed_bin(bounds.low / evaluation.speedup) != search::speed_bin(1) ||
          search::speed_bin(bounds.high / evaluation.speedup) != search::speed_bin(1));
}

json brief_speedup(const tasks::Evaluation& evaluation, const std::string& versus) {
  json speedup = speedup_json(evaluation, versus);
  if (!speedup.is_null()) {
    speedup["wide"] = is_wide(evaluation);
  }
  return speedup;
}

/// Of the shape at which they take longest. Null: the profile has none.
json steps_json(const tasks::Evaluation& evaluation) {
  json steps;
  double longest = 0;
  for (const evaluators::ProfiledShape& profiled : evaluators::profile_of(evaluation)) {
    double ns = 0;
    json list = json::array();
    for (const evaluators::StepTime& step : profiled.steps) {
      ns += step.ns;
      list.push_back({{"step", to_valid_utf8(step.step)}, {"count", step.count}, {"ns", step.ns}});
    }
    if (ns > longest) {
      longest = ns;
      steps = {{"shape", profiled.shape.shape}, {"times", std::move(list)}};
    }
  }
  return steps;
}

/// Fastest first, because long lists lose their ends.
json tried_json(std::vector<search::Trial> trials) {
  std::stable_sort(trials.begin(), trials.end(), [](const auto& a, const auto& b) {
    return search::overall(a) > search::overall(b);
  });
  json tried = json::array();
  for (const search::Trial& trial : trials) {
    const bool was_timed = !trial.speeds.empty();
    tried.push_back({{"parameters", tasks::parameters_text(trial.choice)},
                     {"verdict", was_timed ? "timed" : to_string(trial.verdict)},
                     {"speed", was_timed ? json(search::overall(trial)) : json()}});
  }
  return tried;
}

json kernels_json(const tasks::BuildRecord& build) {
  json kernels = json::array();
  for (const tasks::KernelResources& kernel : build.kernels) {
    kernels.push_back({{"kernel", to_valid_utf8(kernel.kernel)},
                       {"registers", kernel.registers},
                       {"spill_bytes", kernel.spill_store_bytes + kernel.spill_load_bytes},
                       {"static_shared_bytes", kernel.static_shared_bytes}});
  }
  return kernels;
}

std::string feedback_of(const BriefFacts& facts, const tasks::Evaluation& evaluation) {
  if (facts.only_compiled && is_compiled(evaluation, true)) {
    return "It compiles. Nothing was run.\n";
  }
  return to_valid_utf8(agents::feedback_text(evaluation, facts.versus));
}

json head_of(const BriefFacts& facts) {
  return {{"schema", "winnow.brief"},
          {"version", 1},
          {"task", to_valid_utf8(facts.task)},
          {"file", to_valid_utf8(facts.file)},
          {"digest", facts.digest}};
}

/// Numbers with five digits: an author needs no more.
void round_numbers(json& value) {
  for (json& inner : value) {
    if (inner.is_number_float()) {
      inner = std::stod(fmt::format("{:.5g}", inner.get<double>()));
    } else if (inner.is_structured()) {
      round_numbers(inner);
    }
  }
}

/// As it is printed.
bool is_long(const json& brief) {
  const std::string line = json_line(brief);
  return line.size() >= kBriefBytes || visible(line).size() >= kBriefBytes;
}

void shorten_texts(json& value, std::size_t bytes) {
  for (json& inner : value) {
    if (inner.is_string()) {
      inner = shortened(inner.get_ref<const std::string&>(), bytes);
    } else if (inner.is_structured()) {
      shorten_texts(inner, bytes);
    }
  }
}

void shorten_lists(json& brief, std::size_t most) {
  const auto shorten = [&](const char* name, json& list) {
    if (list.size() > most) {
      brief["more"][name] = list.size() - most;
      while (list.size() > most) {
        list.erase(std::prev(list.end()));
      }
    }
  };
  for (const char* name : {"shapes", "tried", "kernels", "findings", "parameters"}) {
    if (brief.contains(name)) {
      shorten(name, brief[name]);
    }
  }
  if (const auto steps = brief.find("steps"); steps != brief.end() && steps->is_object()) {
    shorten("steps", (*steps)["times"]);
  }
}

/// With that many bytes for the feedback.
json with_feedback_of(const json& whole, std::size_t bytes) {
  constexpr std::size_t kFewestBytes = 64; // of a name; a digest has as many
  constexpr std::size_t kBytesOfAnElement = 80;
  json brief = whole;
  shorten_lists(brief, bytes / kBytesOfAnElement);
  shorten_texts(brief, std::max(kFewestBytes, bytes / 8));
  for (const auto& [name, most] : {std::pair{"feedback", bytes}, {"detail", bytes / 2}}) {
    if (whole.contains(name)) {
      brief[name] = truncate_text(whole[name].get_ref<const std::string&>(), most);
    }
  }
  return brief;
}

} // namespace

LightShares light_shares(const evaluators::DeviceReport& device, const tasks::Task& task,
                         const tasks::Evaluation& evaluation, const profiling::Ceilings& ceilings) {
  LightShares shares{evaluators::share_of_speed_of_light(device, task, evaluation, ceilings), {}};
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device.kind)) {
    for (const tasks::CaseResult& one : evaluation.cases) {
      if (one.shape_id != shape.id || !(one.median_ns > 0)) {
        continue;
      }
      const auto light =
          evaluators::speed_of_light_of(device, task, shape, one.median_ns, ceilings);
      if (light.value) {
        shares.by_shape[one.shape] = light.value->fraction;
      }
    }
  }
  return shares;
}

json brief_json(const BriefFacts& facts, const tasks::Evaluation& evaluation) {
  json brief = head_of(facts);
  const bool is_correct = evaluation.verdict == tasks::Verdict::Correct;
  brief.update({{"verdict", to_string(evaluation.verdict)},
                {"stage", to_string(evaluation.stage)},
                {"promoted", is_correct && evaluation.promoted},
                {"detail", shown_detail(evaluation)},
                {"progress", progress_of(evaluation, facts.only_compiled)},
                {"feedback", feedback_of(facts, evaluation)},
                {"speedup", brief_speedup(evaluation, facts.versus)},
                {"time_ns", known(evaluation.score_ns)},
                {"speed_of_light", or_null(facts.light.mean)},
                {"shapes", shapes_with_light(evaluation, facts.light)},
                {"steps", steps_json(evaluation)},
                {"tried", tried_json(facts.tried)},
                {"kernels", kernels_json(evaluation.build)},
                {"findings", findings_json(evaluation)},
                {"parameters", evaluation.parameters},
                {"device", evaluation.device},
                {"device_name", to_valid_utf8(evaluation.device_name)},
                {"seconds", evaluation.seconds}});
  round_numbers(brief);
  return brief;
}

json brief_json(const BriefFacts& facts, const std::string& fault) {
  json brief = head_of(facts);
  brief.update({{"verdict", to_string(tasks::Verdict::Infrastructure)},
                {"detail", to_valid_utf8(fault)},
                {"progress", 0}});
  return brief;
}

json fitted_brief(const json& brief) {
  constexpr std::size_t kMostBytes = 2500, kFewestBytes = 80;
  json fitted = brief;
  for (std::size_t bytes = kMostBytes; is_long(fitted) && bytes >= kFewestBytes;
       bytes = bytes * 3 / 4) {
    fitted = with_feedback_of(brief, bytes);
  }
  return fitted;
}

} // namespace winnow::harness
