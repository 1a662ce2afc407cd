// Tests `winnow tasks selftest` of the real program: a sound task is proven, a task that is too
// lenient is not. A stand-in for Python runs reference.py; it follows the real script's protocol.
#include "base/files.h"
#include "tests/e2e/python_stand_in.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kNegationToml = R"(title = "Negation"
description = "y[i] = -x[i]"
operations = "n"
bytes = "8 * n"
[axes]
n = "elements"
[tensors.x]
role = "input"
dtype = "f32"
shape = ["n"]
generator = { kind = "normal", mean = [-1, 1], std = [0.5, 2] }
[tensors.y]
role = "output"
dtype = "f32"
shape = ["n"]
[tolerance]
precision = "f32"
multiple = "1"
[[shapes.tiny]]
n = 5
[[shapes.tiny]]
n = 130
[[shapes.search]]
n = 1000
[[shapes.promotion]]
n = 1013
[[shapes.held_out]]
n = 77
)";

/// `sign`: "-" is the sign that the task asks for.
std::string kernel(const std::string& sign, bool is_reference) {
  const std::string type = is_reference ? "double" : "float";
  return std::string("/*@winnow\n{ \"launches\": [ { \"kernel\": \"negate\", \"grid\": ") +
         "[\"ceil_div(n, 64)\"], \"block\": [64],\n\"args\": [\"x\", \"y\", " +
         (is_reference ? "\"y_magnitude\", " : "") +
         "\"n\"] } ] }\n@*/\nextern \"C\" __global__ void negate(const float* x, " + type +
         "* y, " + (is_reference ? "double* size, " : "") +
         "int n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n" +
         "    y[i] = " + sign + "x[i];\n" + (is_reference ? "    size[i] = fabs(x[i]);\n" : "") +
         "  }\n}\n";
}

/// A report without its times, which differ from run to run.
json without_times(json report) {
  for (json& part : report) {
    if (part.is_structured()) {
      part = without_times(part);
    }
  }
  if (report.is_object()) {
    report.erase("seconds");
    report.erase("run_seconds");
  }
  return report;
}

/// A stand-in that follows the protocol of torch_baseline.py. It refuses doubles, and a request
/// that does not say the size of the axis n; for floats it runs `otherwise`.
std::string stand_in(const std::string& otherwise) {
  return std::string(kPythonStandIn) +
         "cd \"$2\" || exit 9\n"
         "echo '{\"torch\": \"9.9.9\", \"device\": \"cpu\"}'\n"
         "while read -r line; do\n"
         "case \"$line\" in *'\"float64\":true'*)\n"
         "  echo '{\"error\":\"no doubles here\",\"times_ns\":[]}'; continue;;\n"
         "*'\"axes\":{\"n\":'*) ;;\n"
         "*) echo '{\"error\":\"no axes\",\"times_ns\":[]}'; continue;; esac\n" +
         otherwise + "\necho '{\"error\":null,\"times_ns\":[]}'\ndone\n";
}
/// The last byte of each float holds the sign bit (0x80), which is flipped.
constexpr const char* kNegates =
    "od -An -v -tu1 -w4 in_0.raw | while read -r a b c d; do\n"
    "printf \"\\\\$(printf %03o $a)\\\\$(printf %03o $b)\\\\$(printf %03o $c)"
    "\\\\$(printf %03o $(( d < 128 ? d + 128 : d - 128 )))\"; done >out_0.raw";
constexpr const char* kCopyCommand = "cp in_0.raw out_0.raw";

struct SelftestTest : testing::Test {
  SelftestTest() {
    fs::create_directories(folder / "honest");
    put("task.toml", kNegationToml);
    put("reference.cu", kernel("-", true));
    put("baseline.cu", kernel("-", false));
    put("honest/from_zero.cu", kernel("0.0f - ", false));
    put("reference.py", "class Model:\n    def forward(self, x): pass\n");
    put("negates", stand_in(kNegates));
    put("copies", stand_in(kCopyCommand));
    put("bare",
        std::string(kPythonStandIn) + "echo '{\"missing\": \"bare cannot import torch\"}'\n");
    for (const char* program : {"negates", "copies", "bare"}) {
      fs::permissions(folder / program, fs::perms::owner_all);
    }
  }

