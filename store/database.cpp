#include "store/database.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "store/damaged_json.h"
#include "store/schema.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

namespace winnow::store {
namespace {

constexpr int kPrimaryCodeMask = 0xff;
constexpr std::size_t kMostIdleStatements = 256; // Winnow has about 150

Error out_of_space(const std::string& file) {
  return Error(fmt::format("no space left to write the store {}", file),
               "free some space and try again; everything that was stored is still there");
}

Error explain(int code, int system_errno, const std::string& file, const std::string& message) {
  switch (code & kPrimaryCodeMask) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return Error(fmt::format("the store {} is locked by another process", file),
                 "wait for that process or stop it, then try again");
  case SQLITE_READONLY:
    return Error(fmt::format("the store {} is read-only", file),
                 "make the file and its directory writable, or use a copy of it");
  case SQLITE_NOTADB:
    return Error(fmt::format("{} is not a Winnow store (not an SQLite database)", file),
                 "name another file, or move this one away");
  case SQLITE_CORRUPT:
    return Error(fmt::format("the store {} is damaged: truncated or overwritten", file),
                 fmt::format("restore a copy, or save what can be read: "
                             "sqlite3 '{}' .recover | sqlite3 recovered.db",
                             file));
  case SQLITE_FULL:
    return out_of_space(file);
  case SQLITE_IOERR:
    if (is_full(system_errno)) {
      return out_of_space(file);
    }
    return Error(fmt::format("the store {} cannot be read or written ({})", file, message),
                 "check the disk and its quota");
  case SQLITE_CANTOPEN:
    return Error(fmt::format("the store {} cannot be opened ({})", file, message),
                 "name a file in a directory that you may write to");
  default:
    return Error(fmt::format("the store {}: {}", file, message));
  }
}

/// An SQLite URI for `path` with the promise that the file does not change while it is open.
std::string immutable_uri(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

/// The text with which SQLite ends a journal that names another file.
constexpr std::string_view kEndOfNamingJournal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

bool names_a_file(const std::filesystem::path& journal) {
  std::ifstream file(journal, std::ios::binary);
  std::string end(kEndOfNamingJournal.size(), '\0');
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  return file.read(end.data(), static_cast<std::streamsize>(end.size())) &&
         end == kEndOfNamingJournal;
}

/// Throws Error for a file beside the store that makes SQLite change files elsewhere: it writes
/// through links, and it deletes the file that a journal names. Winnow writes neither.
void check_files_beside(const std::filesystem::path& store) {
  std::error_code absent;
  const std::string whole = std::filesystem::weakly_canonical(store, absent).string();
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    const std::string file = whole + suffix;
    const auto type = std::filesystem::symlink_status(file, absent).type();
    if (type == std::filesystem::file_type::not_found) {
      continue;
    }
    if (type != std::filesystem::file_type::regular || names_a_file(file)) {
      throw Error(fmt::format("{} would have other files changed or deleted, so the store stays "
                              "closed",
                              file),
                  "do not trust this store; remove that file if you know where it comes from");
    }
  }
}

/// A store may come from anybody: no SQL opens another file, and none writes the schema as text.
/// SQLite 3.40 takes its JSON functions for unsafe, so its schema must be trusted.
void confine(sqlite3* connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
}

bool has_unmerged_log(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path.string() + "-wal", ignored);
  return !ignored && size > 0;
}

void create_parent_directories(const std::filesystem::path& path) {
  if (!path.has_parent_path()) {
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    throw Error(fmt::format("the directory {} of the store cannot be created ({})",
                            path.parent_path().string(), error.message()),
                "name a store in a directory that you may write to");
  }
}

/// The SQL function sha256(TEXT), in hex.
void sha256_of_text(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  const auto bytes = static_cast<std::size_t>(sqlite3_value_bytes(values[0]));
  const std::string digest = sha256_hex(text == nullptr ? "" : std::string_view(text, bytes));
  sqlite3_result_text(context, digest.c_str(), static_cast<int>(digest.size()), SQLITE_TRANSIENT);
}

} // namespace

