#include "tasks/plan/kernel_file.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/text/positioned_json.h"
#include "tasks/plan/plan_parse.h"
#include "tasks/source/kernel_file_scan.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

/// Further messages about one file help nobody, and finding the line of each takes time.
constexpr std::size_t kMostMessages = 20;
constexpr std::size_t kMostSuggested = 64; ///< kernels of the file that a message may name

constexpr const char* kPlanForm = "a comment /*@winnow { \"launches\": [...] } @*/ before the code";

// Host-side libraries that models include out of habit. Device code never needs them.
bool is_host_only(std::string_view header) {
  constexpr std::array<std::string_view, 8> kFolders{"torch/",  "ATen/",     "c10/",   "pybind11/",
                                                     "caffe2/", "nanobind/", "numpy/", "tensorrt/"};
  constexpr std::array<std::string_view, 2> kHeaders{"Python.h", "NvInfer.h"};
  const bool plain = std::all_of(header.begin(), header.end(), [](char c) {
    return is_word_character(c) || std::string_view("./+-").find(c) != std::string_view::npos;
  });
  return plain && (std::any_of(kFolders.begin(), kFolders.end(),
                               [&](auto folder) { return header.starts_with(folder); }) ||
                   contains(kHeaders, header));
}

// "ns::row<{B}>" -> "row". Empty if placeholders form the name itself.
std::string_view base_name(std::string_view kernel) {
  kernel = trim(kernel.substr(0, kernel.find('<')));
  if (const std::size_t colons = kernel.rfind("::"); colons != std::string_view::npos) {
    kernel.remove_prefix(colons + 2);
  }
  return kernel.find('{') == std::string_view::npos ? kernel : std::string_view();
}

class KernelFileParser {
public:
  KernelFileParser(std::string_view text, std::string file_name) {
    file_.file = std::move(file_name);
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; // written by Windows editors
    file_.text = text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  }

  KernelFileResult parse() {
    if (check_text()) {
      scan_ = scan_kernel_file(file_.text);
      if (const auto* plan = find_plan()) {
        parse_the_plan(*plan);
        make_source();
      }
    }
    if (result_.errors.empty()) {
      check_kernels();
      warn_of_cut_off_code();
    }
    if (result_.errors.empty()) {
      result_.kernel_file = std::move(file_);
    }
    return std::move(result_);
  }

private:
  void fail(SourcePosition at, const std::string& what, const std::string& expected = {}) {
    result_.errors.push_back({file_.file, at, what, expected});
  }
  void warn(std::size_t offset, const std::string& what, const std::string& expected = {}) {
    if (result_.warnings.size() >= kMostMessages) {
      return;
    }
    result_.warnings.push_back({file_.file, position_of(file_.text, offset), what, expected});
  }

