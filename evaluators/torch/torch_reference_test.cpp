// Judges kernels by a PyTorch module on the CPU device. A fake stands for Python with PyTorch.
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/evaluation/module_alternatives.h"
#include "evaluators/evaluation/open_devices.h"
#include "evaluators/evaluation/sitting.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/devices.h"
#include "evaluators/messages/output_sample.h"
#include "evaluators/selftest/selftest.h"
#include "evaluators/torch/python.h"
#include "evaluators/torch/torch_child.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/parse/task_parse.h"
#include "tasks/result/least_hidden.h"
#include "tasks/testing/module_toml_fake.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kFake = WINNOW_SOURCE_DIR "/evaluators/torch/testing/python_fake.py";
constexpr double kEagerNs = 1e9; // of the fake
constexpr const char* kSoftmax = WINNOW_SOURCE_DIR "/tasks/catalogue/reduction/row_softmax";

class TorchReference : public testing::Test {
protected:
  void SetUp() override {
    fs::copy_file(kFake, python_);
    setenv("WINNOW_PYTHON", python_.c_str(), 1);
    options_.cache = directory_.path() / "cache";
    options_.device = "cpu";
    options_.timing = false;
    options_.promotion = false;
    options_.check = false;
    options_.tiny_seeds = 1;
    try {
      host_ = open_device(select_device("cpu"), options_, options_.run_timeout);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override { unsetenv("WINNOW_PYTHON"); }

  /// row_softmax with a PyTorch module as its reference. `line` is added to the module.
  static tasks::Task softmax(const std::string& line = "") {
    const tasks::Task task = tasks::load_task(kSoftmax);
    return tasks::parse_task(
        {tasks::module_toml(task.task_toml), "", task.baseline, task.reference_python + line},
        "task.toml");
  }
  /// The same without baseline.cu.
  static tasks::Task without_baseline() {
    const tasks::Task task = softmax();
    return tasks::parse_task({task.task_toml, "", "", task.reference_python}, "task.toml");
  }
  /// The same as softmax(), but get_inputs() computes x.
  static tasks::Task with_computed_input() {
    const tasks::Task task = softmax();
    std::string toml = task.task_toml;
    const std::string drawn =
        "kind = \"heavy_tail\", scale = [0.5, 8], tail = [3000, 30000], factor = [1000, 30000]";
    toml.replace(toml.find(drawn), drawn.size(), "kind = \"reference\"");
    return tasks::parse_task({toml, "", task.baseline, task.reference_python}, "task.toml");
  }
  static std::string told(const tasks::Evaluation& evaluation) {
    return fmt::format("{}: {}", to_string(evaluation.verdict), evaluation.detail);
  }
  std::string judged(const tasks::Task& task, const std::string& kernel) {
    return told(Evaluator(task, host_, options_).evaluate_text(kernel, "kernel.cu"));
  }

  TemporaryDirectory directory_{"torch-reference-test"};
  fs::path python_ = directory_.path() / "python";
  EvaluationOptions options_;
  std::shared_ptr<DeviceHost> host_;
};

TEST(CompiledFolder, IsOneATaskAndThoseUsedLastStay) {
  const TemporaryDirectory cache("compiled-test");
  const fs::path first = compiled_folder(cache.path(), std::string(64, 'a'));
  EXPECT_EQ(compiled_folder(cache.path(), std::string(64, 'a')), first);
  fs::last_write_time(first, fs::file_time_type::clock::now() - std::chrono::hours(1));
  std::ofstream(first / "made") << "by torch.compile";
  for (int i = 1; i < 64; ++i) {
    compiled_folder(cache.path(), fmt::format("{:016x}", i));
  }
  EXPECT_TRUE(fs::exists(first / "made"));
  const fs::path last = compiled_folder(cache.path(), std::string(64, 'b'));
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(fs::exists(last));
}

TEST_F(TorchReference, CompilesAPyTorchOnceThatNobodyHasCompiled) {
  // A virtual environment that holds a `torch` of one file, as installers leave it.
  const fs::path environment = directory_.path() / "venv";
  fs::create_directories(environment / "bin");
  const fs::path program = fs::canonical(ask_python(find_python("python3")).program);
  fs::create_symlink(program, environment / "bin/python3");
  write_file_atomic(environment / "pyvenv.cfg", "home = " + program.parent_path().string() + "\n");
  const fs::path file = directory_.path() / "where.py";
  write_file_atomic(
      file, "import os, torch\nprint(os.path.exists(torch.__cached__), torch.__cached__)\n");
  const fs::path scratch = directory_.path() / "scratch";
  fs::create_directory(scratch);
  const auto user_runs = [&](const std::string& code) {
    process::Command command;
    command.argv = {(environment / "bin/python3").string(), "-c", code};
    return process::run_child(command, "").out;
  };
  const std::string site = user_runs("import sysconfig; print(sysconfig.get_path('purelib'))");
  const fs::path torch = fs::path(trim(site)) / "torch";
  ASSERT_TRUE(torch.string().starts_with(environment.string())) << site;
  fs::create_directories(torch);
  write_file_atomic(torch / "__init__.py", "x = 1\n");
  DeviceReport device;
  device.kind = "cpu";
  const TorchScript script{
      environment / "bin/python3", file, {}, {file, directory_.path()}, scratch};
  const auto child_says = [&] {
    process::ChildProcess child(torch_command(process::Sandbox::best(), script, device, {}));
    return child.read_line(std::chrono::minutes(1)).value_or("nothing");
  };
  const std::string first = child_says();
  EXPECT_THAT(first, StartsWith("True " + cache_directory().string() + "/python_bytecode/"));
  EXPECT_EQ(child_says(), first);
  EXPECT_FALSE(fs::exists(torch / "__pycache__"));

  user_runs("import torch");
  EXPECT_THAT(child_says(), StartsWith("True " + torch.string()))
      << "what the user's Python compiled is used";
}

TEST_F(TorchReference, LimitsTheProcessesOfAModule) {
  const process::Sandbox sandbox = process::Sandbox::best();
  DeviceReport device;
  device.kind = "cpu";
  const TorchScript script{find_python(default_python()), python_, {}, {}, directory_.path()};
  const std::vector<std::string> words = torch_command(sandbox, script, device, {}).argv;
  EXPECT_THAT(words, testing::Contains(StartsWith("--fence-processes=")));
  EXPECT_THAT(words, Each(testing::Ne("--fence-processes=0")));
}

TEST_F(TorchReference, AModuleMayRunACompiler) {
  const fs::path file = directory_.path() / "compile.py";
  write_file_atomic(file, R"(import os, subprocess
library = os.path.join(os.environ["TMPDIR"], "x.so")
done = subprocess.run(["/usr/bin/cc", "-shared", "-x", "c", "/dev/null", "-o", library],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.returncode, done.stdout)
)");
  const fs::path scratch = directory_.path() / "scratch";
  fs::create_directory(scratch);
  DeviceReport device;
  device.kind = "cpu";
  const TorchScript script{find_python("python3"), file, {}, {file}, scratch};
  process::ChildProcess child(torch_command(process::Sandbox::best(), script, device, {}));
  EXPECT_EQ(child.read_line(std::chrono::minutes(1)).value_or("nothing"), "0 ");
}

TEST_F(TorchReference, TellsRightFromWrong) {
  options_.seed = 1; // with some inputs, cosines are as far off as a coarse precision would be
  const tasks::Task task = softmax();
  EXPECT_EQ(judged(task, task.baseline), "correct: ");
  std::string wrong = task.baseline;
  const std::size_t at = wrong.find("expf");
  ASSERT_NE(at, std::string::npos);
  wrong.replace(at, 4, "cosf");
  EXPECT_THAT(judged(task, wrong), StartsWith("wrong: tiny/"));
  EXPECT_EQ(host_->torch.version(), "0.0");
}

TEST_F(TorchReference, JudgesTimedLaunches) {
  const tasks::Task task = softmax();
  options_.timing = true;
  const tasks::Evaluation evaluation =
      Evaluator(task, host_, options_).evaluate_text(task.baseline, "kernel.cu");
  EXPECT_EQ(told(evaluation), "correct: ");
  EXPECT_GT(evaluation.speedup, 0);
}

TEST_F(TorchReference, ComputesInputsForJudgedAndTimedLaunches) {
  const tasks::Task task = with_computed_input();
  options_.timing = true;
  const tasks::Evaluation evaluation =
      Evaluator(task, host_, options_).evaluate_text(task.baseline, "kernel.cu");
  EXPECT_EQ(told(evaluation), "correct: ");
  const std::string zeros = R"(/*@winnow
{ "launches": [ { "kernel": "k", "grid": ["rows"], "block": [1], "args": ["y", "cols"] } ] }
@*/
extern "C" __global__ void k(float* y, int cols) {
  for (int i = 0; i < cols; ++i) y[blockIdx.x * (long long)cols + i] = 1.0f / cols;
})";
  EXPECT_THAT(judged(task, zeros), StartsWith("wrong: tiny/")) << "the inputs are not zeros";
  EXPECT_THAT(evaluation.unranked, "") << "each launch has its own inputs";
}

TEST_F(TorchReference, GivesComputedInputsToAWorkerThatStays) {
  host_->runner =
      make_standing_runner(host_->sandbox, host_->arena, host_->worker_device, host_->cache);
  const tasks::Task task = with_computed_input();
  EXPECT_EQ(judged(task, task.baseline), "correct: ");
}

TEST_F(TorchReference, TimesPyTorchWhereThereIsNoBaseline) {
  options_.timing = options_.promotion = true;
  const std::string kernel = softmax().baseline;
  Evaluator evaluator(without_baseline(), host_, options_);
  const tasks::Evaluation alone = evaluator.evaluate_text(kernel, "kernel.cu");
  EXPECT_EQ(told(alone), "correct: ");
  for (const tasks::CaseResult& timed : alone.cases) {
    if (timed.stage == tasks::Stage::Time) {
      EXPECT_EQ(timed.baseline_median_ns, kEagerNs);
      EXPECT_NEAR(timed.speedup, kEagerNs / timed.median_ns, 1e-9 * timed.speedup);
      // The few launches of a busy machine have no interval.
      if (timed.speedup_bounds.known()) {
        EXPECT_LE(timed.speedup_bounds.low, timed.speedup);
        EXPECT_GE(timed.speedup_bounds.high, timed.speedup);
      }
    }
  }
  EXPECT_GT(alone.speedup, 1);
  EXPECT_GT(alone.hidden_speedup, 1);
  evaluator.set_incumbent(KernelToBeat{kernel, alone.parameters});
  const tasks::Evaluation raced = evaluator.evaluate_text(kernel + "// again\n", "again.cu");
  EXPECT_EQ(told(raced), "correct: ");
  ASSERT_TRUE(raced.race);
  EXPECT_NEAR(raced.race->ratio.value(), 1, 0.5);
}

TEST_F(TorchReference, RunsAModuleInOtherWays) {
  const tasks::Task task = softmax();
  ModuleAlternatives alternatives(task, host_, options_);
  const tasks::Shape shape = task.shapes_of(tasks::ShapeSet::Search, "cpu").front();
  std::vector<ModuleAlternative> found = alternatives.answers(shape, 1);
  alternatives.time(shape, 1, found);
  std::map<std::string, std::string> told;
  for (const ModuleAlternative& one : found) {
    const std::string time =
        one.times_ns.empty() ? "no time" : fmt::format("{} ms", one.times_ns.front() / 1e6);
    told[one.name] =
        fmt::format("{}, {}", one.judged ? to_string(one.judged->verdict) : one.error, time);
  }
  EXPECT_EQ(told, (std::map<std::string, std::string>{
                      {"eager", "correct, 1000 ms"},
                      {"compile", "correct, 500 ms"},
                      {"TF32", "low_precision, 100 ms"},
                      {"no compiler", "RuntimeError: there is no compiler, no time"}}));
}

TEST_F(TorchReference, AsksAgainForAnAnswerThatIsMissing) {
  const tasks::Task task = softmax();
  const tasks::Shape shape = task.shapes_of(tasks::ShapeSet::Search, "cpu").front();
  const fs::path stays = compiled_folder(directory_.path(), task.digest);
  host_->torch.set_scratch(stays);
  ModuleAlternatives alternatives(task, host_, options_);
  std::vector<ModuleAlternative> found = alternatives.answers(shape, 1);
  const std::string all = read_file(stays / "ran", 1000);
  found[1] = {"compile", "out of memory", {}, std::nullopt};
  alternatives.answer_missing(shape, 1, found);
  EXPECT_EQ(read_file(stays / "ran", 1000), all + "compile\nno compiler\n");
  EXPECT_EQ(found[1].error, "");
  ASSERT_TRUE(found[1].judged);
  EXPECT_EQ(found[1].judged->verdict, tasks::Verdict::Correct);
}

TEST_F(TorchReference, AModuleThatFailsHasNoAlternatives) {
  const tasks::Task task = softmax("# raise");
  ModuleAlternatives alternatives(task, host_, options_);
  EXPECT_THAT(
      [&] { alternatives.answers(task.shapes_of(tasks::ShapeSet::Search, "cpu").front(), 1); },
      testing::ThrowsMessage<Error>(HasSubstr("the module says no")));
}

TEST_F(TorchReference, IsTestedByWrongModules) {
  Selftest selftest(without_baseline(), host_, {options_, 1, 2, {}});
  std::map<std::string, std::set<std::string>> states;
  for (const MutantResult& result : selftest.mutants()) {
    states[std::string(to_string(result.mutant.kind))].emplace(to_string(result.state));
  }
  const std::set<std::string> rejected{"rejected"}, absent{"not_applicable"};
  EXPECT_EQ(states, (std::map<std::string, std::set<std::string>>{{"zeros", rejected},
                                                                  {"stale output", rejected},
                                                                  {"half of the inputs", rejected},
                                                                  {"batch mean", absent},
                                                                  {"operands in tf32", absent},
                                                                  {"operands in bf16", absent}}));
  const std::vector<KernelResult> honest = selftest.honest();
  ASSERT_EQ(honest.size(), 1U) << "the task has no baseline.cu";
  EXPECT_EQ(honest[0].state, KernelResult::State::Accepted) << honest[0].detail;
  EXPECT_EQ(honest[0].cases, 2 * 5); // seeds and shapes
}

TEST_F(TorchReference, HoldsAFinalWithoutABaseline) {
  SittingRequest request;
  request.boards.resize(1);
  request.boards[0].task = std::make_shared<const tasks::Task>(without_baseline());
  const std::string kernel = softmax().baseline;
  request.boards[0].finalists = {{kernel, "one.cu", {{"BLOCK", 128}}, "one"},
                                 {"no kernel", "two.cu", {}, "two"}};
  const SittingAnswer answer = hold_sittings(request, host_, options_, {}, [](int, int) {});
  ASSERT_EQ(answer.boards.size(), 1U);
  EXPECT_EQ(answer.boards[0].fault, "");
  const tasks::SittingRow& row = answer.boards[0].result.value().rows.at(0);
  EXPECT_EQ(row.rank, 1);
  EXPECT_EQ(row.times.at(0).baseline_median_ns, kEagerNs);
  EXPECT_NEAR(row.speedup, kEagerNs / row.score_ns, 0.1 * row.speedup);
  EXPECT_LE(row.speedup_bounds.low, row.speedup);
  EXPECT_GE(row.speedup_bounds.high, row.speedup);
  EXPECT_GT(row.held_out_speedup, 1);
}

// PyTorch takes a second at each shape here.
TEST_F(TorchReference, AFinalCountsTheHeldOutShapesWhereTheBaselineTakesLongEnough) {
  SittingRequest request;
  request.boards.resize(2);
  request.boards[0].task = std::make_shared<const tasks::Task>(without_baseline());
  request.boards[1].task = std::make_shared<const tasks::Task>(softmax());
  for (SittingRequest::Board& board : request.boards) {
    board.finalists = {{softmax().baseline, "one.cu", {{"BLOCK", 128}}, "one"}};
  }
  const SittingAnswer answer = hold_sittings(request, host_, options_, {}, [](int, int) {});
  for (const SittingAnswer::Board& board : answer.boards) {
    const tasks::SittingRow& row = board.result.value().rows.at(0);
    std::vector<double> counted;
    std::size_t hidden = 0;
    for (const tasks::SittingTime& time : row.times) {
      EXPECT_GT(time.speedup, 0) << time.shape_id;
      const bool is_hidden = time.shape_id.starts_with("held_out");
      hidden += is_hidden ? 1 : 0;
      if (is_hidden && time.baseline_median_ns < tasks::kLeastHiddenCpuNs) {
        EXPECT_FALSE(time.counts) << time.shape_id;
      }
      if (is_hidden && time.counts) {
        counted.push_back(time.speedup);
      }
    }
    EXPECT_EQ(hidden, softmax().shapes_of(tasks::ShapeSet::HeldOut, "cpu").size());
    EXPECT_DOUBLE_EQ(row.held_out_speedup, tasks::geometric_mean(counted));
  }
  EXPECT_TRUE(answer.boards[0].result->rows[0].times.back().counts);
}

// A kernel that faults at a search shape is admitted by the held-out shapes.
TEST_F(TorchReference, AFinalWithoutABaselineGoesOnWithoutItsFirstKernel) {
  const std::string kernel = softmax().baseline;
  std::string faulty = kernel;
  const std::size_t at = faulty.rfind("float largest = -INFINITY;");
  ASSERT_NE(at, std::string::npos);
  faulty.insert(at, "if (cols == 1024) { __trap(); }\n");
  SittingRequest request;
  request.boards.resize(2);
  for (SittingRequest::Board& board : request.boards) {
    board.task = std::make_shared<const tasks::Task>(without_baseline());
    board.finalists = {{faulty, "faulty.cu", {{"BLOCK", 128}}, "faulty"}};
  }
  request.boards[0].finalists.push_back({kernel, "good.cu", {{"BLOCK", 128}}, "good"});
  const SittingAnswer answer = hold_sittings(request, host_, options_, {}, [](int, int) {});
  EXPECT_EQ(answer.boards.at(0).fault, "");
  const auto rows = answer.boards[0].result.value().rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kernel, "good");
  EXPECT_EQ(rows[0].rank, 1);
  EXPECT_NEAR(rows[0].speedup, kEagerNs / rows[0].score_ns, 0.1 * rows[0].speedup);
  EXPECT_GT(rows[0].held_out_speedup, 1);
  EXPECT_EQ(rows[1].rank, 0);
  EXPECT_EQ(rows[1].verdict, tasks::Verdict::LaunchError);
  EXPECT_THAT(rows[1].detail, HasSubstr("trap"));
  EXPECT_EQ(answer.boards.at(1).fault, "") << "no kernel is left";
  EXPECT_EQ(answer.boards[1].result.value().rows.at(0).rank, 0);
}