  void put(const fs::path& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
  }
  void edit_task(const std::string& from, const std::string& to) const {
    std::string text = kNegationToml;
    text.replace(text.find(from), from.size(), to);
    put("task.toml", text);
  }
  ProgramResult run(const std::string& python, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"tasks",    "selftest", folder.string(),
                                       "--device", "cpu",      "--seeds",
                                       "2",        "--python", (folder / python).string(),
                                       "--seed",   "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_winnow(arguments);
  }
  ProgramResult judged() const {
    return run_winnow({"eval", folder.string(), (folder / "baseline.cu").string(), "--device",
                       "cpu", "--no-timing", "--no-promotion"});
  }
  json selftest(const std::string& python, int exit_code) const {
    const ProgramResult result = run(python, {"--json"});
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    const json document = json_output(result);
    EXPECT_EQ(document.value("schema", ""), "winnow.selftest");
    return document.at("tasks").at(0);
  }

  TemporaryDirectory directory{"selftest-test"};
  fs::path folder = directory.path() / "negation";
};

/// The mutants in this state, for example "zeros on promotion".
std::vector<std::string> in_state(const json& task, const std::string& state) {
  std::vector<std::string> names;
  for (const json& mutant : task.at("mutants")) {
    if (mutant.at("state") == state) {
      names.push_back(mutant.at("mutant").get<std::string>() + " on " +
                      mutant.at("shape_set").get<std::string>());
    }
  }
  return names;
}

TEST_F(SelftestTest, ASoundTaskProvesItself) {
  const json task = selftest("negates", 0);
  EXPECT_TRUE(task.at("proven"));
  EXPECT_THAT(in_state(task, "accepted"), testing::IsEmpty());
  EXPECT_THAT(
      in_state(task, "rejected"),
      testing::IsSupersetOf(
          {"zeros on tiny", "identity on search", "mean on held_out", "inputs as tf32 on tiny",
           "inputs as f8e4m3 on promotion", "truncated: x along axis 0 on promotion",
           "stale output on tiny", "unwritten tail: y on search", "block skipped: y on held_out",
           "hard-coded shape: y on promotion", "edge off by one: y along axis 0 on held_out"}));
  EXPECT_EQ(task.at("honest").size(), 3U) << "reference.cu, baseline.cu, honest/from_zero.cu";
  EXPECT_EQ(task.at("honest").at(2).at("cases"), 10) << "five shapes, two seeds";
  EXPECT_EQ(task.at("reference").at("state"), "agrees");
  EXPECT_THAT(judged().err, testing::Not(HasSubstr("not proven")));
}

/// The last element is 0 for half of the inputs, as a kernel leaves it that stops one too early.
TEST_F(SelftestTest, AMutantThatIsRightByLuckGetsOtherInputs) {
  put("reference.cu", kernel("fmaxf(x[i], 0.0f) + 0.0f * ", true));
  put("baseline.cu", kernel("fmaxf(x[i], 0.0f) + 0.0f * ", false));
  fs::remove(folder / "honest/from_zero.cu");
  const auto selftest_with = [&](const std::string& mean, const std::string& seed) {
    edit_task("mean = [-1, 1]", "mean = " + mean);
    return run_winnow({"tasks", "selftest", folder.string(), "--device", "cpu", "--seeds", "1",
                       "--python", (folder / "bare").string(), "--seed", seed})
        .out;
  };
  for (const char* seed : {"1", "2"}) {
    EXPECT_THAT(selftest_with("[-0.1, 0.1]", seed), HasSubstr(" rejected, 0 accepted "));
  }
  EXPECT_THAT(selftest_with("[-30, -20]", "1"),
              HasSubstr("it gives the right answer: choose other shapes or inputs"));
}

