#pragma once

#include "base/error.h"
#include "store/open_options.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace SQLite {
class Database;
class Exception;
class Statement;
} // namespace SQLite

namespace winnow::store {

/// The store that was opened for reading is of an earlier version.
struct OlderSchema : Error {
  using Error::Error;
};

/// One connection to a Winnow store, with its schema brought up to date (ReadWrite) or checked
/// (ReadOnly). All work is done in transactions, one thread at a time. What SQLite reports becomes
/// an Error that names the file and the remedy.
class Database {
public:
  Database(const std::filesystem::path& path, OpenMode mode, const OpenOptions& options);
  ~Database();
  Database(const Database&) = delete; // owns the connection
  Database& operator=(const Database&) = delete;

  /// Runs `work` on one consistent snapshot and returns what it returns.
  template <typename Work> auto read(Work&& work) {
    return in_transaction("BEGIN", std::forward<Work>(work));
  }
  /// Runs `work` in a transaction that is durable when this returns, or undone when it throws.
  template <typename Work> auto write(Work&& work) {
    return in_transaction("BEGIN IMMEDIATE", std::forward<Work>(work));
  }

  /// Several statements without results.
  void execute_script(const std::string& sql);
  std::int64_t last_insert_id() const;
  const std::filesystem::path& path() const { return path_; }

private:
  friend class Query;

  template <typename Work> auto in_transaction(const char* begin, Work&& work) {
    using Result = std::invoke_result_t<Work>;
    if constexpr (std::is_void_v<Result>) {
      transaction(begin, work);
    } else {
      std::optional<Result> result;
      transaction(begin, [&] { result.emplace(work()); });
      return std::move(*result);
    }
  }
  void transaction(const char* begin, const std::function<void()>& work);
  void open(OpenMode mode, const OpenOptions& options);
  void connect(OpenMode mode, bool immutable, const OpenOptions& options);
  void check_identity(OpenMode mode);
  void configure_for_writing(const OpenOptions& options);
  Error explained(const SQLite::Exception& failure) const;
  void roll_back();

  std::filesystem::path path_;
  std::mutex mutex_;
  std::unique_ptr<SQLite::Database> connection_;
};

/// One prepared statement; values are bound in order. Only inside read() or write().
class Query {
public:
  Query(const Database& database, const char* sql);
  ~Query();
  Query(const Query&) = delete; // owns the statement
  Query& operator=(const Query&) = delete;

  /// Starts afresh with these values: integers, doubles (not finite is stored as SQLite stores it),
  /// text, and optionals of them (nullopt is NULL).
  template <typename... Values> Query& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  bool next(); ///< steps; false after the last row
  void run();  ///< for statements without rows

  std::int64_t integer(int column) const;
  double real(int column) const; ///< NaN for NULL
  std::optional<double> optional_real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

private:
  void reset();
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, int value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, bool value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, double value);
  void bind_one(int index, std::string_view value);
  void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
  void bind_null(int index);
  template <typename Value> void bind_one(int index, const std::optional<Value>& value) {
    if (value) {
      bind_one(index, *value);
    } else {
      bind_null(index);
    }
  }

  std::unique_ptr<SQLite::Statement> statement_;
};

} // namespace winnow::store