/// A compiled statement without values.
struct Database::Prepared {
  Prepared(const SQLite::Database& connection, const std::string& sql)
      : text(sql), statement(connection, sql) {
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      const char* column = statement.getColumnName(i);
      if (!columns.emplace(column, i).second) {
        throw Error(fmt::format("two columns '{}' in the query: {}", column, sql),
                    "give one of them another name with AS");
      }
    }
  }

  std::string text;
  SQLite::Statement statement;
  std::map<std::string, int, std::less<>> columns; ///< positions by name
};

Database::Database(const std::filesystem::path& path, OpenMode mode, const OpenOptions& options)
    : path_(path) {
  if (std::filesystem::is_directory(path_)) {
    throw Error(fmt::format("the store {} is a directory", path_.string()), "name a file");
  }
  if (mode == OpenMode::ReadWrite) {
    create_parent_directories(path_);
    create_private_file(path_); // SQLite gives -wal and -shm the mode of the store
  } else if (!std::filesystem::exists(path_)) {
    throw Error(fmt::format("there is no store {}", path_.string()),
                "`winnow run` creates one; name an existing file with --store");
  }
  try {
    open(mode, options);
  } catch (const SQLite::Exception& e) {
    throw explained(e);
  }
  if (mode == OpenMode::ReadWrite) {
    apply_migrations(*this, migrations());
    update_lookup_tables(*this);
  }
}

Database::~Database() = default;

void Database::open(OpenMode mode, const OpenOptions& options) {
  connect(mode, false, options);
  try {
    check_identity(mode);
  } catch (const SQLite::Exception& e) {
    // The store is in a directory without write permission. Without a -wal file there is nothing to
    // merge, so SQLite can read the file unchanged.
    const int code = e.getErrorCode() & kPrimaryCodeMask;
    const bool no_shared_memory = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (mode == OpenMode::ReadWrite || !no_shared_memory || has_unmerged_log(path_)) {
      throw;
    }
    connect(mode, true, options);
    check_identity(mode);
  }
  if (mode == OpenMode::ReadWrite) {
    configure_for_writing(options);
  }
}

void Database::connect(OpenMode mode, bool immutable, const OpenOptions& options) {
  const int flags = immutable                    ? SQLite::OPEN_READONLY | SQLite::OPEN_URI
                    : mode == OpenMode::ReadOnly ? SQLite::OPEN_READWRITE
                                                 : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
  idle_.clear();
  connection_.reset();
  check_files_beside(path_);
  connection_ =
      std::make_unique<SQLite::Database>(immutable ? immutable_uri(path_) : path_.string(), flags,
                                         static_cast<int>(options.busy_timeout.count()));
  confine(connection_->getHandle());
  if (mode == OpenMode::ReadOnly) {
    // Not opened read-only, because only a connection with write access removes -wal and -shm when
    // it is the last.
    connection_->exec("PRAGMA query_only = ON");
  }
  connection_->createFunction("sha256", 1, true, nullptr, sha256_of_text);
}

/// Checks, before any change, that the file is a Winnow store of a known version.
void Database::check_identity(OpenMode mode) {
  Query tables(*this, "SELECT count(*) AS number FROM sqlite_schema");
  tables.next();
  Query id(*this, "PRAGMA application_id");
  id.next();
  const bool empty = tables.integer("number") == 0 && id.integer("application_id") == 0;
  if (empty && mode == OpenMode::ReadWrite) {
    return; // a new store
  }
  if (id.integer("application_id") != kApplicationId) {
    throw Error(fmt::format("{} is not a Winnow store ({})", path_.string(),
                            empty ? "it is empty" : "it is another program's database"),
                "name another file, or move this one away");
  }
  const std::int64_t version = schema_version(*this);
  const std::int64_t known = migrations().back().version;
  if (version > known) {
    throw Error(fmt::format("the store {} was written by a newer Winnow (schema {}, this one "
                            "knows {})",
                            path_.string(), version, known),
                "use that newer Winnow, or name another store");
  }
  if (version < known && mode == OpenMode::ReadOnly) {
    throw OlderSchema(fmt::format("the store {} has the older schema {}, this Winnow reads {}",
                                  path_.string(), version, known),
                      "make the store writable, or copy it to a writable folder: Winnow updates a "
                      "store when it reads the store");
  }
}

