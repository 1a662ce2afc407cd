// Opening stores that are damaged, locked, foreign, older or newer.
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "store/advice.h"
#include "store/database.h"
#include "store/run_store.h"
#include "store/schema.h"
#include "store/test_store.h"
#include "tasks/plan/kernel_file.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::store {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::query_file;
using testing::TestStore;

constexpr auto kReadWrite = RunStore::Mode::ReadWrite;
constexpr auto kReadOnly = RunStore::Mode::ReadOnly;
const OpenOptions kImpatient{.busy_timeout = std::chrono::milliseconds(50), .max_pages = 0};

/// "what; remedy" of the Error that `act` must throw.
std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return std::string(e.what()) + "; " + e.remedy();
  }
  return "no error";
}

std::string opening_error(const std::filesystem::path& path, RunStore::Mode mode) {
  return error_of([&] { const RunStore store(path, mode, kImpatient); });
}

void write_raw(const std::filesystem::path& path, const std::string& sql) {
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

/// A store as a single file, which no process has open.
std::filesystem::path closed_store(const TemporaryDirectory& directory) {
  const std::filesystem::path path = directory.path() / "store.db";
  RunStore store(path, kReadWrite);
  store.create_run("kept", nullptr, nullptr);
  return path;
}

std::int64_t newest_version() {
  return migrations().back().version;
}

TEST(OpenStore, CreatesTheFileAndItsDirectories) {
  const TemporaryDirectory directory("store-test");
  const std::filesystem::path path = directory.path() / "a" / "b" / "store.db";
  const RunStore store(path, kReadWrite);
  EXPECT_TRUE(std::filesystem::exists(path));
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(number >> shift);
  }
  return bytes;
}

/// A journal for a store of pages of 4,096 bytes, which has SQLite delete `victim`.
std::string journal_that_names(const std::string& victim, std::uint32_t pages) {
  const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::string header = magic + big_endian(0) + big_endian(0) + big_endian(pages) + big_endian(512) +
                       big_endian(4096);
  header.resize(512);
  std::uint32_t sum = 0;
  for (const char c : victim) {
    sum += static_cast<std::uint32_t>(c);
  }
  return header + big_endian(0x40000000 / 4096 + 1) + victim +
         big_endian(static_cast<std::uint32_t>(victim.size())) + big_endian(sum) + magic;
}

TEST(OpenStore, DeletesNoFileThatAJournalNames) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  const auto victim = directory.path() / "key";
  write_file_atomic(victim, "precious");
  const auto pages = static_cast<std::uint32_t>(std::filesystem::file_size(path) / 4096);
  write_file_atomic(path.string() + "-journal", journal_that_names(victim.string(), pages));
  std::filesystem::create_symlink(path, directory.path() / "link.db");
  for (const auto mode : {kReadOnly, kReadWrite}) {
    EXPECT_THAT(opening_error(path, mode), HasSubstr("store.db-journal would have other files"));
    EXPECT_THAT(opening_error(directory.path() / "link.db", mode), HasSubstr("-journal"));
    EXPECT_TRUE(std::filesystem::exists(victim));
  }
}

TEST(OpenStore, WritesThroughNoLinkBesideIt) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  const auto victim = directory.path() / "notes";
  const std::string text(100'000, 'x');
  write_file_atomic(victim, text);
  for (const std::string suffix : {"-journal", "-wal", "-shm"}) {
    const std::filesystem::path link = path.string() + suffix;
    std::filesystem::create_symlink(victim, link);
    for (const auto mode : {kReadOnly, kReadWrite}) {
      EXPECT_THAT(opening_error(path, mode), HasSubstr(suffix + " would have other files"));
    }
    EXPECT_EQ(read_file(victim, text.size()), text) << suffix;
    std::filesystem::remove(link);
  }
  EXPECT_EQ(opening_error(path, kReadWrite), "no error");
}

