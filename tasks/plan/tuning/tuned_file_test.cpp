#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/plan_test_support.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/plan/tuning/tuned_file.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;

KernelFile parsed_file(const std::string& text) {
  KernelFileResult result = parse_kernel_file(text, "k.cu");
  EXPECT_EQ(errors_of(text), "");
  return result.kernel_file.value_or(KernelFile{});
}

/// A plan with these members, and one launch with BLOCK threads.
std::string file_text(const std::string& members,
                      const std::string& code = "__global__ void k(float* y) {}") {
  return "// Written by hand.\n/*@winnow {\n  " + members + R"text(,
  "launches": [ {"kernel": "k", "grid": ["ceil_div(cols, BLOCK)"],
                 "block":   "BLOCK", "args": ["y"]} ]
}@*/
)text" + code +
         "\n";
}

ShapeWinner winner(std::int64_t rows, std::int64_t cols, ParameterChoice choice) {
  return {sample_shape(rows, cols), std::move(choice)};
}

/// The new text; empty: none, with the reason in `reason_given`.
std::string dispatched(const std::string& text, const std::vector<ShapeWinner>& winners,
                       std::string* reason_given = nullptr) {
  std::string reason;
  const auto result = with_dispatch(parsed_file(text), sample_task(), winners, reason);
  EXPECT_EQ(result.has_value(), reason.empty());
  if (reason_given != nullptr) {
    *reason_given = reason;
  } else {
    EXPECT_EQ(reason, "");
  }
  return result.value_or("");
}

std::string why_not(const std::string& text, const std::vector<ShapeWinner>& winners) {
  std::string reason;
  EXPECT_EQ(dispatched(text, winners, &reason), "");
  return reason;
}

/// `text` with one part replaced.
std::string changed(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

const std::string kParams = R"("params": { "BLOCK": [64, 128,
              256], "FAST": [false, true], "ONE": 7 })";

TEST(WithDefault, MovesTheValuesToTheFront) {
  const std::string text = file_text(kParams);
  const std::string tuned =
      with_default(parsed_file(text), {{"BLOCK", 256}, {"FAST", 1}, {"ONE", 7}});
  EXPECT_EQ(tuned, changed(text, kParams, R"("params": { "BLOCK": [256, 64,
              128], "FAST": [true, false], "ONE": 7 })"));
  EXPECT_EQ(parameter_choices(parsed_file(tuned).plan, 1).front(),
            (ParameterChoice{{"BLOCK", 256}, {"FAST", 1}, {"ONE", 7}}));
}

TEST(WithDefault, OfTheDefaultIsTheSameText) {
  const std::string text = file_text(kParams);
  EXPECT_EQ(with_default(parsed_file(text), {{"BLOCK", 64}, {"FAST", 0}, {"ONE", 7}}), text);
  EXPECT_EQ(with_default(parsed_file(text), {{"BLOCK", 9}, {"OTHER", 9}}), text);
}

TEST(WithDefault, KeepsLineEndsAndTextBeforeThePlan) {
  std::string text = "/* \xC3\xA4 \"[\" */\r\n" + file_text(R"("params": {"BLOCK" :[ 1,2 ,3]})");
  EXPECT_EQ(with_default(parsed_file(text), {{"BLOCK", 3}}), changed(text, "1,2 ,3", "3,1 ,2"));
}

TEST(WithDefault, OfEveryBaseline) {
  for (const CatalogueEntry& entry : list_tasks(WINNOW_CATALOGUE)) {
    const KernelFile file = parsed_file(load_task(entry.folder).baseline);
    for (const ParameterChoice& choice : parameter_choices(file.plan, 8)) {
      const KernelFile tuned = parsed_file(with_default(file, choice));
      EXPECT_EQ(parameter_choices(tuned.plan, 1).front(), choice) << entry.name;
      EXPECT_EQ(tuned.source, file.source) << entry.name;
    }
  }
}