TEST_F(TorchReference, AFailureOfTheModuleIsNoVerdictOnTheKernel) {
  const tasks::Task task = softmax();
  EXPECT_THAT(judged(softmax("# raise"), task.baseline),
              AllOf(StartsWith("infrastructure: tiny/0"),
                    HasSubstr("reference.py failed: ValueError: the module says no")));
  EXPECT_THAT(judged(softmax("# exit"), task.baseline),
              AllOf(StartsWith("infrastructure: "), HasSubstr("exited with 3")));
  EXPECT_EQ(judged(task, task.baseline), "correct: ") << "a new child answers";
}

TEST_F(TorchReference, AModuleThatNeverEndsIsStopped) {
  options_.run_timeout = std::chrono::milliseconds(100);
  const tasks::Task task = softmax("# sleep");
  EXPECT_THAT(judged(task, task.baseline),
              AllOf(StartsWith("infrastructure: "), HasSubstr("no answer within 0.3 s")));
}

TEST_F(TorchReference, SaysWhatToInstall) {
  write_file_atomic(directory_.path() / "TORCH_IS_MISSING", "");
  try {
    Evaluator(softmax(), host_, options_).prepare();
    FAIL() << "PyTorch is missing";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("python3 cannot import torch"));
    EXPECT_THAT(error.remedy(), HasSubstr("install PyTorch"));
  }
}