TEST(OpenStore, NoSqlReachesAnotherFileOrTheSchemasText) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  Database database(path, OpenMode::ReadWrite, {});
  const std::string other = (directory.path() / "other.db").string();
  for (const std::string& sql :
       {"ATTACH '" + other + "' AS other", "VACUUM main INTO '" + other + "'",
        std::string("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ''")}) {
    EXPECT_THROW(database.execute_script(sql), SQLite::Exception) << sql;
  }
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST(OpenStore, AnOwnersViewRunsNoSqlOfTheFile) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  write_raw(path, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || "
                  "'; DROP TABLE main.events; SELECT 1' WHERE name = 'leaderboard'; "
                  "CREATE TABLE \"x AS SELECT 1; DROP TABLE main.events; --\" (\"a\"\"b\")");
  RunStore store(path, kReadOnly);
  store.show_only("bob");
  EXPECT_THAT(query_file(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'events'"),
              ElementsAre("1"));
  EXPECT_TRUE(store.leaderboard({}).empty());
}

TEST(OpenStore, AnOwnersViewFindsEachRowByAnIndex) {
  const TemporaryDirectory directory("store-test");
  RunStore store(closed_store(directory), kReadOnly);
  store.show_only("bob");
  store.read([](const Database& database) {
    for (const char* one :
         {"evaluation_overview WHERE candidate_id = 1", "candidate_overview WHERE candidate_id = 1",
          "case_overview WHERE evaluation_id = 1", "sample_series WHERE case_id = 1",
          "builds WHERE id = 1", "kernel_files WHERE id = 1", "environments WHERE run_id = 1"}) {
      Query plan(database, std::string("EXPLAIN QUERY PLAN SELECT * FROM ") + one);
      while (plan.next()) {
        EXPECT_THAT(plan.text("detail"),
                    Not(AnyOf(HasSubstr("LIST SUBQUERY"), HasSubstr("SCAN o"))))
            << one;
      }
    }
    return 0;
  });
}

TEST(OpenStore, IsMarkedAndReadableByOtherTools) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  EXPECT_THAT(query_file(path, "PRAGMA application_id"),
              ElementsAre(std::to_string(kApplicationId)));
  EXPECT_THAT(query_file(path, "PRAGMA user_version"),
              ElementsAre(std::to_string(newest_version())));
  EXPECT_THAT(query_file(path, "PRAGMA journal_mode"), ElementsAre("wal"));
  EXPECT_THAT(query_file(path, "PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_THAT(query_file(path, "SELECT number, name FROM verdicts WHERE number IN (0, 8)"),
              ElementsAre("0|not_judged", "8|out_of_bounds"));
  EXPECT_EQ(query_file(path, "SELECT * FROM stages").size(), 9U);
}

TEST(OpenStore, ReadOnlyNeedsAFile) {
  const TemporaryDirectory directory("store-test");
  const auto path = directory.path() / "none.db";
  EXPECT_THAT(opening_error(path, kReadOnly),
              AllOf(HasSubstr("there is no store " + path.string()), HasSubstr("winnow run")));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(OpenStore, ReadOnlyReadsAndRefusesToWrite) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  RunStore store(path, kReadOnly);
  EXPECT_EQ(store.find_run("kept")->id, 1);
  EXPECT_THAT(error_of([&] { store.create_run("new", nullptr, nullptr); }),
              AllOf(HasSubstr(path.string() + " is read-only"), HasSubstr("writable")));
}

TEST(OpenStore, ReadingLeavesOneFile) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  for (const auto mode : {kReadOnly, kReadWrite}) {
    { EXPECT_EQ(RunStore(path, mode).runs().size(), 1U); }
    EXPECT_FALSE(std::filesystem::exists(path.string() + "-wal"));
    EXPECT_FALSE(std::filesystem::exists(path.string() + "-shm"));
  }
}