TEST(WithDispatch, TakesOutTheLastAndTheFirstParameters) {
  const std::string text =
      file_text(R"("params": {"A": [1, 2], "B": [1, 2], "BLOCK": 32, "C": [1, 2], "D": [1, 2]})");
  ParameterChoice small{{"A", 1}, {"B", 1}, {"BLOCK", 32}, {"C", 1}, {"D", 1}};
  ParameterChoice large{{"A", 2}, {"B", 2}, {"BLOCK", 32}, {"C", 2}, {"D", 2}};
  EXPECT_THAT(dispatched(text, {winner(1, 1, small), winner(1, 99, large)}),
              HasSubstr(R"("params": {"BLOCK": 32}, "let": { "A": "cols >= 10 ? 2 : 1", "B")"));
}

TEST(WithDispatch, OneParameterByOneAxis) {
  const std::string text = file_text(R"("params": { "BLOCK": [128, 256, 512] })");
  const std::string tuned =
      dispatched(text, {winner(4, 262144, {{"BLOCK", 128}}), winner(4, 16777216, {{"BLOCK", 128}}),
                        winner(4, 50000017, {{"BLOCK", 512}})});
  EXPECT_EQ(tuned, changed(text, R"({ "BLOCK": [128, 256, 512] })",
                           R"({  }, "let": { "BLOCK": "cols >= 29000000 ? 512 : 128" })"));
}

TEST(WithDispatch, KeepsTheOtherParameters) {
  const std::string text = file_text(R"("params": {
    "A": [1, 2],
    "BLOCK": [128, 256],
    "B": [5, 6],
    "C": [1, 3]
  },
  "let": { "half": "BLOCK / 2" },
  "where": ["A < 3", "BLOCK * B <= 2048", "BLOCK * C <= 1024", "BLOCK > A - A"])");
  const std::string tuned =
      dispatched(text, {winner(4, 10, {{"A", 2}, {"BLOCK", 128}, {"B", 5}, {"C", 1}}),
                        winner(9, 1000, {{"A", 2}, {"BLOCK", 256}, {"B", 6}, {"C", 1}})});
  EXPECT_EQ(tuned, file_text(R"("params": {
    "A": [2, 1],
    
    
    "C": [1, 3]
  },
  "let": { "BLOCK": "rows >= 6 ? 256 : 128", "B": "rows >= 6 ? 6 : 5", "half": "BLOCK / 2" },
  "where": ["A < 3", "128 * C <= 1024", "256 * C <= 1024", "128 > A - A", "256 > A - A"])"));
}

TEST(WithDispatch, SeveralThresholds) {
  const std::string text =
      file_text(R"("params": {"BLOCK": [32, 64, 128], "V": [1, 2]}, "let": {})");
  const std::string tuned = dispatched(text, {winner(4, 1000, {{"BLOCK", 64}, {"V", 2}}),
                                              winner(4, 100000, {{"BLOCK", 64}, {"V", 1}}),
                                              winner(4, 9, {{"BLOCK", 32}, {"V", 2}}),
                                              winner(4, 200000, {{"BLOCK", 128}, {"V", 1}})});
  EXPECT_THAT(tuned, HasSubstr(R"("BLOCK": "cols >= 140000 ? 128 : cols >= 95 ? 64 : 32")"));
  EXPECT_THAT(tuned, HasSubstr(R"("V": "cols >= 10000 ? 1 : 2")"));
}

TEST(WithDispatch, ByTheProductOfAllAxes) {
  const std::string text = file_text(R"("params": {"BLOCK": [32, 64]})");
  const std::string tuned =
      dispatched(text, {winner(1, 100, {{"BLOCK", 32}}), winner(100, 1, {{"BLOCK", 32}}),
                        winner(2, 90, {{"BLOCK", 32}}), winner(50, 50, {{"BLOCK", 64}})});
  EXPECT_THAT(tuned, HasSubstr(R"("BLOCK": "rows * cols >= 670 ? 64 : 32")"));
}