TEST_F(SelftestTest, AMistakeInThePlanOfAnHonestKernelIsReported) {
  put("honest/last.cu", "/*@winnow\n{ \"launches\": [ { \"kernle\": \"negate\" } ] }\n@*/\n");
  const ProgramResult result = run("negates");
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("honest/last.cu:2:"));
  const ProgramResult beside_another =
      run_winnow({"tasks", "selftest", folder.string(), "axpy", "--seeds", "1", "--jobs", "2"});
  EXPECT_EQ(beside_another.exit_code, 2) << beside_another.out << beside_another.err;
  EXPECT_THAT(beside_another.err, HasSubstr("honest/last.cu:2:"));
}

TEST_F(SelftestTest, AConstantInputIsTooFriendly) {
  edit_task(R"({ kind = "normal", mean = [-1, 1], std = [0.5, 2] })",
            R"({ kind = "constant", value = [2, 3] })");
  const json task = selftest("negates", 10);
  EXPECT_FALSE(task.at("proven"));
  EXPECT_THAT(in_state(task, "accepted"),
              testing::IsSupersetOf(
                  {"mean on tiny", "stale output on search", "stale output on held_out"}));
  EXPECT_THAT(in_state(task, "rejected"), testing::Contains("zeros on tiny"));
  EXPECT_THAT(task.at("memorisable"), HasSubstr("at search/0"));
}

TEST_F(SelftestTest, ALooseToleranceIsFoundOut) {
  edit_task(R"(multiple = "1")", R"(multiple = "100000")");
  const ProgramResult result = run("negates");
  EXPECT_EQ(result.exit_code, 10) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("ACCEPTED"));
  EXPECT_THAT(result.out, HasSubstr("mutant accepted on tiny: inputs as bf16"));
  EXPECT_THAT(result.out, HasSubstr("NOT PROVEN"));
  EXPECT_THAT(judged().err, HasSubstr("warning: the task negation is not proven on cpu, its last "
                                      "selftest did not prove it: run `winnow tasks selftest "));
}

TEST_F(SelftestTest, AWrongKernelMustBeRejectedByTheJudge) {
  fs::create_directories(folder / "wrong");
  put("wrong/narrow_sign.cu", kernel("-1.001f * ", false));
  json task = selftest("negates", 0);
  EXPECT_EQ(task.at("wrong").at(0).at("state"), "rejected");
  put("wrong/narrow_nothing.cu", kernel("-", false));
  task = selftest("negates", 10);
  EXPECT_EQ(task.at("wrong").at(0).at("state"), "accepted") << task.at("wrong").at(0);
  put("wrong/narrow_nothing.cu", kernel("no_such_function() * ", false));
  ProgramResult result = run("negates");
  EXPECT_NE(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.err, HasSubstr("wrong/narrow_nothing.cu was not judged"));
  fs::rename(folder / "wrong/narrow_nothing.cu", folder / "wrong/nothing.cu");
  result = run("negates");
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr("begin the name with one of fixed_shift, one_pass"));
}

TEST_F(SelftestTest, AnIntermediateIsNarrowedAsTheTaskSays) {
  std::string reference = kernel("-", true);
  const std::string value = "y[i] = -x[i];";
  reference.replace(reference.find(value), value.size(), "y[i] = NARROW(value, -x[i]);");
  put("reference.cu", reference);
  json narrowed = selftest("negates", 0).at("narrowed");
  ASSERT_EQ(narrowed.size(), 4U) << "f16 and bf16, at a search and a promotion shape";
  EXPECT_EQ(narrowed.at(0).at("state"), "rejected");
  EXPECT_EQ(narrowed.at(0).at("intermediate"), "value");
  edit_task(R"(multiple = "1")", "multiple = \"1\"\nallows = { value = \"f16\" }");
  narrowed = selftest("negates", 10).at("narrowed");
  EXPECT_EQ(narrowed.at(0).at("allowed"), true);
  EXPECT_EQ(narrowed.at(0).at("state"), "rejected") << "the limit refuses what the task allows";
}

