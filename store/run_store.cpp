#include "store/run_store.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "store/fields.h"
#include "store/run_store_state.h"

#include <cerrno>
#include <charconv>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

namespace winnow::store {
namespace {

constexpr FieldRules kRun{.json_text = "config"};

std::optional<RowId> parse_id(std::string_view text) {
  RowId id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(id) : std::nullopt;
}

const std::string kSelectRuns = "SELECT " + columns<RunRow>() + " FROM runs ";

} // namespace

RunStore::State::~State() {
  for (const auto& [run, descriptor] : locks) {
    close(descriptor); // also releases the lock
  }
}

RunStore::RunStore(const std::filesystem::path& path, Mode mode, const OpenOptions& options) {
  try {
    state_ = std::make_unique<State>(path, mode, options);
  } catch (const OlderSchema& older) {
    try {
      const Database brought_up_to_date(path, Mode::ReadWrite, options);
    } catch (const Error&) {
      throw older;
    }
    state_ = std::make_unique<State>(path, mode, options);
  }
}
RunStore::~RunStore() = default;

RowId require_run(const Database& database, const std::string& name) {
  Query by_name(database, "SELECT id FROM runs WHERE name = ?");
  if (by_name.bind(name).next()) {
    return by_name.integer("id");
  }
  std::vector<std::string> names;
  Query all(database, "SELECT name FROM runs ORDER BY id");
  while (all.next()) {
    names.push_back(all.text("name"));
  }
  throw UsageError(fmt::format("no run '{}' in the store {}{}", name, database.path().string(),
                               suggestion(name, names)));
}

RowId RunStore::create_run(std::string_view name, const nlohmann::json& config,
                           const nlohmann::json& environment) {
  Database& database = state_->database;
  return database.write([&] {
    Query taken(database, "SELECT 1 FROM runs WHERE name = ?");
    if (taken.bind(name).next()) {
      throw UsageError(
          fmt::format("the store {} already has a run '{}'", database.path().string(), name),
          fmt::format("continue it with `winnow resume {}`, or choose another name", name));
    }
    const std::string now = utc_now();
    Query(database, "INSERT INTO runs (name, status, config, started_at) VALUES (?, ?, ?, ?)")
        .bind(name, "running", json_line(config), now)
        .run();
    const RowId run = database.last_insert_id();
    Query(database, "INSERT INTO environments (run_id, content, recorded_at) VALUES (?, ?, ?)")
        .bind(run, json_line(environment), now)
        .run();
    return run;
  });
}

std::optional<RunRow> RunStore::find_run(std::string_view name_or_id) const {
  Database& database = state_->database;
  return database.read([&]() -> std::optional<RunRow> {
    Query query(database, kSelectRuns + "WHERE name = ?1 OR id = ?2 ORDER BY name = ?1 DESC");
    if (!query.bind(name_or_id, parse_id(name_or_id)).next()) {
      return std::nullopt;
    }
    return row_of<RunRow>(query, kRun);
  });
}

std::vector<RunRow> RunStore::runs() const {
  Database& database = state_->database;
  return database.read([&] {
    Query query(database, kSelectRuns + "ORDER BY id");
    return rows_of<RunRow>(query, kRun);
  });
}

void RunStore::set_run_status(RowId run, std::string_view status) {
  Database& database = state_->database;
  database.write([&] {
    const std::optional<std::string> finished_at =
        status == "running" ? std::nullopt : std::optional(utc_now());
    Query query(database, "UPDATE runs SET status = ?, finished_at = ? WHERE id = ? RETURNING id");
    if (!query.bind(status, finished_at, run).next()) {
      throw Error(fmt::format("the store {} has no run {}", database.path().string(), run));
    }
  });
}

void RunStore::add_event(RowId run, std::string_view kind, const nlohmann::json& detail) {
  Database& database = state_->database;
  database.write([&] {
    Query(database, "INSERT INTO events (run_id, kind, detail, created_at) VALUES (?, ?, ?, ?)")
        .bind(run, kind, json_line(detail), utc_now())
        .run();
  });
}

std::vector<EventRow> RunStore::events(RowId run) const {
  Database& database = state_->database;
  return database.read([&] {
    Query query(database,
                "SELECT " + columns<EventRow>() + " FROM events WHERE run_id = ? ORDER BY id");
    return rows_of<EventRow>(query.bind(run), {.json_text = "detail"});
  });
}

bool RunStore::lock_run(RowId run) {
  const std::lock_guard guard(state_->locks_mutex);
  if (state_->locks.contains(run)) {
    return true;
  }
  const std::string file = fmt::format("{}.lock-{}", state_->database.path().string(), run);
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw Error(fmt::format("the lock file {} cannot be opened ({})", file,
                            std::generic_category().message(errno)),
                "make the store's directory writable");
  }
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(descriptor);
    if (error == EWOULDBLOCK) {
      return false;
    }
    throw Error(fmt::format("the lock file {} cannot be locked ({})", file,
                            std::generic_category().message(error)),
                "put the store on a local disk");
  }
  state_->locks.emplace(run, descriptor);
  return true;
}

} // namespace winnow::store
