// The figures of docs/numbers.md, on every surface that shows them: a figure has one value.
#include "base/files.h"
#include "base/text.h"
#include "evaluators/timing/timed_case.h"
#include "harness/cli.h"
#include "harness/report/kernel_pair_report.h"
#include "harness/report/testing/report_fake.h"
#include "harness/report/timed_shapes.h"
#include "store/run_store.h"
#include "tasks/catalogue.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/result/sitting.h"
#include "tasks/result/speedup.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

std::string printed(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_cli(arguments);
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, 0) << arguments.front() << ": " << log;
  return out;
}

/// The first group of a regular expression. A number is known as well as its digits say.
struct Shown {
  std::string text;
  double value() const { return std::stod(text); }
  double half_digit() const {
    const std::size_t dot = text.find('.');
    const auto decimals = dot == std::string::npos ? 0 : static_cast<int>(text.size() - dot) - 1;
    return 0.5000001 * std::pow(10.0, -decimals);
  }
};

Shown number_in(const std::string& page, const std::string& pattern) {
  std::smatch found;
  const bool is_there = std::regex_search(page, found, std::regex(pattern));
  EXPECT_TRUE(is_there) << pattern << "\nis not in:\n" << page;
  return {is_there ? found[1].str() : "0"};
}

void expect_shown(const std::string& page, const std::string& pattern, double value) {
  const Shown shown = number_in(page, pattern);
  EXPECT_NEAR(shown.value(), value, shown.half_digit()) << pattern;
}

void expect_number(const json& number, double value, const char* what) {
  ASSERT_TRUE(number.is_number()) << what << ": " << number;
  EXPECT_NEAR(number.get<double>(), value, 1e-9 * value) << what;
}

/// The rows of {"columns":[...],"rows":[[...],...]} as objects.
std::vector<json> objects_of(const json& table) {
  std::vector<json> rows;
  for (const json& values : table.at("rows")) {
    json& row = rows.emplace_back(json::object());
    for (std::size_t i = 0; i < values.size(); ++i) {
      row[table.at("columns")[i].get<std::string>()] = values[i];
    }
  }
  return rows;
}

