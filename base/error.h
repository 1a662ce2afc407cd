#pragma once

#include <stdexcept>
#include <string>

namespace winnow {

/// The set-up or Winnow itself is broken (config, disk, schema, missing program). The message names
/// the file, key or call; `remedy`, if not empty, says what to do. A candidate's faults are never
/// exceptions: they are verdicts. Caught round one job and in main, nowhere else.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string& what, std::string remedy = {})
      : std::runtime_error(what), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

private:
  std::string remedy_;
};

/// The user asked for something that cannot be: bad option, unknown task or key. Exit code 2.
class UsageError : public Error {
public:
  using Error::Error;
};

/// The device that the user asked for cannot be used here. Exit code 3.
class DeviceUnavailable : public Error {
public:
  using Error::Error;
};

} // namespace winnow