void Database::configure_for_writing(const OpenOptions& options) {
  if (sqlite3_db_readonly(connection_->getHandle(), "main") == 1) {
    throw explain(SQLITE_READONLY, 0, path_.string(), "");
  }
  // The switch to WAL needs an exclusive lock, and SQLite does not always wait for that lock.
  const auto give_up = std::chrono::steady_clock::now() + options.busy_timeout;
  while (connection_->tryExec("PRAGMA journal_mode = WAL") == SQLITE_BUSY &&
         std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  {
    Query mode(*this, "PRAGMA journal_mode");
    mode.next();
    if (mode.text("journal_mode") != "wal") {
      throw Error(fmt::format("the store {} cannot use a write-ahead log", path_.string()),
                  "put the store on a local disk, and end other processes that use the store");
    }
  }
  connection_->exec("PRAGMA synchronous = FULL");
  connection_->exec("PRAGMA foreign_keys = ON");
  // 8 MiB, which fill in the first minutes of a long run: the system has the file's pages, too.
  connection_->exec("PRAGMA cache_size = -8192");
  if (options.max_pages > 0) {
    connection_->exec("PRAGMA max_page_count = " + std::to_string(options.max_pages));
  }
}

void Database::transaction(std::string_view begin, const std::function<void()>& work) {
  const std::lock_guard lock(mutex_);
  run_transaction(begin, work);
  if (after_write_ && begin == kForWriting) {
    after_write_();
  }
}

void Database::run_transaction(std::string_view begin, const std::function<void()>& work) {
  if (sqlite3_get_autocommit(connection_->getHandle()) == 0) {
    work(); // part of the transaction that this thread has begun
    return;
  }
  try {
    connection_->exec(std::string(begin));
    work();
    connection_->exec("COMMIT");
  } catch (const SQLite::Exception& e) {
    const Error error = explained(e); // before the rollback, which clears the cause
    roll_back();
    throw error;
  } catch (const nlohmann::json::exception& e) {
    const Error error = damaged_json(e.what());
    roll_back();
    throw error;
  } catch (const std::invalid_argument& e) { // of a text where a number should stand
    const Error error = damaged_json(e.what());
    roll_back();
    throw error;
  } catch (...) {
    roll_back();
    throw;
  }
}

void Database::roll_back() {
  if (sqlite3_get_autocommit(connection_->getHandle()) == 0) {
    connection_->tryExec("ROLLBACK");
  }
}

Error Database::explained(const SQLite::Exception& failure) const {
  if (std::string_view(failure.what()).find("malformed JSON") != std::string_view::npos) {
    return damaged_json(failure.what());
  }
  if (std::string_view(failure.what()).find("integer overflow") != std::string_view::npos) {
    return Error(fmt::format("the store {} is damaged: it holds integers so large that their sum "
                             "or product overflows",
                             path_.string()),
                 "restore a copy of the store");
  }
  const int system_errno = connection_ ? sqlite3_system_errno(connection_->getHandle()) : 0;
  return explain(failure.getErrorCode(), system_errno, path_.string(), failure.what());
}

Error Database::damaged_json(std::string_view what) const {
  if (const auto damaged = find_damaged_json(*connection_)) {
    return Error(fmt::format("the store {} is damaged: column '{}' of row {} of table '{}' is not "
                             "JSON",
                             path_.string(), visible(damaged->column), visible(damaged->row),
                             visible(damaged->table)),
                 fmt::format("restore a copy of the store, or correct this row: sqlite3 '{}'",
                             path_.string()));
  }
  if (what.starts_with("[json.exception")) {
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
  }
  return Error(fmt::format("the store {} holds JSON of a form that Winnow does not write ({})",
                           path_.string(), visible(what)),
               "restore a copy of the store, or read it with the Winnow that wrote it");
}

void Database::execute_script(const std::string& sql) {
  {
    const std::lock_guard lock(idle_mutex_);
    idle_.clear(); // the script may change what their columns are
  }
  connection_->exec(sql);
}

std::int64_t Database::last_insert_id() const {
  return connection_->getLastInsertRowid();
}

std::unique_ptr<Database::Prepared> Database::take_prepared(const std::string& sql) const {
  {
    const std::lock_guard lock(idle_mutex_);
    if (auto node = idle_.extract(sql); !node.empty()) {
      return std::move(node.mapped());
    }
  }
  return std::make_unique<Prepared>(*connection_, sql);
}

/// A statement that failed, or that another query of the same text has left already, ends.
void Database::keep_prepared(std::unique_ptr<Prepared> prepared) const {
  if (prepared->statement.tryReset() != SQLITE_OK) {
    return;
  }
  prepared->statement.clearBindings();
  const std::lock_guard lock(idle_mutex_);
  if (idle_.size() < kMostIdleStatements) {
    std::string sql = prepared->text;
    idle_.emplace(std::move(sql), std::move(prepared));
  }
}

Query::Query(const Database& database, const std::string& sql)
    : database_(database), prepared_(database.take_prepared(sql)),
      statement_(&prepared_->statement) {}

Query::~Query() {
  database_.keep_prepared(std::move(prepared_));
}

bool Query::next() {
  return statement_->executeStep();
}
void Query::run() {
  while (statement_->executeStep()) {
  }
}
std::optional<std::int64_t> Query::changed_row() const {
  return database_.connection_->getChanges() > 0 ? std::optional(database_.last_insert_id())
                                                 : std::nullopt;
}
void Query::reset() {
  statement_->reset();
  statement_->clearBindings();
}

void Query::bind_one(int index, std::int64_t value) {
  statement_->bind(index, value);
}
void Query::bind_one(int index, double value) {
  statement_->bind(index, value);
}
void Query::bind_one(int index, std::string_view value) {
  statement_->bind(index, without_secrets(std::string(value)));
}
void Query::bind_null(int index) {
  statement_->bind(index);
}

SQLite::Column Query::value_of(std::string_view column) const {
  const auto found = prepared_->columns.find(column);
  if (found == prepared_->columns.end()) {
    throw Error(fmt::format("no column '{}' in the query: {}", column, statement_->getQuery()),
                "add the column to the query");
  }
  return statement_->getColumn(found->second);
}
std::int64_t Query::integer(std::string_view column) const {
  return value_of(column).getInt64();
}
std::optional<std::int64_t> Query::optional_integer(std::string_view column) const {
  const SQLite::Column value = value_of(column);
  return value.isNull() ? std::nullopt : std::optional(value.getInt64());
}
double Query::real(std::string_view column) const {
  return optional_real(column).value_or(std::numeric_limits<double>::quiet_NaN());
}
double Query::real_or_zero(std::string_view column) const {
  return value_of(column).getDouble(); // SQLite converts NULL to 0
}
std::optional<double> Query::optional_real(std::string_view column) const {
  const SQLite::Column value = value_of(column);
  return value.isNull() ? std::nullopt : std::optional(value.getDouble());
}
std::string Query::text(std::string_view column) const {
  return value_of(column).getString();
}
std::string Query::json_text(std::string_view column) const {
  std::string json = text(column);
  if (!json.empty() && (has_too_many_levels(json) || !nlohmann::json::accept(json))) {
    throw database_.damaged_json("the column " + std::string(column));
  }
  return json;
}
std::vector<std::string> Query::texts(std::string_view column) {
  std::vector<std::string> all;
  while (next()) {
    all.push_back(text(column));
  }
  return all;
}

bool Query::is_null(std::string_view column) const {
  return value_of(column).isNull();
}
Query::Kind Query::kind(std::string_view column) const {
  const SQLite::Column value = value_of(column);
  return value.isNull()      ? Kind::Null
         : value.isInteger() ? Kind::Integer
         : value.isFloat()   ? Kind::Real
                             : Kind::Text;
}
std::vector<std::string> Query::columns() const {
  std::vector<std::string> names;
  for (int i = 0; i < statement_->getColumnCount(); ++i) {
    names.emplace_back(statement_->getColumnName(i));
  }
  return names;
}

} // namespace winnow::store