TEST(WithDispatch, WinnersThatAgreeNeedNoBinding) {
  const std::string text = file_text(R"("params": {"BLOCK": [32, 64]})",
                                     "int a = BLOCK; __global__ void k(float* y) {}");
  EXPECT_EQ(dispatched(text, {winner(1, 100, {{"BLOCK", 64}}), winner(9, 1, {{"BLOCK", 64}})}),
            changed(text, "32, 64", "64, 32"));
}

TEST(WithDispatch, NothingSeparatesTheWinners) {
  const std::string text = file_text(R"("params": {"BLOCK": [32, 64]})");
  EXPECT_EQ(why_not(text, {winner(1, 10, {{"BLOCK", 32}}), winner(1, 100, {{"BLOCK", 64}}),
                           winner(1, 1000, {{"BLOCK", 32}})}),
            "neither one axis nor the product of all axes separates the winners");
  EXPECT_THAT(why_not(text, {winner(1, 10, {{"BLOCK", 32}}), winner(1, 10, {{"BLOCK", 64}})}),
              HasSubstr("separates the winners"));
}

TEST(WithDispatch, WinnersMustBeAllowed) {
  const std::string text = file_text(R"("params": {"BLOCK": [32, 64]}, "where": ["BLOCK < 64"])");
  EXPECT_EQ(why_not(text, {}), "there are no winners");
  EXPECT_EQ(why_not(text, {winner(1, 10, {{"BLOCK", 64}})}),
            "the plan does not allow the choice BLOCK=64");
  EXPECT_THAT(why_not(text, {winner(1, 10, {})}), HasSubstr("does not allow"));
}

TEST(WithDispatch, TheCompilerMayNotSeeTheParameter) {
  const std::vector<ShapeWinner> winners{winner(1, 10, {{"BLOCK", 32}}),
                                         winner(1, 1000, {{"BLOCK", 64}})};
  const std::string params = R"("params": {"BLOCK": [32, 64]})";
  EXPECT_EQ(why_not(file_text(params, "__global__ void k(float* y) { y[BLOCK] = 1; }"), winners),
            "the device code may use the parameter 'BLOCK' in line 7");
  EXPECT_THAT(why_not(file_text(params + R"(, "compile": {"fast_math": "BLOCK > 32"})"), winners),
              HasSubstr("\"fast_math\" depends on"));
  for (const char* constant : {"sizeof(T<{BLOCK}>)", "f(BLOCK)"}) {
    EXPECT_THAT(
        why_not(file_text(params + R"(, "let": {"c": {"const": ")" + constant + "\"}}"), winners),
        HasSubstr("a device constant or the name of a kernel"));
  }
  const std::string code = "template <int N> __global__ void k(float* y) {}";
  EXPECT_THAT(why_not(changed(file_text(params, code), "\"k\"", "\"k<BLOCK>\""), winners),
              HasSubstr("a device constant or the name of a kernel"));
  EXPECT_THAT(dispatched(changed(file_text(params, code), "\"k\"", "\"k<{BLOCK}>\""), winners),
              HasSubstr("\"cols >= 100 ? 64 : 32\""));
}

TEST(WithDispatch, NegativeValuesKeepTheirSignInConditions) {
  const std::string text =
      file_text(R"("params": {"BLOCK": [32], "A": [-1, 2], "B": [8, 9]}, "where": ["B -A < 20"])");
  EXPECT_THAT(dispatched(text, {winner(1, 10, {{"BLOCK", 32}, {"A", -1}, {"B", 8}}),
                                winner(1, 1000, {{"BLOCK", 32}, {"A", 2}, {"B", 8}})}),
              HasSubstr(R"("where": ["B -(-1) < 20", "B -2 < 20"])"));
}

// Baselines of the catalogue

struct Baseline {
  Task task;
  KernelFile file;
};

Baseline baseline_of(const std::string& name) {
  Baseline result{find_task(WINNOW_CATALOGUE, name), {}};
  result.file = parsed_file(result.task.baseline);
  return result;
}

