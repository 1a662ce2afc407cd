// Measures the time of `winnow leaderboard` on a large store.
//   leaderboard_bench [EVALUATIONS [FILE]]
// Fills FILE (default: a temporary file) with EVALUATIONS (default: 100,000) evaluations of six
// tasks and prints medians. There are two stores. `all ranked` is the worst case: every evaluation
// belongs to another correct candidate. `mixed` has five variants for each candidate, and one third
// of the candidates is correct. FILE is kept, so that the program itself can be timed with it.
#include "base/files.h"
#include "store/leaderboard_format.h"
#include "store/run_store.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <chrono>
#include <cstdlib>
#include <functional>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace winnow;
using Clock = std::chrono::steady_clock;

constexpr int kTasks = 6;
constexpr int kRepeats = 21;

struct Mix {
  const char* name;
  int variants;   ///< evaluations per candidate
  int correct_of; ///< one of this many candidates is correct
};
constexpr Mix kMixes[] = {{"all ranked", 1, 1}, {"mixed", 5, 3}};

/// Writes directly into the tables, in one transaction. Triggers and constraints are those of a
/// real run, but nothing waits for the disk.
void fill(const std::filesystem::path& path, std::int64_t evaluations, const Mix& mix) {
  {
    store::RunStore store(path, store::RunStore::Mode::ReadWrite);
    store.create_run("synthetic", nullptr, nullptr);
    for (int i = 0; i < kTasks; ++i) {
      tasks::Task task;
      task.name = fmt::format("task_{}", i);
      task.digest = task.name;
      store.add_task(task);
    }
  }
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
  const std::int64_t candidates = evaluations / mix.variants;
  const auto numbers = [](std::int64_t count) {
    return fmt::format(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) ", count);
  };
  database.exec("BEGIN");
  database.exec("INSERT INTO kernel_files (digest, text, lines) " + numbers(candidates) +
                "SELECT lower(hex(randomblob(32))), '// kernel ' || i, 1 FROM n");
  database.exec("INSERT INTO candidates (run_id, task_id, call_key, origin, kernel_file_id, "
                "created_at) " +
                numbers(candidates) +
                fmt::format("SELECT 1, 1 + i % {}, 'call/' || i, 'model', i, "
                            "'2026-11-20T09:44:26.123Z' FROM n",
                            kTasks));
  database.exec(
      "INSERT INTO variants (candidate_id, parameters) " + numbers(evaluations) +
      fmt::format("SELECT 1 + (i - 1) / {0}, json_object('BLOCK', i % {0}) FROM n", mix.variants));
  database.exec(
      "INSERT INTO evaluations (candidate_id, variant_id, ordinal, verdict, stage, detail, notes, "
      "speedup, score_ns, device, device_name, isolation, evaluator_version, build_from_cache, "
      "build_seconds, started_at, seconds) " +
      numbers(evaluations) +
      fmt::format("SELECT 1 + (i - 1) / {0}, i, (i - 1) % {0}, "
                  "CASE WHEN ((i - 1) / {0}) % {1} = 0 THEN 17 ELSE 11 END, 8, '', '[]', "
                  "0.5 + abs(random() % 1000000) / 2e5, 1e6, 'cpu', 'Synthetic CPU', 'bubblewrap', "
                  "7, 0, 0.1, '2026-11-20T09:44:26.123Z', 1.0 FROM n",
                  mix.variants, mix.correct_of));
  database.exec("UPDATE evaluations SET kernel = 'kernel ' || id");
  database.exec(fmt::format(
      "INSERT INTO sittings (task_id, device, device_name, evaluator_version, seed, rounds, "
      "baseline_spread, widening, started_at, seconds) SELECT id, 'cpu', 'Synthetic CPU', 7, 1, 6, "
      "0.1, 1.5, '', 1.0 FROM tasks WHERE id <= {}",
      kTasks / 2)); // the other half of the boards has no final
  database.exec("INSERT INTO sitting_rows SELECT s.id, n.value, e.kernel, c.kernel_file_id, e.id, "
                "17, '', n.value, 1e6, 10.0 - n.value, 0.1, 20.0, 1.0, '[]', '[]' FROM sittings AS "
                "s, json_each('[1, 2, 3, 4, 5, 6, 7, 8]') AS n JOIN candidates AS c ON c.task_id = "
                "s.task_id JOIN evaluations AS e ON e.candidate_id = c.id AND e.ordinal = 0 WHERE "
                "c.id BETWEEN 24 * n.value + 1 AND 24 * n.value + 6");
  database.exec("COMMIT");
}

double median_ms(const std::function<void()>& work) {
  std::vector<double> samples;
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = Clock::now();
    work();
    samples.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return tasks::median(std::move(samples));
}

void measure(const std::filesystem::path& path, std::int64_t evaluations, const Mix& mix) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(path.string() + suffix);
  }
  const auto begin = Clock::now();
  fill(path, evaluations, mix);
  const double fill_s = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto report = [&](const char* what, const store::LeaderboardQuery& query) {
    std::size_t rows = 0;
    const double ms = median_ms([&] {
      const store::RunStore store(path, store::RunStore::Mode::ReadOnly);
      const auto leaderboard = store.leaderboard(query);
      rows = leaderboard.size();
      if (store::leaderboard_json(leaderboard, {}).empty()) {
        std::abort();
      }
    });
    fmt::print("{:<11} {:>8} evaluations  {:<22} {:>7} rows  median of {}: {:8.2f} ms\n", mix.name,
               evaluations, what, rows, kRepeats, ms);
  };
  fmt::print("{:<11} {:>8} evaluations  filled in {:.1f} s, {} bytes\n", mix.name, evaluations,
             fill_s, std::filesystem::file_size(path));
  report("top 10", {});
  report("top 10 of one run", {.task = "", .device = "", .run = "synthetic"});
  report("everything", {.task = "", .device = "", .run = "", .top = 0});
}

} // namespace

int main(int argc, char** argv) {
  try {
    const std::int64_t evaluations = argc > 1 ? std::stoll(argv[1]) : 100000;
    const TemporaryDirectory directory("leaderboard-bench");
    const std::filesystem::path path = argc > 2 ? argv[2] : directory.path() / "store.db";
    for (const Mix& mix : kMixes) {
      measure(path, evaluations, mix);
    }
    return EXIT_SUCCESS;
  } catch (const std::exception& e) {
    fmt::print(stderr, "leaderboard_bench: {}\n", e.what());
    return EXIT_FAILURE;
  }
}
