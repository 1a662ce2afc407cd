#pragma once

#include "remote/job_transport.h"

#include <string>

namespace winnow::remote {

// The names that coordinators and workers use at the broker. The rights of workers
// (remote/broker_config.cpp) name the same ones.

inline constexpr const char* kJobStream = "WJOB";       ///< jobs for every worker of a pool
inline constexpr const char* kTrustedStream = "WTRUST"; ///< jobs for trusted workers
inline constexpr const char* kResultStream = "WRESULT";
inline constexpr const char* kDeadStream = "WDEAD"; ///< notices of jobs without a result
inline constexpr const char* kTaskBucket = "wtask"; ///< digest -> task
inline constexpr const char* kPoolBucket = "wpool"; ///< pool -> rules

inline const char* stream_of(bool trusted) {
  return trusted ? kTrustedStream : kJobStream;
}
inline std::string pool_subject(const std::string& pool, bool trusted) {
  return (trusted ? "wtrust." : "wjob.") + pool;
}
inline std::string job_subject(const JobAddress& address) {
  return pool_subject(address.pool, address.trusted) + "." + address.session + "." + address.job;
}
inline std::string result_subject(const std::string& session) {
  return "wresult." + session;
}

} // namespace winnow::remote