TEST(OpenStore, GarbageIsNotAStore) {
  const TemporaryDirectory directory("store-test");
  const auto path = directory.path() / "garbage.db";
  std::ofstream(path) << std::string(10000, 'x');
  for (const auto mode : {kReadWrite, kReadOnly}) {
    EXPECT_THAT(opening_error(path, mode),
                AllOf(HasSubstr(path.string() + " is not a Winnow store"), HasSubstr("another")));
  }
  EXPECT_EQ(std::filesystem::file_size(path), 10000U) << "left as it was";
}

TEST(OpenStore, AnotherProgramsDatabaseIsLeftAlone) {
  const TemporaryDirectory directory("store-test");
  const auto path = directory.path() / "other.db";
  write_raw(path, "CREATE TABLE theirs (x)");
  for (const auto mode : {kReadWrite, kReadOnly}) {
    EXPECT_THAT(opening_error(path, mode), HasSubstr("another program's database"));
  }
  EXPECT_THAT(query_file(path, "SELECT name FROM sqlite_schema"), ElementsAre("theirs"));
  EXPECT_THAT(query_file(path, "PRAGMA journal_mode"), ElementsAre("delete"));
}

TEST(OpenStore, AnEmptyFileBecomesAStoreButCannotBeRead) {
  const TemporaryDirectory directory("store-test");
  const auto path = directory.path() / "empty.db";
  std::ofstream(path).flush();
  EXPECT_THAT(opening_error(path, kReadOnly), HasSubstr("it is empty"));
  EXPECT_EQ(opening_error(path, kReadWrite), "no error");
}

TEST(OpenStore, ATruncatedFileIsDamaged) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  const auto size = std::filesystem::file_size(path);
  for (const auto kept : {size - 4096, size / 2, std::uintmax_t{1000}}) {
    std::filesystem::resize_file(path, kept);
    for (const auto mode : {kReadWrite, kReadOnly}) {
      EXPECT_THAT(opening_error(path, mode), AllOf(HasSubstr(path.string()), HasSubstr("damaged")))
          << kept << " of " << size << " bytes";
    }
  }
}

TEST(OpenStore, ANewerStoreIsRefused) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  write_raw(path, "PRAGMA user_version = 99");
  for (const auto mode : {kReadWrite, kReadOnly}) {
    EXPECT_THAT(opening_error(path, mode),
                HasSubstr("written by a newer Winnow (schema 99, this one knows " +
                          std::to_string(newest_version()) + ")"));
  }
}

TEST(OpenStore, ADirectoryIsNotAStore) {
  const TemporaryDirectory directory("store-test");
  for (const auto mode : {kReadWrite, kReadOnly}) {
    EXPECT_THAT(opening_error(directory.path(), mode), HasSubstr("is a directory"));
  }
}

TEST(OpenStore, AFileInTheWayOfADirectoryIsNamed) {
  const TemporaryDirectory directory("store-test");
  std::ofstream(directory.path() / "file") << "x";
  EXPECT_THAT(
      opening_error(directory.path() / "file" / "store.db", kReadWrite),
      AllOf(HasSubstr((directory.path() / "file").string()), HasSubstr("cannot be created")));
}