/// The cells of a CSV document without quoted line ends in its first columns, as objects.
std::vector<std::map<std::string, std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      lines.back().emplace_back();
    } else if (!quoted && c == '\n') {
      lines.emplace_back(1);
    } else if (c != '\r') {
      lines.back().back() += c;
    }
  }
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].size() == lines[0].size()) {
      auto& row = rows.emplace_back();
      for (std::size_t j = 0; j < lines[i].size(); ++j) {
        row[lines[0][j]] = lines[i][j];
      }
    }
  }
  return rows;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double geometric(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

/// Times whose median ratio is no ratio of medians, and no ratio of means.
tasks::CaseResult awkward_case(const std::string& id, double ns, double factor, double rival) {
  tasks::CaseResult timed;
  timed.stage = tasks::Stage::Time;
  timed.set = tasks::ShapeSet::Search;
  timed.shape_id = "search/" + id;
  timed.shape = "n=" + id + "001";
  timed.verdict = tasks::Verdict::Correct;
  for (int i = 0; i < 23; ++i) {
    const double wave = 1 + 0.07 * std::sin(2.3 * i) + (i % 7 == 3 ? 0.61 : 0);
    timed.samples_ns.push_back(ns * wave);
    timed.baseline_samples_ns.push_back(ns * factor * (1 + 0.09 * std::cos(1.7 * i)));
    timed.incumbent_samples_ns.push_back(ns * rival * (1 + 0.05 * std::cos(0.9 * i)));
  }
  evaluators::summarise_times(timed);
  return timed;
}

/// As the evaluator scores it. Two shapes of different speedups.
tasks::Evaluation awkward_evaluation(double factor, const std::string& rival_digest) {
  tasks::Evaluation evaluation = timed_evaluation(1);
  evaluation.cases = {awkward_case("0", 812.37, factor, 5.1),
                      awkward_case("1", 90'411.9, factor / 3.7, 4.9)};
  evaluation.stage = tasks::Stage::Done;
  evaluation.promoted = true;
  evaluation.evaluator_version = 7;
  evaluation.started_at = "2026-11-20T09:44:26.123Z";
  evaluation.build.digest = "build of " + std::to_string(factor);
  evaluation.hidden_speedup = 1.98765;
  evaluation.seconds = 0.53125;
  std::vector<double> medians, speedups;
  for (const tasks::CaseResult& timed : evaluation.cases) {
    medians.push_back(timed.median_ns);
    speedups.push_back(timed.speedup);
  }
  evaluation.score_ns = geometric(medians);
  evaluation.speedup = geometric(speedups);
  evaluation.speedup_bounds = evaluators::bounds_of_speedup(evaluation.cases, tasks::Stage::Time);
  evaluation.race = evaluators::race_of(evaluation.cases, rival_digest);
  evaluators::ProfiledShape profile = full_profile("0", 92);
  profile.shape.shape = "n=0001";
  profile.shape.speed_of_light->fraction = 0.8049;
  add_profiles(evaluation, {profile});
  return evaluation;
}

/// A run of two tasks with a final of the first one.
class Numbers : public testing::Test {
protected:
  Numbers() {
    write_file_atomic(folder_.path() / "suite.toml", "tasks = [\"axpy\", \"reduce_sum\"]\n");
    store::RunStore store(path_, store::RunStore::Mode::ReadWrite);
    const store::RowId run = store.create_run(
        "bench",
        {{"run", {{"strategy", "best-of-n"}, {"proposals", 2}}}, {"evaluation", json::object()}},
        json::object());
    const auto folder = std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks" / "catalogue";
    const store::RowId axpy = store.add_task(tasks::find_task(folder, "axpy"));
    const store::RowId sum = store.add_task(tasks::find_task(folder, "reduce_sum"));
    const std::string slow = tasks::kernel_digest("slow", {});
    first_ = awkward_evaluation(199.95, slow);
    second_ = awkward_evaluation(41.3, "");
    other_ = awkward_evaluation(0.0731, "");
    other_.promoted = false;
    best_ = add(store, run, axpy, "axpy/0/0", "fast", first_, 0.08405);
    add(store, run, axpy, "axpy/1/0", "slow", second_, 0.00715);
    unpromoted_ = add(store, run, sum, "reduce_sum/0/0", "sum", other_, 0.0123);
    tasks::Evaluation wrong = other_;
    wrong.verdict = tasks::Verdict::Wrong;
    wrong.speedup = 0;
    add(store, run, sum, "reduce_sum/1/0", "wrong", wrong, 0.0123);
    store.add_sitting(run, axpy, sitting(slow));
    store.set_run_status(run, "finished");
  }

  static store::RowId add(store::RunStore& store, store::RowId run, store::RowId task,
                          const std::string& key, const std::string& text,
                          const tasks::Evaluation& evaluation, double dollars) {
    const store::RowId call = store.begin_call(run, task, key, "chat", "m", json::object());
    store::ModelCallRow reply;
    reply.status = "ok";
    reply.text = text;
    reply.usage.prompt_tokens = 101;
    reply.usage.completion_tokens = 13;
    reply.dollars = dollars;
    store.finish_call(call, reply);
    store::CandidateRow row;
    row.call_key = key;
    row.origin = "model";
    row.text = text;
    const store::RowId candidate = store.add_candidate(run, task, row);
    store.add_evaluations(candidate, {evaluation});
    return candidate;
  }

  tasks::SittingResult sitting(const std::string& slow) const {
    tasks::SittingResult result;
    result.device = first_.device;
    result.device_name = first_.device_name;
    result.evaluator_version = 7;
    result.rounds = 6;
    result.started_at = "2026-11-20T10:00:00.000Z";
    const std::string fast = tasks::kernel_digest("fast", {});
    result.rows = {{fast,
                    tasks::Verdict::Correct,
                    "",
                    1,
                    4321.49,
                    kFinal,
                    {160.25, 220.75},
                    kHeldOut,
                    {{"held_out/0", 4000, 4000 * kHeldOut, kHeldOut, true}},
                    {{slow, "faster", kFinalRace, {4.8005, 5.1005}, 6}}},
                   {slow, tasks::Verdict::Correct, "", 2, 21'000, 38.5, {30, 45}, 30, {}, {}}};
    return result;
  }

  std::string show(store::RowId id) const {
    return printed({"show", std::to_string(id), "--store", path_});
  }
  json json_of(std::vector<std::string> words) const {
    words.insert(words.end(), {"--store", path_});
    return json::parse(printed(words));
  }
  std::string text_of(std::vector<std::string> words) const {
    words.insert(words.end(), {"--store", path_});
    return printed(words);
  }
  json page(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"export", "html", "--store", path_});
    const std::string html = printed(words);
    const std::string begin = R"(<script type="application/json" id="board">)";
    const std::size_t at = html.find(begin) + begin.size();
    return json::parse(html.substr(at, html.find("</script>", at) - at));
  }
  static json row_of(const json& table, store::RowId candidate) {
    for (const json& row : objects_of(table)) {
      if (row.at("candidate_id") == candidate) {
        return row;
      }
    }
    return {};
  }

  static constexpr double kFinal = 190.634999, kHeldOut = 170.00501, kFinalRace = 4.9484;
  TemporaryDirectory folder_{"numbers-test"};
  std::string path_ = (folder_.path() / "store.db").string();
  tasks::Evaluation first_, second_, other_;
  store::RowId best_ = 0, unpromoted_ = 0;
};

/// A row of tests/numbers.tsv, written by the functions of the terminal.
std::string written(const std::vector<std::string>& row) {
  const double value = std::stod(row.at(1));
  const std::map<std::string, std::function<std::string()>> functions{
      {"number", [&] { return number_text(value, std::stoi(row.at(2))); }},
      {"speedup",
       [&] {
         return tasks::speedup_text(value, {std::stod(row.at(2)), std::stod(row.at(3))});
       }},
      {"time", [&] { return time_text(value); }},
      {"percent", [&] { return percent_text(value); }},
      {"dollars", [&] { return dollars_text(value); }},
      {"ratio", [&] { return ratio_text(value); }},
      {"bound", [&] { return bound_text(value); }}};
  return functions.at(row.at(0))();
}

TEST(NumberTexts, AreThoseOfTheTable) {
  const std::string table =
      read_file(std::filesystem::path(WINNOW_SOURCE_DIR) / "tests/numbers.tsv", 1U << 20U);
  for (const std::string_view line : split_lines(table)) {
    std::vector<std::string> row;
    std::istringstream cells{std::string(line)};
    for (std::string cell; std::getline(cells, cell, '\t');) {
      row.push_back(cell);
    }
    if (!line.starts_with('#')) {
      EXPECT_EQ(written(row), row.back()) << line;
    }
  }
}

TEST_F(Numbers, MedianTimeAndSpeedupOfAShape) {
  const tasks::CaseResult& timed = first_.cases.at(1);
  const double median = median_of(timed.samples_ns);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < timed.samples_ns.size(); ++i) {
    ratios.push_back(timed.baseline_samples_ns[i] / timed.samples_ns[i]);
  }
  const double speedup = median_of(ratios);
  EXPECT_GT(std::abs(speedup / (median_of(timed.baseline_samples_ns) / median) - 1), 1e-3)
      << "else the test would not tell the two";
  const std::string line = "n=1001 +correct +", number = "([0-9.]+)";
  expect_shown(show(best_), line + number, median / 1000);
  expect_shown(show(best_), line + "[0-9.]+ +[0-9.]+ +" + number + "x", speedup);
  const json shape =
      json_of({"show", std::to_string(best_), "--json"}).at("evaluation").at("cases").at(1);
  expect_number(shape.at("median_ns"), median, "show --json");
  expect_number(shape.at("speedup"), speedup, "show --json");
  const json shapes = page().at("shapes");
  expect_number(shapes.at(1).at("median_ns"), median, "page");
  expect_number(shapes.at(1).at("speedup"), speedup, "page");
  expect_number(shapes.at(1).at("speedup_low"), timed.speedup_bounds.low, "page");
  const json diff = json_of({"diff", std::to_string(best_), "2", "--json"});
  expect_number(diff.at("shapes").at(1).at("a_speedup"), speedup, "diff");
}

TEST_F(Numbers, TheSpeedupWhenJudgedIsTheGeometricMean) {
  const double speedup = geometric({first_.cases[0].speedup, first_.cases[1].speedup});
  expect_shown(show(best_), "when judged[^]*verdict: correct, ([0-9.]+)x", speedup);
  expect_shown(show(best_), "when judged[^]*verdict: correct[^(]*\\(95 %: ([0-9.]+)-",
               first_.speedup_bounds.low);
  expect_number(json_of({"show", std::to_string(best_), "--json"}).at("evaluation").at("speedup"),
                speedup, "show --json");
  expect_shown(text_of({"diff", std::to_string(best_), "2"}), "correct, ([0-9.]+)x when judged",
               speedup);
  const json candidate = row_of(page().at("candidates"), best_);
  expect_number(candidate.at("speedup"), speedup, "page");
  expect_number(candidate.at("speedup_high"), first_.speedup_bounds.high, "page");
  expect_number(json_of({"export", "json"}).at("candidates").at(0).at("evaluation").at("speedup"),
                speedup, "export json");
}

TEST_F(Numbers, TheSpeedupInTheFinalIsThatOfTheBoard) {
  expect_shown(show(best_), "final: rank 1, ([0-9.]+)x \\(95 %", kFinal);
  expect_shown(show(best_), "final: [^]*held-out ([0-9.]+)x", kHeldOut);
  const json standing = json_of({"show", std::to_string(best_), "--json"}).at("final");
  expect_number(standing.at("speedup"), kFinal, "show --json");
  expect_shown(text_of({"leaderboard"}), "\\n +1 +80 % +([0-9.]+)x", kFinal);
  expect_shown(text_of({"leaderboard", "--format", "md"}), "\\n\\| +1 \\| 80 % \\| +([0-9.]+)x",
               kFinal);
  const json row = json_of({"leaderboard", "--json"}).at("rows").at(0);
  expect_number(row.at("speedup"), kFinal, "leaderboard --json");
  expect_number(row.at("held_out_speedup"), kHeldOut, "leaderboard --json");
  const auto csv = csv_rows(text_of({"leaderboard", "--format", "csv"}));
  EXPECT_NEAR(std::stod(csv.at(0).at("speedup")), kFinal, 1e-9);
  const json place = row_of(page().at("leaderboard"), best_);
  expect_number(place.at("speedup"), kFinal, "page");
  EXPECT_EQ(place.at("flag"), "") << "an empty flag says that the number comes from a final";
  expect_number(place.at("score_ns"), row.at("score_ns"), "page");
  expect_number(json_of({"export", "json"}).at("candidates").at(0).at("board").at("speedup"),
                kFinal, "export json");
  expect_shown(text_of({"export", "md"}), "\\| correct \\| +1 \\| +([0-9.]+)x", kFinal);
}

TEST_F(Numbers, AnExportSaysWhichSpeedupsAreOfNoFinal) {
  const auto rows = csv_rows(text_of({"export", "csv"}));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_NEAR(std::stod(rows[0].at("speedup")), kFinal, 1e-9);
  EXPECT_EQ(rows[0].at("flag"), "");
  EXPECT_NEAR(std::stod(rows[2].at("speedup")), other_.speedup, 1e-9);
  EXPECT_EQ(rows[2].at("flag"), "not on the board");
  EXPECT_EQ(rows[3].at("flag"), "") << "of a kernel without a speedup";
}

TEST_F(Numbers, AnExportedKernelSaysWhatItIsAndHowFastItIs) {
  const auto catalogue = std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks" / "catalogue";
  const tasks::Task task = tasks::find_task(catalogue, "axpy");
  store::RowId id = 0;
  {
    store::RunStore store(path_, store::RunStore::Mode::ReadWrite);
    id = add(store, 1, store.add_task(task), "axpy/2/0", task.baseline, second_, 0.01);
  }
  const std::filesystem::path folder = folder_.path() / "exported";
  text_of({"export", "kernel", std::to_string(id), folder.string()});
  const std::string kernel = read_file(folder / "kernel.cu", 1U << 20U);
  EXPECT_THAT(kernel, testing::EndsWith(task.baseline));
  for (const char* file : {"kernel.cu", "main.cu", "extension.py"}) {
    const std::string text = read_file(folder / file, 1U << 20U);
    EXPECT_THAT(text, testing::HasSubstr("Candidate 5 of run bench, by m, file ")) << file;
    EXPECT_THAT(text, testing::HasSubstr("Task: axpy (AXPY).")) << file;
    EXPECT_THAT(text, testing::HasSubstr("Tensors: x f32[n] (input), ")) << file;
    EXPECT_THAT(text, testing::HasSubstr("Measured at: n=")) << file;
    expect_shown(text, "Speedup: ([0-9.]+)x as fast as baseline.cu \\(95 %: ", second_.speedup);
    EXPECT_THAT(text, testing::HasSubstr("measured when judged on " + second_.device)) << file;
  }
}

TEST_F(Numbers, RacesSayWhereTheyWereRun) {
  std::map<std::string, double> ratios;
  const json races = page().at("races");
  for (const json& race : races) {
    ratios[race.at("source").get<std::string>()] = race.at("ratio");
  }
  EXPECT_NEAR(ratios["final"], kFinalRace, 1e-9);
  EXPECT_NEAR(ratios["when judged"], first_.race->ratio.value(), 1e-9);
  const json evaluation = json_of({"show", std::to_string(best_), "--json"}).at("evaluation");
  expect_number(evaluation.at("race").at("ratio"), first_.race->ratio.value(), "show --json");
  expect_shown(show(best_), "race in the final: against @2: ([0-9.]+)x", kFinalRace);
  expect_shown(show(best_), "race when judged: against @2: ([0-9.]+)x", first_.race->ratio.value());
  expect_shown(show(2), "race in the final: against @1: ([0-9.]+)x", 1 / kFinalRace);
}

TEST_F(Numbers, TheRaceIsTheGeometricMeanOfItsShapes) {
  const KernelPair pair{"axpy", {"a.cu", "a", first_}, JudgedKernel{"b.cu", "b", second_}};
  const json race = race_json(pair), profile = profile_json(pair);
  EXPECT_EQ(race.at("shapes").at(0).at("ratio"), profile.at("shapes").at(0).at("ratio"));
  expect_number(
      race.at("ratio"),
      geometric({race.at("shapes").at(0).at("ratio"), race.at("shapes").at(1).at("ratio")}),
      "race");
  expect_number(profile.at("race").at("ratio"), race.at("ratio"), "profile");
  expect_shown(race_text(race), "A is ([0-9.]+)x as fast", race.at("ratio"));
  expect_shown(profile_text(profile), "kernel is ([0-9.]+)x as fast", race.at("ratio"));
  EXPECT_NEAR(race_json({"axpy", {"a.cu", "a", first_}, JudgedKernel{"b.cu", "b", second_}})
                  .at("ratio")
                  .get<double>(),
              first_.race->ratio.value(), 1e-12);
}

TEST_F(Numbers, TwoKernelsOfOneSessionHaveTheSpeedupsOfThatSession) {
  const KernelPair pair{"axpy", {"a.cu", "a", first_}, JudgedKernel{"b.cu", "b", second_}};
  const json profile = profile_json(pair), race = race_json(pair);
  const double beside = geometric({profile.at("shapes").at(0).at("against").at("speedup"),
                                   profile.at("shapes").at(1).at("against").at("speedup")});
  expect_number(profile.at("against").at("speedup"), beside, "profile");
  expect_number(race.at("b").at("speedup"), beside, "race");
  expect_number(profile.at("against").at("alone_speedup"), second_.speedup, "profile");
  expect_shown(profile_text(profile), "against: b.cu: correct, ([0-9.]+)x", beside);
  expect_shown(profile_text(profile), "alone, just before: ([0-9.]+)x", second_.speedup);
}

TEST_F(Numbers, TheMeanOverTasksIsOneNumber) {
  const double mean = geometric({first_.speedup, other_.speedup});
  const std::string suite = (folder_.path() / "suite.toml").string();
  const json document = json_of({"leaderboard", "--suite", suite, "--json"});
  const json& run = document.at("runs").at(0);
  expect_number(document.at("comparison").at("rows").at(0).at("speedup").at("value"), mean,
                "comparison");
  for (const json& score : run.at("folders").back().at("scores")) {
    if (score.at("replies") == "best" && score.at("without_flagged") == false) {
      expect_number(score.at("speedup"), mean, "scores");
    }
  }
  const json with_suite = page({"--suite", suite});
  const json& model = with_suite.at("models").at(0);
  expect_number(model.at("mean_speedup"), mean, "page, models");
  expect_number(model.at("mean_speedup_low"),
                run.at("folders").back().at("scores").at(1).at("speedup_low"), "page, models");
  EXPECT_EQ(with_suite.at("suite"), document);
  expect_shown(text_of({"leaderboard", "--suite", suite}),
               "comparison[^]*best-of-n +bench +1.00 +1 +([0-9.]+)x", mean);
}

TEST_F(Numbers, SharesOfASuiteAreTheSameInItsTables) {
  const std::string suite = (folder_.path() / "suite.toml").string();
  const json document = json_of({"leaderboard", "--suite", suite, "--json"});
  const json& row = document.at("comparison").at("rows").at(0);
  expect_number(row.at("fast_1").at("value"), 0.5, "one of two problems is faster");
  expect_number(row.at("pass_at_1").at("value"), (2 / 2.0 + 1 / 2.0) / 2, "pass@1");
  for (const json& pass : document.at("runs").at(0).at("folders").back().at("pass")) {
    if (pass.at("k") == 1) {
      expect_number(pass.at("share"), 0.75, "pass@1");
    }
  }
}

TEST_F(Numbers, DeviceSecondsOfASuiteAndOfABoardAreOneNumber) {
  constexpr double kOne = 0.53125, kBaseline = 7.25;
  {
    store::RunStore store(path_, store::RunStore::Mode::ReadWrite);
    const auto folder = std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks" / "catalogue";
    store::CandidateRow row;
    row.origin = "baseline";
    row.text = "the baseline";
    tasks::Evaluation evaluation = second_;
    evaluation.seconds = kBaseline;
    const store::RowId axpy = store.add_task(tasks::find_task(folder, "axpy"));
    store.add_evaluations(store.add_candidate(1, axpy, row), {evaluation});
    store.add_measurement(best_, evaluation, "profile"); // somebody asked for it
  }
  const std::string suite = (folder_.path() / "suite.toml").string();
  const json document = json_of({"leaderboard", "--suite", suite, "--json"});
  const double all = 4 * kOne + kBaseline;
  expect_number(document.at("comparison").at("rows").at(0).at("device_seconds"), all, "comparison");
  expect_number(document.at("runs").at(0).at("folders").back().at("device_seconds"), all, "costs");
  expect_number(
      page({"--suite", suite}).at("suite").at("comparison").at("rows").at(0).at("device_seconds"),
      all, "page");
  expect_shown(text_of({"leaderboard", "--suite", suite}), "comparison[^]* ([0-9.]+)\n", all);
  for (const json& summary :
       {json_of({"leaderboard", "--json"}).at("summaries").at(0), page().at("summaries").at(0)}) {
    expect_number(summary.at("cost").at("device_seconds"), kOne, "up to the leader, the first one");
  }
  expect_shown(text_of({"leaderboard"}), "cost: [^\n]*, ([0-9.]+) s of the device", kOne);
}

TEST_F(Numbers, DollarsHiddenSpeedupAndShareOfLight) {
  expect_shown(show(best_), "cost: \\$([0-9.]+)", 0.08405);
  expect_shown(text_of({"leaderboard"}), "\\n +1 [^\\n]*\\$([0-9.]+)", 0.08405);
  expect_number(json_of({"leaderboard", "--json"}).at("rows").at(0).at("dollars"), 0.08405,
                "board");
  expect_number(row_of(page().at("candidates"), best_).at("dollars"), 0.08405, "page");
  const double all = 0.08405 + 0.00715 + 2 * 0.0123;
  expect_number(page().at("runs").at(0).at("dollars"), all, "page, run");
  expect_shown(text_of({"export", "md"}), "\\| bench \\| finished [^\\n]*\\$([0-9.]+)", all);
  expect_shown(show(best_), "hidden shapes: ([0-9.]+)x", 1.98765);
  expect_shown(show(unpromoted_), "verdict: correct, ([0-9.]+)x", other_.speedup);
  const json evaluation = json_of({"show", std::to_string(best_), "--json"}).at("evaluation");
  const double light = evaluation.at("profile").at(0).at("speed_of_light").at("fraction");
  expect_number(evaluation.at("profile").at(0).at("speed_of_light").at("fraction"), 0.8049, "show");
  expect_number(page().at("profiles").at(0).at("shapes").at(0).at("speed_of_light").at("fraction"),
                light, "page");
  expect_shown(profile_text(profile_json({"axpy", {"a.cu", "a", first_}, std::nullopt})),
               "speed of light +([0-9.]+) %", 100 * light);
}

} // namespace
} // namespace winnow::harness