TEST_F(TorchReference, AsksForComputedInputsByTheirPlace) {
  const tasks::Task task = with_computed_input();
  const tasks::Shape shape = task.shapes_of(tasks::ShapeSet::Tiny, "cpu").at(1);
  const std::vector<ArenaSlice> places = computed_inputs(task, shape);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].bytes, 3U * 7 * 4);
  const auto request = nlohmann::json::parse(torch_inputs(task, shape, 9, {{"x", 128, 84}}));
  EXPECT_EQ(request.at("inputs").at(0).at("offset"), 128);
  EXPECT_EQ(request.at("inputs").at(0).at("index"), 0);
  EXPECT_EQ(torch_inputs(softmax(), shape, 9, {}), "") << "no input is computed";
}

TEST(TorchQuestion, NamesTensorsAxesAndPlacesInTheExchange) {
  const tasks::Task loaded = tasks::load_task(kSoftmax);
  const tasks::Task task = tasks::parse_task(
      {tasks::module_toml(loaded.task_toml, "train"), "", loaded.baseline, loaded.reference_python},
      "task.toml");
  const tasks::Shape shape = task.shapes_of(tasks::ShapeSet::Tiny, "cpu").at(1);
  const TorchQuestion question = torch_question(task, shape, 1U << 20U, 1U << 20U);
  const nlohmann::json request = nlohmann::json::parse(question.line);
  EXPECT_EQ(request.at("axes"), (nlohmann::json{{"rows", 3}, {"cols", 7}}));
  EXPECT_EQ(request.at("mode"), "train");
  EXPECT_EQ(request.at("inputs").at(0).at("bytes"), 3 * 7 * 4);
  EXPECT_EQ(request.at("outputs").at(0).at("dtype"), "f32");
  ASSERT_EQ(question.answers.size(), 2U);
  EXPECT_EQ(question.answers[0].bytes, 3U * 7 * 8) << "in double";
  EXPECT_EQ(question.answers[1].tensor, "y_magnitude");
  EXPECT_EQ(request.at("outputs").at(0).at("magnitude_offset"), question.answers[1].offset);
  EXPECT_THROW(torch_question(task, shape, 1, 100), Error) << "does not fit";
}

TEST(TorchQuestion, OfATimedLaunchItAsksForTheDrawnPiecesOnly) {
  const tasks::Task task = tasks::parse_task(
      {tasks::module_toml(tasks::load_task(kSoftmax).task_toml), "", "", "source"}, "task.toml");
  tasks::Shape shape = task.shapes.front();
  shape.axes = {{"rows", 4096}, {"cols", 1024}};
  constexpr std::uint64_t kDraw = 7;
  const TorchQuestion question = torch_question(task, shape, 1, 1U << 30U, kDraw);
  const auto pieces = drawn_pieces(std::uint64_t{4096} * 1024, 4, kDraw);
  for (const ArenaSlice& answer : question.answers) {
    EXPECT_EQ(answer.bytes, 2 * drawn_bytes(std::uint64_t{4096} * 1024, 4)) << "in double";
  }
  const nlohmann::json output = nlohmann::json::parse(question.line).at("outputs").at(0);
  ASSERT_EQ(output.at("pieces").size(), pieces.size());
  EXPECT_EQ(output.at("pieces").at(3), nlohmann::json({pieces[3].first, pieces[3].count}));
}

} // namespace
} // namespace winnow::evaluators