TEST_F(SelftestTest, ALimitThatGrowsWithTheSizeIsFoundOut) {
  fs::remove_all(folder);
  fs::copy(project_folder() / "tasks/catalogue/reduction/reduce_sum", folder,
           fs::copy_options::recursive);
  fs::remove_all(folder / "honest"); // only the mutants are of interest
  std::string text = read_file(folder / "task.toml", 1U << 20U);
  const auto put_in_place = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  const std::string limit = R"x(multiple = "11 + 3 / (1 + n / 500000)")x";
  put_in_place("\n" + limit, "\nmultiple = \"4 + sqrt(n) / 4\"");
  put_in_place("\nnorm_" + limit, "\nnorm_multiple = \"4 + sqrt(n) / 4\"");
  put_in_place(
      R"({ kind = "heavy_tail", scale = [0.5, 2], tail = [3000, 6000], factor = [30000, 200000] })",
      R"({ kind = "normal", mean = [0.25, 0.3], std = [1, 1.1] })");
  put("task.toml", text);
  const json task = json_output(run_winnow({"tasks", "selftest", folder.string(), "--seed", "1",
                                            "--seeds", "1", "--json"}))
                        .at("tasks")
                        .at(0);
  EXPECT_FALSE(task.at("proven"));
  EXPECT_THAT(in_state(task, "accepted"),
              testing::IsSupersetOf({"inputs as tf32 on search", "inputs as tf32 on promotion"}));
}

TEST_F(SelftestTest, EveryRunDrawsItsInputsAndSaysHowToRepeatIt) {
  const std::vector<std::string> arguments{
      "tasks", "selftest", folder.string(), "--seeds",
      "1",     "--json",   "--python",      (folder / "negates").string()};
  const json first = json_output(run_winnow(arguments));
  EXPECT_NE(first.at("seed"), json_output(run_winnow(arguments)).at("seed"));
  std::vector<std::string> again = arguments;
  again.insert(again.end(), {"--seed", first.at("seed").get<std::string>()});
  EXPECT_EQ(without_times(json_output(run_winnow(again))), without_times(first));
}

TEST_F(SelftestTest, AToleranceThatHonestKernelsMissIsFoundOut) {
  edit_task(R"(multiple = "1")", R"(multiple = "0.01")");
  // This kernel has a rounding error that the reference does not have.
  put("honest/from_zero.cu", kernel("-1.0000001f * ", false));
  const json task = selftest("negates", 10);
  const json& kernel = task.at("honest").at(2);
  EXPECT_EQ(kernel.at("state"), "rejected");
  EXPECT_THAT(kernel.at("detail").get<std::string>(), HasSubstr("at tiny/"));
}

TEST_F(SelftestTest, AReferenceThatComputesSomethingElseIsFoundOut) {
  const json task = selftest("copies", 10);
  EXPECT_EQ(task.at("reference").at("state"), "differs");
  EXPECT_THAT(task.at("reference").at("detail").get<std::string>(),
              HasSubstr((folder / "reference.py").string() + ":2: tiny/0: "));
}

TEST_F(SelftestTest, OperationsAndBytesThatHonestKernelsRefuteAreNamed) {
  for (const char* key : {"operations = \"", "bytes = \""}) {
    edit_task(key, std::string(key) + "1e9 * ");
    const json task = selftest("negates", 10);
    const std::string file = (folder / "task.toml").string();
    EXPECT_THAT(
        task.at("honest").at(1).at("detail").get<std::string>(),
        HasSubstr("`operations` (" + file + ":3:14) or `bytes` (" + file + ":4:9) is too large"));
  }
}

TEST_F(SelftestTest, AShapeThatTheDeviceCannotHoldIsAUsageError) {
  edit_task("n = 77", "n = 100000000000");
  const ProgramResult result = run("negates");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr((folder / "task.toml").string() + ":27:1: held_out/0 (n=100000000000)"));
}

