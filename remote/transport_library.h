#pragma once

#include "base/availability.h"
#include "remote/job_transport.h"

namespace winnow::remote {

/// Raised with every change of job_transport.h, so that the program refuses a library of another
/// version.
inline constexpr int kTransportInterface = 2;

/// The transports of libwinnow_nats.so, which is looked for beside the program and in
/// ../lib/winnow of an installed program. Throws Error with the package to install.
TransportFactory& nats_transports();

/// Whether nats_transports() works here.
Availability probe_nats();

} // namespace winnow::remote