/// The plan's values of the first parameter, one after the other along the shapes.
std::vector<ShapeWinner> winners_of(const Baseline& baseline) {
  const Parameter& parameter = baseline.file.plan.parameters.front();
  std::vector<Shape> shapes = baseline.task.shapes_of(ShapeSet::Search, "cuda");
  const std::string axis = baseline.task.axes.front().name;
  std::sort(shapes.begin(), shapes.end(),
            [&](const Shape& a, const Shape& b) { return a.axes.at(axis) < b.axes.at(axis); });
  std::vector<ShapeWinner> winners;
  const ParameterChoice usual = parameter_choices(baseline.file.plan, 1).front();
  for (const Shape& shape : shapes) {
    winners.push_back({shape, usual});
    const bool large = shape.axes.at(axis) == shapes.back().axes.at(axis);
    winners.back().choice[parameter.name] = parameter.values.at(large ? 2 : 0);
  }
  return winners;
}

TEST(WithDispatch, OfAxpy) {
  const Baseline axpy = baseline_of("axpy");
  std::string reason;
  const auto tuned = with_dispatch(axpy.file, axpy.task, winners_of(axpy), reason);
  ASSERT_TRUE(tuned) << reason;
  EXPECT_THAT(*tuned,
              HasSubstr(R"("params": {  }, "let": { "BLOCK": "n >= 29000000 ? 512 : 256" })"));
}

/// Resolves a plan with the signatures of its parameters unknown: only axpy and gemm_f32 below.
std::optional<ResolvedPlan> resolved(const KernelFile& file, const Task& task, const Shape& shape,
                                     const ParameterChoice& choice, const char* parameters) {
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings;
  CompiledFacts compiled;
  for (const std::string& name :
       kernel_names(file, task, {shape}, choice, hopper_facts(), errors)) {
    compiled.signatures.push_back({name, decode_parameters(parameters).value(), {}});
  }
  auto plan = resolve_plan(file, task, shape, choice, hopper_facts(), compiled, errors, warnings);
  for (const Diagnostic& error : errors) {
    ADD_FAILURE() << to_string(error);
  }
  return plan;
}

TEST(WithDispatch, LaunchesWhatTheWinnersLaunch) {
  for (const auto& [name, parameters] :
       {std::pair{"axpy", "p4fc:x p4fc:y p4f:z f4:alpha i4:n"},
        std::pair{"gemm_f32", "p4fc:a p4fc:b p4f:c i4:m i4:n i4:k"}}) {
    const Baseline baseline = baseline_of(name);
    const auto winners = winners_of(baseline);
    std::string reason;
    const auto tuned = with_dispatch(baseline.file, baseline.task, winners, reason);
    ASSERT_TRUE(tuned) << name << ": " << reason;
    const KernelFile file = parsed_file(*tuned);
    for (const ShapeWinner& winner : winners) {
      const auto before =
          resolved(baseline.file, baseline.task, winner.shape, winner.choice, parameters);
      const auto after = resolved(file, baseline.task, winner.shape, {}, parameters);
      ASSERT_TRUE(before && after);
      const auto& one = std::get<LaunchStep>(before->steps.at(0));
      const auto& other = std::get<LaunchStep>(after->steps.at(0));
      EXPECT_EQ(one.kernel, other.kernel);
      EXPECT_EQ(one.grid, other.grid);
      EXPECT_EQ(one.block, other.block);
    }
  }
}

TEST(WithDispatch, OfEveryBaseline) {
  for (const CatalogueEntry& entry : list_tasks(WINNOW_CATALOGUE)) {
    const Baseline baseline = baseline_of(entry.name);
    if (baseline.file.plan.parameters.empty() ||
        baseline.file.plan.parameters.front().values.size() < 3) {
      continue;
    }
    std::string reason;
    const auto tuned = with_dispatch(baseline.file, baseline.task, winners_of(baseline), reason);
    if (tuned) {
      EXPECT_EQ(std::count(tuned->begin(), tuned->end(), '\n'),
                std::count(baseline.file.text.begin(), baseline.file.text.end(), '\n'));
    } else {
      EXPECT_THAT(reason, testing::AnyOf(HasSubstr("device code may use"), HasSubstr("separates")))
          << entry.name;
    }
  }
}

} // namespace
} // namespace winnow::tasks