TEST_F(SelftestTest, ATaskThatFailsCostsOthersNothing) {
  const fs::path broken = directory.path() / "broken";
  fs::copy(folder, broken, fs::copy_options::recursive);
  std::string reference = kernel("-", true);
  reference.insert(reference.find("y[i] = "), "if (n > 1000) { __trap(); }\n    ");
  std::ofstream(broken / "reference.cu") << reference;
  const ProgramResult result = run("negates", {broken.string(), "--jobs", "2", "--json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const json tasks = json_output(result).at("tasks");
  EXPECT_EQ(tasks.at(0).at("proven"), true) << tasks.at(0);
  EXPECT_EQ(tasks.at(0).at("failure"), "");
  EXPECT_EQ(tasks.at(1).at("proven"), false);
  EXPECT_THAT(tasks.at(1).at("failure").get<std::string>(), HasSubstr("promotion/0"));
}

TEST_F(SelftestTest, GoldenTensorsStandInForPyTorch) {
  EXPECT_EQ(selftest("bare", 10).at("reference").at("state"), "unchecked");
  const ProgramResult refused = run("copies", {"--write-golden"});
  EXPECT_EQ(refused.exit_code, 1) << refused.out << refused.err;
  EXPECT_FALSE(fs::exists(folder / "golden.json")) << "PyTorch and reference.cu disagree";
  const ProgramResult missing = run("bare", {"--write-golden"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("cannot import torch"));

  const ProgramResult written = run("negates", {"--write-golden"});
  EXPECT_EQ(written.exit_code, 0) << written.out << written.err;
  const json reference = selftest("bare", 0).at("reference");
  EXPECT_EQ(reference.at("state"), "agrees");
  EXPECT_THAT(reference.at("source").get<std::string>(), HasSubstr("golden.json (torch 9.9.9)"));
  EXPECT_EQ(reference.at("shapes"), 2);

  json golden = json::parse(read_file(folder / "golden.json", 1U << 20U));
  golden.at("samples").at(1).at("outputs").at("y").at(7) = 12.5;
  put("golden.json", golden.dump());
  EXPECT_EQ(selftest("bare", 10).at("reference").at("state"), "differs");

  golden.at("samples").at(1).at("axes").at("n") = 131;
  put("golden.json", golden.dump());
  const ProgramResult stale = run("bare");
  EXPECT_EQ(stale.exit_code, 2);
  EXPECT_THAT(stale.err, HasSubstr("no longer has the shape tiny/1"));
  EXPECT_THAT(stale.err, HasSubstr("--write-golden"));
}

TEST_F(SelftestTest, OfTheCatalogueRejectsMutantsAndAcceptsHonestKernels) {
  const ProgramResult result =
      run_winnow({"tasks", "selftest", "gemm_i8", "axpy", "--seeds", "1", "--jobs", "2", "--json"});
  const json document = json_output(result);
  ASSERT_EQ(document.at("tasks").size(), 2U) << result.err;
  EXPECT_EQ(document.at("tasks").at(0).at("task"), "gemm_i8") << "the order of the names";
  EXPECT_EQ(document.at("tasks").at(1).at("task"), "axpy");
  for (const json& task : document.at("tasks")) {
    EXPECT_THAT(in_state(task, "accepted"), testing::IsEmpty()) << task.at("task");
    for (const json& kernel : task.at("honest")) {
      EXPECT_EQ(kernel.at("state"), "accepted") << kernel;
    }
    EXPECT_NE(task.at("reference").at("state"), "differs");
  }
}

TEST(Selftest, OfANameThatIsNoTaskIsAUsageError) {
  EXPECT_EQ(run_winnow({"tasks", "selftest", "no_such_task"}).exit_code, 2);
  const ProgramResult result = run_winnow({"tasks", "selftest", "--write-golden"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--write-golden needs a TASK"));
}

} // namespace
} // namespace winnow::test