TEST(OpenStore, ALockedStoreSaysSoAfterAWhile) {
  TestStore t(kImpatient);
  SQLite::Database other(t.path.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  EXPECT_THAT(error_of([&] { t.store.add_event(t.run, "x", nullptr); }),
              AllOf(HasSubstr(t.path.string() + " is locked by another process"),
                    HasSubstr("wait for that process or stop it")));
  EXPECT_EQ(t.store.runs().size(), 1U) << "reading goes on";
  other.exec("COMMIT");
  t.store.add_event(t.run, "x", nullptr);
  EXPECT_THAT(query_file(t.path, "SELECT count(*) FROM events"), ElementsAre("1"));
}

TEST(OpenStore, AnUnfinishedStoreThatIsLockedCannotBeOpened) {
  const TemporaryDirectory directory("store-test");
  const auto path = directory.path() / "new.db";
  SQLite::Database other(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  other.exec("BEGIN EXCLUSIVE; CREATE TABLE t (x)");
  EXPECT_THAT(opening_error(path, kReadWrite), HasSubstr("is locked by another process"));
}

TEST(OpenStore, WaitsForALockThatIsGivenBack) {
  TestStore t;
  SQLite::Database other(t.path.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  std::thread writer([&] { t.store.add_event(t.run, "x", nullptr); });
  other.exec("COMMIT");
  writer.join();
  EXPECT_THAT(query_file(t.path, "SELECT count(*) FROM events"), ElementsAre("1"));
}

TEST(OpenStore, ManyMayCreateTheSameStoreAtOnce) {
  const TemporaryDirectory directory("store-test");
  const auto path = directory.path() / "store.db";
  std::vector<std::string> errors(6);
  std::vector<std::thread> threads;
  for (std::string& error : errors) {
    threads.emplace_back(
        [&] { error = error_of([&] { const RunStore store(path, kReadWrite); }); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(errors, ::testing::Each("no error"));
  EXPECT_THAT(query_file(path, "PRAGMA integrity_check"), ElementsAre("ok"));
}

TEST(OpenStore, AFullDiskLosesNothingThatWasStored) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  const auto pages = static_cast<std::int64_t>(std::filesystem::file_size(path) / 4096);
  RunStore store(path, kReadWrite, {.busy_timeout = {}, .max_pages = pages + 10});
  const std::string large(20000, 'x');
  std::string error;
  int stored = 0;
  while (error.empty() && stored < 100) {
    error = error_of([&] {
      store.add_event(1, "large", large);
      ++stored;
    });
    error = error == "no error" ? "" : error;
  }
  EXPECT_THAT(error, AllOf(HasSubstr("no space left"), HasSubstr(path.string()),
                           HasSubstr("everything that was stored is still there")));
  EXPECT_GT(stored, 0);
  EXPECT_THAT(query_file(path, "SELECT count(*) FROM events"), ElementsAre(std::to_string(stored)));
  EXPECT_THAT(query_file(path, "PRAGMA integrity_check"), ElementsAre("ok"));
  store.set_run_status(1, "interrupted");
}

/// Runs `work` in a child process without root privileges. Returns its exit status.
int without_privileges(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned kNobody = 65534;
    const bool dropped = geteuid() != 0 || (setgid(kNobody) == 0 && setuid(kNobody) == 0);
    _exit(dropped && work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

class ReadOnlyDirectory : public ::testing::Test {
protected:
  ReadOnlyDirectory() : path_(closed_store(directory_)) { protect(); }
  ~ReadOnlyDirectory() override { unprotect(); }

  void protect() const {
    using std::filesystem::perms;
    std::filesystem::permissions(path_, perms::owner_read | perms::others_read);
    std::filesystem::permissions(directory_.path(), perms::owner_read | perms::owner_exec |
                                                        perms::others_read | perms::others_exec);
  }
  void unprotect() const {
    std::filesystem::permissions(directory_.path(), std::filesystem::perms::owner_all);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }

  TemporaryDirectory directory_{"store-test"};
  std::filesystem::path path_;
};

TEST_F(ReadOnlyDirectory, AStoreInItCanBeRead) {
  EXPECT_EQ(
      without_privileges([&] { return RunStore(path_, kReadOnly).find_run("kept").has_value(); }),
      0);
}

TEST_F(ReadOnlyDirectory, AnOlderStoreInItCannotBeRead) {
  unprotect();
  write_raw(path_, "PRAGMA user_version = 6");
  protect();
  EXPECT_EQ(without_privileges([&] {
              return opening_error(path_, kReadOnly).find("has the older schema 6") !=
                     std::string::npos;
            }),
            0);
}

TEST_F(ReadOnlyDirectory, AStoreInItCannotBeWritten) {
  EXPECT_EQ(without_privileges([&] {
              const std::string error = opening_error(path_, kReadWrite);
              return error.find(path_.string() + " is read-only") != std::string::npos;
            }),
            0);
}

TEST_F(ReadOnlyDirectory, NoStoreCanBeMadeInIt) {
  EXPECT_EQ(without_privileges([&] {
              const std::string error = opening_error(directory_.path() / "new.db", kReadWrite);
              return error.find("new.db cannot be opened") != std::string::npos;
            }),
            0);
}

TEST(Migrations, AreAppliedInOrderAndOnce) {
  const TemporaryDirectory directory("store-test");
  Database database(closed_store(directory), OpenMode::ReadWrite, {});
  const std::int64_t next = newest_version() + 1;
  EXPECT_ANY_THROW(
      apply_migrations(database, {{next, "CREATE TABLE added (x INTEGER) STRICT; bad"}}));
  EXPECT_THAT(query_file(database.path(), "SELECT count(*) FROM sqlite_schema "
                                          "WHERE name = 'added'"),
              ElementsAre("0"))
      << "half a step is undone";
  const std::vector<Migration> good{{1, "nonsense that was applied long ago"},
                                    {next, "CREATE TABLE added (x INTEGER) STRICT"},
                                    {next + 1, "ALTER TABLE added ADD COLUMN y INTEGER"}};
  apply_migrations(database, good);
  apply_migrations(database, good);
  EXPECT_THAT(query_file(database.path(), "SELECT count(*) FROM leaderboard"), ElementsAre("0"));
  EXPECT_THAT(query_file(database.path(), "PRAGMA user_version"),
              ElementsAre(std::to_string(next + 1)));
  EXPECT_THAT(query_file(database.path(), "SELECT name FROM pragma_table_info('added')"),
              ElementsAre("x", "y"));
}

TEST(Migrations, NoPlantedTriggerOrViewStays) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  const std::string views = "SELECT type || name || sql FROM sqlite_schema WHERE type IN ('view', "
                            "'trigger') ORDER BY name";
  const auto own = query_file(path, views);
  for (const char* planted :
       {"CREATE TRIGGER spy AFTER UPDATE ON runs BEGIN DELETE FROM tasks; END",
        "DROP TRIGGER evaluation_joins_standings", "DROP VIEW leaderboard",
        "DROP VIEW eligible_evaluations; CREATE VIEW eligible_evaluations AS SELECT 1 AS "
        "speedup"}) {
    write_raw(path, planted);
    EXPECT_NE(query_file(path, views), own);
    EXPECT_EQ(opening_error(path, kReadWrite), "no error") << planted;
    EXPECT_EQ(query_file(path, views), own) << planted;
  }
  write_raw(path, "CREATE VIEW mine AS SELECT 1");
  EXPECT_EQ(opening_error(path, kReadWrite), "no error");
  EXPECT_THAT(query_file(path, "SELECT * FROM mine"), ElementsAre("1"));
}

TEST(Migrations, AFirstStoreKeepsItsRows) {
  const TemporaryDirectory directory("store-test");
  const auto path = directory.path() / "first.db";
  {
    SQLite::Database first(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    first.exec(std::string(migrations().front().sql));
    first.exec("PRAGMA application_id = " + std::to_string(kApplicationId) +
               "; PRAGMA user_version = 1; "
               "INSERT INTO builds (digest, compiler, log) VALUES ('d', 'clang++', '')");
  }
  const RunStore store(path, kReadWrite);
  EXPECT_THAT(query_file(path, "SELECT digest, architecture, machine_code_digest, kernels, "
                               "findings, compiler_ms FROM builds"),
              ElementsAre("d|||[]|[]|"));
  EXPECT_THAT(store.baseline_timings("axpy", ""), ::testing::IsEmpty());
}

/// Views and a trigger of older programs. One view has a name that is still in use, one has an old
/// name and reads a table that later versions rename, and one reads a table that does not exist.
constexpr const char* kOldViews =
    "CREATE VIEW leaderboard AS SELECT evaluation_id, speedup FROM standings; "
    "CREATE VIEW \"old \"\"times\" AS SELECT * FROM sample_series; "
    "CREATE VIEW broken AS SELECT * FROM removed; "
    "CREATE TRIGGER evaluation_joins_standings AFTER INSERT ON evaluations BEGIN "
    "INSERT INTO standings SELECT * FROM removed; END;";

/// A store of an older version, with two ranked kernels and their samples.
std::filesystem::path store_of_version(const TemporaryDirectory& directory, std::int64_t version) {
  const auto path = directory.path() / "older.db";
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  // A migration names this function. It is never called here, because the tables are empty then.
  database.createFunction("sha256", 1, true, nullptr,
                          [](sqlite3_context* context, int, sqlite3_value**) {
                            sqlite3_result_error(context, "called", -1);
                          });
  for (const Migration& step : migrations()) {
    if (step.version <= version) {
      database.exec(std::string(step.sql));
    }
  }
  database.exec(
      "PRAGMA application_id = " + std::to_string(kApplicationId) +
      "; PRAGMA user_version = " + std::to_string(version) +
      "; INSERT INTO verdicts VALUES (17, 'correct', ''); INSERT INTO stages VALUES (8, "
      "'done'), (6, 'time'); INSERT INTO runs VALUES (1, 'r', 'finished', '{}', '', ''); "
      "INSERT INTO tasks (id, digest, name, category, title, description, definition, "
      "reference_source, baseline_source, python_source, created_at) "
      "VALUES (1, 'd', 'axpy', '', '', '', '{}', '', '', '', ''); "
      "INSERT INTO leaderboard_groups (id, run_id, task_id, device, device_name, "
      "evaluator_version) VALUES (1, NULL, 1, 'cpu', 'CPU', 1), (2, 1, 1, 'cpu', 'CPU', 1);");
  for (const char* number : {"1", "2"}) {
    const std::string n = number;
    database.exec(
        "INSERT INTO kernel_files VALUES (" + n + ", 'digest " + n + "', '', 1); " +
        "INSERT INTO candidates VALUES (" + n + ", 1, 1, NULL, '', NULL, 'person', " + n +
        ", ''); INSERT INTO variants VALUES (" + n + ", " + n + ", '{}'); " +
        "INSERT INTO evaluations (id, candidate_id, variant_id, ordinal, verdict, stage, detail, "
        "notes, speedup, device, device_name, isolation, evaluator_version, build_from_cache, "
        "build_seconds, started_at, seconds) VALUES (" +
        n + ", " + n + ", " + n + ", 0, 17, 8, '', '[]', " + n +
        ".5, 'cpu', 'CPU', '', 1, 0, 0.0, '', 0.0); "
        "INSERT INTO cases (id, evaluation_id, ordinal, stage, shape_id, shape_set, shape, seed, "
        "verdict, detail) VALUES (" +
        n + ", " + n + ", 0, 6, 'search/0', 'search', 'n=1', 1, 17, ''); " +
        "INSERT INTO sample_series VALUES (" + n + ", 'candidate', '[1.5, 2.5]'), (" + n +
        ", 'baseline', '[" + n + ".25]')");
    const std::string bounds = version < 6 ? "" : ", " + n + ".5, " + n + ".5";
    for (const std::string group : {"1", "2"}) {
      database.exec("INSERT INTO standings VALUES (" + group + ", " + n + ", " + n + ", " + n +
                    ".5" + bounds + ")");
    }
  }
  database.exec(kOldViews);
  return path;
}

TEST(Migrations, RowsOfVersionSevenKeepTheirRanksAndAreFlagged) {
  const TemporaryDirectory directory("store-test");
  const RunStore store(store_of_version(directory, 7), kReadWrite);
  const auto rows = store.leaderboard({});
  ASSERT_EQ(rows.size(), 2U);
  for (const LeaderboardRow& row : rows) {
    EXPECT_EQ(row.rank, row.candidate_id == 2 ? 1 : 2);
    EXPECT_EQ(row.flag, "not in the final");
    EXPECT_EQ(row.unranked, "");
    EXPECT_EQ(row.kernel, tasks::kernel_digest("", {}));
  }
}

TEST(Migrations, TimesOfVersionFiveAreKeptWithoutTheirRanks) {
  const TemporaryDirectory directory("store-test");
  const auto path = store_of_version(directory, 5);
  const std::string samples = "SELECT * FROM sample_series ORDER BY case_id, kernel";
  const auto samples_before = query_file(path, samples);
  ASSERT_EQ(samples_before.size(), 4U);
  RunStore store(path, kReadWrite);
  EXPECT_EQ(query_file(path, samples), samples_before);
  EXPECT_THAT(query_file(path, "SELECT board_run_id, rank IS NULL, unranked, candidate_id, speedup "
                               "FROM ranked_evaluations ORDER BY 1, 5 DESC"),
              ElementsAre("|1|evaluator 1|2|2.5", "|1|evaluator 1|1|1.5", "1|1|evaluator 1|2|2.5",
                          "1|1|evaluator 1|1|1.5"));
  EXPECT_THAT(query_file(path, "PRAGMA foreign_key_check"), ::testing::IsEmpty());
  EXPECT_THAT(query_file(path, "PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_THAT(query_file(path, "SELECT name FROM sqlite_schema WHERE name LIKE '%_5'"),
              ::testing::IsEmpty());
  const auto states = store.candidates(1);
  ASSERT_EQ(states.size(), 2U);
  EXPECT_THAT(states[0].best.value().cases.at(0).baseline_samples_ns, ElementsAre(1.25));
  EXPECT_FALSE(states[0].best->speedup_bounds.known());
  EXPECT_EQ(states[0].best->seed, 0U);
}

// A store gets new views only together with a new version. So a change of them needs a numbered
// file in store/schema/, which may consist of a comment, and its two numbers here.
TEST(Migrations, AChangeOfTheViewsHasAVersion) {
  const auto views = std::filesystem::path(WINNOW_SOURCE_DIR) / "store/schema/views.sql";
  EXPECT_EQ(sha256_hex(read_file(views, 1U << 20U)).substr(0, 16), "4cda7d446d702f44");
  EXPECT_EQ(newest_version(), 26);
}

TEST(Migrations, AStoreOfAnyVersionEndsAsANewOne) {
  const TemporaryDirectory fresh("store-test");
  const std::string schema =
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
  const auto expected = query_file(closed_store(fresh), schema);
  for (std::int64_t version = 1; version < newest_version(); ++version) {
    const TemporaryDirectory directory("store-test");
    const auto path = store_of_version(directory, version);
    { const RunStore store(path, kReadWrite); }
    EXPECT_EQ(query_file(path, schema), expected) << "from version " << version;
  }
}

TEST(Migrations, ReadingBringsAnOlderStoreUpToDate) {
  const TemporaryDirectory directory("store-test");
  const auto path = store_of_version(directory, 6);
  const auto rows = RunStore(path, kReadOnly).leaderboard({});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].unranked, "evaluator 1");
  EXPECT_THAT(query_file(path, "PRAGMA user_version"),
              ElementsAre(std::to_string(newest_version())));
}

TEST(Migrations, AStoreOfVersionThirteenTakesForecasts) {
  const TemporaryDirectory directory("migration-test");
  RunStore store(store_of_version(directory, 13), kReadWrite);
  tasks::Task task;
  task.name = "axpy";
  task.digest = "d";
  const RowId call = store.begin_call(1, store.add_task(task), "axpy/forecast/0", "chat", "m",
                                      nlohmann::json::object());
  ModelCallRow answered;
  answered.status = "ok";
  store.finish_call(call, answered);
  store.add_advice(1, {"axpy/forecast/0", "forecaster", 1, R"({"chances":[]})", ""});
  store.add_forecast_score(1, "axpy/forecast/0", {1.5, 0.125, 0.25, 0.5, false, true});
  EXPECT_EQ(forecast_record(store, 1).measured, 1);
  EXPECT_EQ(forecast_record(store, 1).score, 0.125);
}

TEST(Migrations, EvaluationsOfVersionFifteenHaveNoDevice) {
  const TemporaryDirectory directory("store-test");
  RunStore store(store_of_version(directory, 15), kReadWrite);
  EXPECT_EQ(store.candidate_state(1).best.value().device_uuid, "");
  tasks::Evaluation evaluation = correct_evaluation(2.25);
  evaluation.device_uuid = "GPU-1";
  store.supersede_evaluation(1, evaluation);
  EXPECT_EQ(store.candidate_state(1).best.value().device_uuid, "GPU-1");
}

TEST(Migrations, AStoreOfVersionFiveTakesNewEvaluations) {
  const TemporaryDirectory directory("store-test");
  RunStore store(store_of_version(directory, 5), kReadWrite);
  tasks::Evaluation evaluation = correct_evaluation(2.25);
  evaluation.device_name = "CPU";
  evaluation.speedup_bounds = {2, 2.375};
  evaluation.cases[0].warm_samples_ns = {1};
  store.supersede_evaluation(1, evaluation);
  const auto rows = store.leaderboard({});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].candidate_id, 1) << "the only one that is ranked, though it is slower";
  EXPECT_EQ(rows[0].rank, 1);
  EXPECT_EQ(rows[1].rank, 0);
  EXPECT_EQ(rows[1].unranked, "evaluator 1");
}

TEST(Migrations, ARaceOfVersionNineteenGetsTheWordThatItsIntervalAllows) {
  const TemporaryDirectory directory("store-test");
  const auto path = store_of_version(directory, 19);
  write_raw(path, R"(
UPDATE evaluations SET race = json_object('rival', 'b', 'verdict', 'slower', 'ratio', 0.9,
  'bounds', json_array(0.724, iif(id = 1, 1.097, 0.95)), 'blocks', 5);
INSERT INTO asked_races (task_id, device_name, evaluator_version, kernel, rival, verdict, ratio,
  ratio_low, ratio_high, blocks, raced_at)
SELECT 1, 'CPU', 11, 'a', 'b', value ->> 0, 1, value ->> 1, value ->> 2, 9, '2026'
FROM json_each('[["slower", null, null], ["slower", 0.7, 1], ["slower", 0.7, 0.9], ["tie", 0.9, 1.1],
  ["tie", 0.996, 1.004], ["faster", 1.1, 1.2], ["undecided", 0.7, 1.3]]');)");
  { const RunStore store(path, kReadWrite); }
  EXPECT_THAT(query_file(path, "SELECT race ->> '$.verdict' FROM evaluations ORDER BY id LIMIT 2"),
              ElementsAre("not shown to be faster", "slower"));
  EXPECT_THAT(query_file(path, "SELECT verdict FROM asked_races ORDER BY id"),
              ElementsAre("not shown to be faster", "not shown to be faster", "slower",
                          "not shown to be faster", "tie", "faster", "undecided"));
}

TEST(Migrations, TheLookupTablesFollowTheProgram) {
  const TemporaryDirectory directory("store-test");
  const auto path = closed_store(directory);
  write_raw(path, "DELETE FROM verdicts WHERE number = 16; "
                  "UPDATE verdicts SET description = 'old' WHERE number = 17");
  const RunStore store(path, kReadWrite);
  EXPECT_THAT(query_file(path, "SELECT name, description <> 'old' FROM verdicts "
                               "WHERE number IN (16, 17)"),
              ElementsAre("unsupported|1", "correct|1"));
}

} // namespace
} // namespace winnow::store
