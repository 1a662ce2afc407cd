#include "remote/nats/nats_names.h"
#include "remote/transport_library.h"

namespace {

class NatsFactory : public winnow::remote::TransportFactory {
public:
  std::unique_ptr<winnow::remote::CoordinatorTransport>
  coordinator(const winnow::remote::BrokerAddress& broker, const std::string& session) override {
    return winnow::remote::nats_coordinator(broker, session);
  }
  std::unique_ptr<winnow::remote::WorkerTransport>
  worker(const winnow::remote::BrokerAddress& broker,
         const winnow::remote::WorkerIdentity& identity) override {
    return winnow::remote::nats_worker(broker, identity);
  }
};

} // namespace

/// What transport_library.cpp looks for in libwinnow_nats.so.
extern "C" winnow::remote::TransportFactory* winnow_transports(int interface) {
  static NatsFactory factory;
  return interface == winnow::remote::kTransportInterface ? &factory : nullptr;
}
