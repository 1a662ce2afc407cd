#pragma once

#include <stdexcept>
#include <string>

namespace winnow {

/// Winnow or its set-up is broken (config, disk, schema, missing program). The message names the
/// file, key or call. `remedy`, if not empty, says what the user can do. A fault of a candidate is
/// a verdict, never an exception. Only main() and the code around one job catch Error.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string& what, std::string remedy = {})
      : std::runtime_error(what), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

private:
  std::string remedy_;
};

/// "what; remedy", on one line.
inline std::string with_remedy(const Error& error) {
  return error.what() + (error.remedy().empty() ? "" : "; " + error.remedy());
}

/// The user asked for something impossible: a bad option, an unknown task or key. Exit code 2.
class UsageError : public Error {
public:
  using Error::Error;
};

/// Winnow cannot use the requested device on this machine. Exit code 3.
class DeviceUnavailable : public Error {
public:
  using Error::Error;
};

} // namespace winnow