  bool check_text() {
    const std::string& text = file_.text;
    if (trim(text).empty()) {
      fail({}, "the kernel file is empty", "a launch plan and device code");
    } else if (text.size() > kMaxKernelFileBytes) {
      fail({}, fmt::format("the kernel file has {} bytes", text.size()),
           fmt::format("at most {}", kMaxKernelFileBytes));
      file_.text.clear();
    } else if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
      fail(position_of(text, nul), "a NUL byte", "text");
    } else if (const auto invalid = find_invalid_utf8(text)) {
      fail(position_of(text, *invalid), "not valid UTF-8", "UTF-8 text");
    }
    return result_.errors.empty();
  }

  const KernelFileScan::PlanComment* find_plan() {
    if (scan_.plans.empty()) {
      if (scan_.unclosed) {
        fail(position_of(file_.text, *scan_.unclosed),
             "no launch plan before a comment or string that never ends", kPlanForm);
      } else {
        fail({1, 1}, "the file has no launch plan", kPlanForm);
      }
      return nullptr;
    }
    const KernelFileScan::PlanComment& plan = scan_.plans.front();
    if (!plan.closed) {
      fail(position_of(file_.text, plan.begin),
           "the launch plan is not closed (is the file cut off?)",
           "'@*/' after the plan's last brace");
      return nullptr;
    }
    if (scan_.plans.size() > 1) {
      fail(position_of(file_.text, scan_.plans[1].begin), "a second launch plan", "one in a file");
      return nullptr;
    }
    return &plan;
  }

  void parse_the_plan(const KernelFileScan::PlanComment& comment) {
    const std::string_view text = file_.text;
    const std::string_view json_text =
        text.substr(comment.json_begin, comment.json_end - comment.json_begin);
    try {
      const JsonValue json = parse_json(json_text, position_of(text, comment.json_begin));
      file_.plan = parse_plan(json, text, file_.file, result_.errors);
    } catch (const JsonError& error) {
      fail(error.at(), fmt::format("in the launch plan: {}", error.what()), error.expected());
    }
  }

  // Edits from the back to the front, so that earlier offsets stay valid.
  void make_source() {
    file_.source = file_.text;
    for (auto include = scan_.includes.rbegin(); include != scan_.includes.rend(); ++include) {
      if (is_host_only(include->header)) {
        file_.source.insert(include->end, "*/");
        file_.source.insert(include->begin, "/*");
      }
    }
    for (const KernelFileScan::Include& include : scan_.includes) {
      if (is_host_only(include.header)) {
        warn(include.begin, fmt::format("the host-only header '{}' was left out", include.header),
             "device code only");
      }
    }
    blank_plan();
  }

  void blank_plan() {
    const KernelFileScan::PlanComment& plan = scan_.plans.front();
    std::size_t shift = 0; // what the comment marks of earlier includes added
    for (const KernelFileScan::Include& include : scan_.includes) {
      shift += include.begin < plan.begin && is_host_only(include.header) ? 4 : 0;
    }
    for (std::size_t i = plan.begin + shift; i < plan.end + shift; ++i) {
      char& c = file_.source[i];
      c = c == '\n' || c == '\r' ? c : ' ';
    }
  }

  void check_kernels() {
    std::vector<std::pair<std::string, SourcePosition>> used;
    for (const auto* launches : {&file_.plan.prepare, &file_.plan.launches}) {
      each_launch(*launches, [&](const Launch& launch) {
        if (const auto* kernel = std::get_if<KernelLaunch>(&launch.what)) {
          used.emplace_back(base_name(kernel->kernel), launch.at);
        }
      });
    }
    std::vector<std::string> defined;
    for (std::size_t i = 0; i < std::min(scan_.kernels.size(), kMostSuggested); ++i) {
      defined.push_back(scan_.kernels[i].name);
    }
    std::set<std::string> launched;
    bool all_known = true;
    for (const auto& [name, at] : used) {
      all_known = all_known && !name.empty();
      launched.insert(name);
      const bool known = name.empty() || scan_.pastes_tokens || scan_.identifiers.count(name) != 0;
      if (!known && result_.errors.size() < kMostMessages) {
        fail(at, fmt::format("the file defines no kernel '{}'{}", name, suggestion(name, defined)),
             "the name of a __global__ function");
      }
    }
    for (const KernelFileScan::Kernel& kernel : scan_.kernels) {
      if (all_known && !launched.contains(kernel.name)) {
        warn(kernel.offset, fmt::format("no launch uses kernel '{}'", kernel.name),
             "a launch of the kernel in the plan, or a file without the kernel");
      }
    }
  }

  void warn_of_cut_off_code() {
    if (scan_.unclosed) {
      warn(*scan_.unclosed, "a comment or string that never ends (is the file cut off?)");
    } else if (scan_.open_braces > 0) {
      warn(file_.text.size(), fmt::format("{} '{{' without '}}' at the end (is the file cut off?)",
                                          scan_.open_braces));
    }
  }

  KernelFile file_;
  KernelFileScan scan_;
  KernelFileResult result_;
};

Scope parameter_scope(const ParameterChoice& choice) {
  Scope scope;
  for (const auto& [name, value] : choice) {
    scope.set(name, value);
  }
  return scope;
}

} // namespace

KernelFileResult parse_kernel_file(std::string_view text, std::string file_name) {
  return KernelFileParser(text, std::move(file_name)).parse();
}

std::string parameters_text(const ParameterChoice& choice) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : choice) {
    parts.push_back(fmt::format("{}={}", name, value));
  }
  return join(parts, " ");
}

std::string kernel_digest(std::string_view text, const ParameterChoice& parameters) {
  return sha256_hex(std::string(text) + nlohmann::json(parameters).dump());
}

bool uses_fast_math(const Plan& plan, const ParameterChoice& choice) {
  return !plan.fast_math.expression.empty() &&
         plan.fast_math.expression.evaluate(parameter_scope(choice)) != 0;
}

} // namespace winnow::tasks
