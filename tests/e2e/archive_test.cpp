// A replayed run of the strategy `archive` on the CPU device: every operator, a reply that is
// repaired, blocks that apply and blocks that do not, tuned families, kernels with two parents.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;

/// A kernel for axpy that does its work `repeats` times.
std::string plain(int repeats, const std::string& blocks) {
  return fmt::format(R"cu(/*@winnow
{{ "params": {{ "BLOCK": {} }},
  "launches": [ {{ "kernel": "axpy", "grid": "ceil_div(n, BLOCK)", "block": "BLOCK",
                  "args": ["x", "y", "z", "alpha", "n"] }} ] }}
@*/
extern "C" __global__ void axpy(const float* x, const float* y, volatile float* z, float alpha,
                                int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int repeat = 0; repeat < {} && i < n; ++repeat) {{
    z[i] = alpha * x[i] + y[i];
  }}
}}
)cu",
                     blocks, repeats);
}

/// The same with a barrier, which is another structure.
std::string with_barrier() {
  return R"cu(/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": "ceil_div(n, 8192)", "block": 64,
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
extern "C" __global__ void axpy(const float* x, const float* y, volatile float* z, float alpha,
                                int n) {
  __shared__ float factor;
  if (threadIdx.x == 0) {
    factor = alpha;
  }
  __syncthreads();
  const int end = min(n, (int)(blockIdx.x + 1) * 8192);
  for (int repeat = 0; repeat < 8; ++repeat) {
    for (int i = blockIdx.x * 8192 + threadIdx.x; i < end; i += 64) {
      z[i] = factor * x[i] + y[i];
    }
  }
}
)cu";
}

std::string fenced(const std::string& kernel) {
  return "```cuda\n" + kernel + "```\n";
}

std::string block(const std::string& search, const std::string& replace) {
  return fmt::format("<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n", search, replace);
}

struct Reply {
  std::string text;
  double dollars = 0;
};

constexpr std::size_t kCalls = 14;

/// By number of the call. Two seeds and a broken one, which is repaired; blocks that do not apply,
/// which are repaired, too; a rewrite without a kernel. The others have blocks that apply, and a
/// whole kernel for operators other than diff. Nothing is faster than the first seed. What costs
/// much is not chosen again soon, so the dollars make the operators take turns.
std::vector<Reply> replies() {
  std::string broken = plain(8, "[64, 128]");
  broken.replace(broken.find("alpha * x"), 5, "alfa");
  const std::string applies = block("  const int i = blockIdx.x * blockDim.x + threadIdx.x;",
                                    "  const int i = threadIdx.x + blockDim.x * blockIdx.x;");
  std::vector<Reply> all{{fenced(plain(1, "[64]"))},
                         {fenced(with_barrier())},
                         {fenced(broken)},
                         {fenced(plain(8, "[64, 128]"))},
                         {block("  no such line", "  another"), 400},
                         {fenced(plain(8, "[64]"))},
                         {"I cannot do that.", 200}};
  all.resize(kCalls, {fenced(plain(8, "[64]")) + applies, 100});
  return all;
}

/// Writes the recording and the configuration. Returns the latter's path.
std::string write_run(const std::filesystem::path& folder) {
  std::ofstream recording(folder / "replies.jsonl");
  int number = 0;
  for (const Reply& reply : replies()) {
    recording << nlohmann::json{{"schema", "winnow.call"},
                                {"version", 1},
                                {"key", fmt::format("axpy/0/{}", number++)},
                                {"reply", reply.text},
                                {"dollars", reply.dollars}}
                     .dump()
              << '\n';
  }
  // A task of the user's own, which a resumed run has to find again.
  const std::filesystem::path task = folder / "axpy";
  std::filesystem::copy(project_folder() / "tasks/catalogue/blas/axpy", task,
                        std::filesystem::copy_options::recursive);
  const std::filesystem::path config = folder / "archive.toml";
  std::ofstream(config) << fmt::format("[run]\ntasks = [\"{}\"]\n", task.string())
                        << R"(name = "archive"
strategy = "archive"
proposals = 14
seeds = 3
device = "cpu"
parallel = 1

[endpoint]
kind = "replay"
file = "replies.jsonl"

[evaluation]
time_budget = "8ms"
tiny_seeds = 1
check = false
)";
  return config;
}

