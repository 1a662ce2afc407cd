#pragma once

#include "base/error.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace SQLite {
class Column;
class Database;
class Exception;
class Statement;
} // namespace SQLite

namespace winnow::store {

enum class OpenMode : std::uint8_t { ReadWrite, ReadOnly };

struct OpenOptions {
  std::chrono::milliseconds busy_timeout{5000}; ///< longest wait for another process's lock
  std::int64_t max_pages = 0; ///< maximum size of the file in SQLite pages; 0: no limit
};

/// A store opened for reading has an earlier schema version.
struct OlderSchema : Error {
  using Error::Error;
};

/// One connection to a Winnow store. ReadWrite brings the schema up to date; ReadOnly checks it.
/// All work runs in transactions, from one thread at a time. Every SQLite error, and every error of
/// JSON in `work`, becomes an Error with the file and the remedy.
class Database {
public:
  Database(const std::filesystem::path& path, OpenMode mode, const OpenOptions& options);
  ~Database();
  Database(const Database&) = delete; // owns the connection
  Database& operator=(const Database&) = delete;

  /// Runs `work` on one consistent snapshot and returns its result.
  template <typename Work> auto read(Work&& work) {
    return in_transaction("BEGIN", std::forward<Work>(work));
  }
  /// Runs `work` in a transaction. The transaction is durable when write() returns, and undone if
  /// `work` throws. Within a transaction of the same thread, `work` becomes part of that one.
  template <typename Work> auto write(Work&& work) {
    return in_transaction(kForWriting, std::forward<Work>(work));
  }

  /// Calls `hook` at the end of every write().
  void after_each_write(std::function<void()> hook) { after_write_ = std::move(hook); }

  /// Runs several statements that return no rows.
  void execute_script(const std::string& sql);
  std::int64_t last_insert_id() const;
  const std::filesystem::path& path() const { return path_; }

private:
  friend class Query;
  static constexpr std::string_view kForWriting = "BEGIN IMMEDIATE";

  template <typename Work> auto in_transaction(std::string_view begin, Work&& work) {
    using Result = std::invoke_result_t<Work>;
    if constexpr (std::is_void_v<Result>) {
      transaction(begin, work);
    } else {
      std::optional<Result> result;
      transaction(begin, [&] { result.emplace(work()); });
      return std::move(*result);
    }
  }
  void transaction(std::string_view begin, const std::function<void()>& work);
  void run_transaction(std::string_view begin, const std::function<void()>& work);
  void open(OpenMode mode, const OpenOptions& options);
  void connect(OpenMode mode, bool immutable, const OpenOptions& options);
  void check_identity(OpenMode mode);
  void configure_for_writing(const OpenOptions& options);
  Error explained(const SQLite::Exception& failure) const;
  Error damaged_json(std::string_view what) const;
  void roll_back();

  struct Prepared;
  std::unique_ptr<Prepared> take_prepared(const std::string& sql) const;
  void keep_prepared(std::unique_ptr<Prepared> prepared) const;

  std::filesystem::path path_;
  std::recursive_mutex mutex_;
  std::function<void()> after_write_; ///< empty: none
  std::unique_ptr<SQLite::Database> connection_;
  /// Statements that no query uses now, by their SQL. Compiling one takes longer than running it.
  mutable std::unordered_map<std::string, std::unique_ptr<Prepared>> idle_;
  mutable std::mutex idle_mutex_; ///< guards idle_
};

/// A prepared statement, which must not outlive its database. Values are bound in order, and
/// columns are read by name. An expression, or one of two columns of the same name, gets its name
/// with AS. Use it only inside read() or write().
class Query {
public:
  Query(const Database& database, const std::string& sql);
  ~Query();
  Query(const Query&) = delete; // owns the statement
  Query& operator=(const Query&) = delete;

  /// Resets the statement and binds these values: integers, doubles (SQLite decides how to store
  /// one that is not finite), text, and optionals of them (nullopt is NULL).
  template <typename... Values> Query& bind(const Values&... values) {
    reset();
    bound_ = 0;
    return also(values...);
  }
  /// Binds further values, after those of bind().
  template <typename... Values> Query& also(const Values&... values) {
    (bind_one(++bound_, values), ...);
    return *this;
  }
  bool next(); ///< steps; false after the last row
  void run();  ///< for statements that return no rows
  /// Runs an INSERT with ON CONFLICT DO NOTHING. Returns the id of the new row, or of the row that
  /// is in the way: `find` selects the "id" of that one by `keys`.
  template <typename... Keys>
  std::int64_t insert_or_find(const std::string& find, const Keys&... keys) {
    run();
    if (const auto inserted = changed_row()) {
      return *inserted;
    }
    Query query(database_, find);
    query.bind(keys...).next();
    return query.integer("id");
  }

  std::int64_t integer(std::string_view column) const; ///< 0 for NULL
  std::optional<std::int64_t> optional_integer(std::string_view column) const;
  double real(std::string_view column) const; ///< NaN for NULL
  double real_or_zero(std::string_view column) const;
  std::optional<double> optional_real(std::string_view column) const;
  std::string text(std::string_view column) const; ///< empty for NULL
  /// For callers that parse it outside of a transaction. Throws for damaged JSON; empty for NULL.
  std::string json_text(std::string_view column) const;
  /// The texts of this column in the rows that are left.
  std::vector<std::string> texts(std::string_view column);
  bool is_null(std::string_view column) const;
  enum class Kind : std::uint8_t { Null, Integer, Real, Text };
  Kind kind(std::string_view column) const; ///< of the value in the current row
  std::vector<std::string> columns() const; ///< their names, in order

private:
  SQLite::Column value_of(std::string_view column) const;
  std::optional<std::int64_t> changed_row() const; ///< by run(); nullopt: none
  void reset();
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, int value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, bool value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, double value);
  void bind_one(int index, std::string_view value); ///< without the secrets of this process
  void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
  void bind_null(int index);
  void bind_one(int index, std::nullopt_t /*null*/) { bind_null(index); }
  template <typename Value> void bind_one(int index, const std::optional<Value>& value) {
    if (value) {
      bind_one(index, *value);
    } else {
      bind_null(index);
    }
  }

  const Database& database_;
  std::unique_ptr<Database::Prepared> prepared_;
  SQLite::Statement* statement_; ///< of prepared_
  int bound_ = 0;                ///< the values of this execution
};

} // namespace winnow::store
