#pragma once

#include "remote/job_transport.h"

#include <memory>
#include <string>

namespace winnow::remote {

// The names that coordinators and workers use at the broker. The rights of workers
// (remote/broker_config.cpp) name the same ones.

inline constexpr const char* kJobStream = "WJOB";       ///< jobs for every worker of a pool
inline constexpr const char* kTrustedStream = "WTRUST"; ///< jobs for trusted workers
inline constexpr const char* kDeadStream = "WDEAD";     ///< notices of jobs without a result
inline constexpr const char* kRulesKey = "rules";       ///< in the store of a pool

/// Every name that a worker may use has its pool in it, so that its rights end there. What a worker
/// sends lands in a stream of its pool, so that it can fill no other.
inline std::string result_stream(const std::string& pool) {
  return "WRESULT_" + pool;
}
inline std::string store_of(const std::string& pool) { // rules, and tasks by digest
  return "wpool_" + pool;
}
inline std::string heartbeat_subject(const std::string& pool, const std::string& worker) {
  return "wworker." + pool + "." + worker;
}
inline std::string cancel_subject(const std::string& pool, const std::string& session) {
  return "wcancel." + pool + "." + session;
}
inline const char* stream_of(bool trusted) {
  return trusted ? kTrustedStream : kJobStream;
}
inline std::string pool_subject(const std::string& pool, bool trusted) {
  return (trusted ? "wtrust." : "wjob.") + pool;
}
inline std::string job_subject(const JobAddress& address) {
  return pool_subject(address.pool, address.trusted) + "." + address.session + "." + address.job;
}
inline std::string result_subject(const std::string& pool, const std::string& session) {
  return "wresult." + pool + "." + session;
}

/// Both throw BrokerUnavailable, BrokerRefused.
std::unique_ptr<CoordinatorTransport> nats_coordinator(const BrokerAddress& broker,
                                                       const std::string& session);
std::unique_ptr<WorkerTransport> nats_worker(const BrokerAddress& broker,
                                             const WorkerIdentity& identity);

} // namespace winnow::remote