/// The rows of a query with one column.
std::vector<std::string> rows(const std::string& store, const std::string& query) {
  SQLite::Database database(store, SQLite::OPEN_READONLY);
  SQLite::Statement statement(database, query);
  std::vector<std::string> values;
  while (statement.executeStep()) {
    values.push_back(statement.getColumn(0).getString());
  }
  return values;
}

ProgramResult resume(const std::string& store, const std::string& max_calls) {
  return run_winnow({"resume", "archive", "--store", store, "--max-calls", max_calls});
}

/// Stops twice, so that what the bandit chooses by does not depend on the machine's speed.
void run_in_three_parts(const std::filesystem::path& folder, const std::string& store) {
  const ProgramResult seeds =
      run_winnow({"run", write_run(folder), "--store", store, "--max-calls", "3"});
  ASSERT_EQ(seeds.exit_code, 5) << seeds.err;
  const ProgramResult more = resume(store, "7");
  ASSERT_EQ(more.exit_code, 5) << more.err;
  const ProgramResult run = resume(store, "0");
  ASSERT_EQ(run.exit_code, 0) << run.err;
}

constexpr const char* kOperator = "json_extract(detail, '$.action.operator')";

std::vector<std::string> operators_of(const std::string& store) {
  return rows(store, fmt::format("SELECT DISTINCT {0} AS op FROM search_log "
                                 "WHERE kind = 'decided' AND {0} IS NOT NULL ORDER BY op",
                                 kOperator));
}

/// The first seed makes one sweep, and the other kernels make eight. On a very busy machine one of
/// the others is timed as the fastest.
bool is_first_seed_fastest(const std::string& store) {
  return rows(store, "SELECT call_key FROM candidate_overview WHERE call_key IS NOT NULL "
                     "ORDER BY speedup DESC LIMIT 1") == std::vector<std::string>{"axpy/0/0"};
}

TEST(Archive, AReplayedRunUsesEveryOperatorAndTunes) {
  const std::vector<std::string> all{"contrast", "crossover", "diff", "repair", "rewrite", "seed"};
  std::optional<TemporaryDirectory> directory;
  std::string store;
  constexpr int kMostRuns = 5;
  for (int i = 0; i < kMostRuns; ++i) {
    directory.emplace("archive-test");
    store = directory->path() / "run.db";
    ASSERT_NO_FATAL_FAILURE(run_in_three_parts(directory->path(), store));
    if (operators_of(store) == all || is_first_seed_fastest(store)) {
      break;
    }
  }
  EXPECT_EQ(operators_of(store), all);
  const std::string ask = fmt::format(
      "(SELECT json_extract(detail, '$.action.ask') FROM search_log WHERE {} = '{{}}')", kOperator);
  const auto verdicts = [&](const std::string& which) {
    return rows(store, "SELECT verdict FROM candidate_overview WHERE call_key IN " +
                           fmt::format(fmt::runtime(ask), which));
  };
  EXPECT_THAT(verdicts("repair"), Contains("correct"));
  EXPECT_THAT(verdicts("diff"), IsSupersetOf({"correct", "bad_reply"}));
  for (const std::string& parents :
       rows(store, "SELECT parents FROM candidate_overview WHERE call_key IN " +
                       fmt::format(fmt::runtime(ask), "crossover"))) {
    const auto both = nlohmann::json::parse(parents);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_NE(both[0], both[1]);
  }
  EXPECT_THAT(rows(store, "SELECT DISTINCT turns FROM evaluations WHERE turns > 0 ORDER BY turns"),
              ElementsAre("3", "12"));
}

} // namespace
} // namespace winnow::test
