// Where the inputs of an evaluation come from: drawn, unless a seed is given, which no board ranks.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <fstream>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json evaluation(const std::string& task, const std::string& file,
                const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"eval", task, file, "--device", "cpu", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = run_winnow(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  return json_output(result);
}

json axpy(const std::vector<std::string>& more) {
  return evaluation("axpy", "tasks/catalogue/blas/axpy/baseline.cu", more);
}

std::vector<std::string> case_seeds(const json& evaluation) {
  std::vector<std::string> seeds;
  for (const json& shape : evaluation.at("cases")) {
    seeds.push_back(shape.value("seed", "hidden"));
  }
  return seeds;
}

TEST(Seed, IsDrawnAnewAndRepeatsAnEvaluationWhenGiven) {
  const json drawn = axpy({"--no-timing"});
  const json another = axpy({"--no-timing"});
  EXPECT_EQ(drawn.at("unranked"), "");
  EXPECT_NE(drawn.at("seed"), another.at("seed"));
  EXPECT_NE(case_seeds(drawn), case_seeds(another));
  for (int i = 0; i < 2; ++i) {
    const json repeated = axpy({"--no-timing", "--seed", drawn.at("seed")});
    EXPECT_EQ(repeated.at("seed"), drawn.at("seed"));
    EXPECT_EQ(case_seeds(repeated), case_seeds(drawn));
    EXPECT_EQ(repeated.at("unranked"), "its seed was given");
  }
}

TEST(Seed, OfARunIsOnNoBoardUntilItsKernelsAreJudgedAgain) {
  const TemporaryDirectory directory("seed-test");
  const std::string store = directory.path() / "run.db";
  const ProgramResult run = run_winnow({"run", "tests/e2e/resume/resume.toml", "--store", store,
                                        "--task", "reduce_sum", "--set", "evaluation.seed=7"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("evaluation.seed is set: boards rank no kernel of this run"));
  EXPECT_THAT(run.err, HasSubstr("(best ")) << "it searches all the same";
  EXPECT_THAT(run.out, HasSubstr("its seed was given"));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("held-out"))) << "nobody leads";
  const auto count = [&](const std::string& condition) {
    return SQLite::Database(store, SQLite::OPEN_READONLY)
        .execAndGet("SELECT count(*) FROM leaderboard WHERE " + condition)
        .getInt();
  };
  EXPECT_GT(count("unranked = 'its seed was given'"), 1);
  EXPECT_EQ(count("rank IS NOT NULL"), 0);
  const ProgramResult again = run_winnow({"reverify", "--store", store, "--device", "cpu"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("not ranked (its seed was given)"));
  EXPECT_GT(count("rank IS NOT NULL"), 1);
  // Beside other work the slowest kernel may be measured too slow for the final.
  EXPECT_EQ(count("unranked <> '' AND speedup > 0.2"), 0) << again.out << again.err;
  EXPECT_EQ(count("rank IS NULL AND speedup > 0.2"), 0) << again.out;
}

/// Writes the kernel y[i] = 2 * x[i] to `path`, as the task's reference or as a candidate.
void write_kernel(const std::filesystem::path& path, bool is_reference) {
  const std::string type = is_reference ? "double" : "float";
  std::ofstream(path) << "/*@winnow\n{\"launches\": [{\"kernel\": \"twice\", \"grid\": "
                         "[\"ceil_div(n, 64)\"], \"block\": [64], \"args\": [\"x\", \"y\", "
                      << (is_reference ? "\"y_magnitude\", " : "")
                      << "\"n\"]}]}\n@*/\nextern \"C\" __global__ void twice(const float* x, "
                      << type << "* y, " << (is_reference ? "double* size, " : "")
                      << "int n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "  if (i < n) {\n    y[i] = 2 * x[i];\n"
                      << (is_reference ? "    size[i] = 2 * fabs(x[i]);\n" : "") << "  }\n}\n";
}

TEST(Seed, ThatChangesNoInputMakesATaskThatNobodyRanks) {
  const TemporaryDirectory directory("seed-test");
  const auto folder = directory.path() / "constant";
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "task.toml")
      << "title = \"Twice\"\ndescription = \"y = 2 x\"\noperations = \"n\"\nbytes = \"8 * n\"\n"
         "[axes]\nn = \"elements\"\n"
         "[tensors.x]\nrole = \"input\"\ndtype = \"f32\"\nshape = [\"n\"]\n"
         "generator = { kind = \"constant\", value = [3, 4] }\n"
         "[tensors.y]\nrole = \"output\"\ndtype = \"f32\"\nshape = [\"n\"]\n"
         "[tolerance]\nprecision = \"f32\"\nmultiple = \"1\"\n"
         "[[shapes.tiny]]\nn = 5\n[[shapes.search]]\nn = 100000\n"
         "[[shapes.promotion]]\nn = 101300\n[[shapes.held_out]]\nn = 77\n";
  write_kernel(folder / "reference.cu", true);
  write_kernel(folder / "baseline.cu", false);
  std::ofstream(folder / "reference.py") << "class Model:\n    def forward(self, x): pass\n";
  const std::string why =
      "its timings can be memorised: no input differs from launch to launch at search/0";
  EXPECT_THAT(run_winnow({"tasks", "show", folder}).out,
              HasSubstr("warning: boards will rank no kernel on cpu: " + why));
  const json judged = evaluation(folder, folder / "baseline.cu", {});
  EXPECT_EQ(judged.at("unranked"), why);
  EXPECT_EQ(judged.at("notes").at(0), why);
}

} // namespace
} // namespace winnow::test
