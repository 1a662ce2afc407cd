#include "remote/transport_library.h"

#include "base/files.h"

#include <filesystem>

#include <dlfcn.h>

namespace winnow::remote {
namespace {

constexpr const char* kLibrary = "libwinnow_nats.so";
constexpr const char* kRemedy =
    "install the package libnats3.4 (Debian 12), libnats3.7 (Ubuntu 24.04) or libnats3.10 (Debian "
    "13) beside Winnow; when you build Winnow yourself: install libnats-dev, configure with "
    "-DWINNOW_NATS=ON and build again";

using FindFactory = TransportFactory* (*)(int);

TransportFactory& load() {
  const std::filesystem::path folder = executable_path().parent_path();
  std::filesystem::path file = folder / kLibrary;
  if (!is_file(file)) {
    file = folder.parent_path() / "lib" / "winnow" / kLibrary;
  }
  if (!is_file(file)) {
    throw Error(std::string("this Winnow was built without NATS: there is no ") + kLibrary +
                    " in " + folder.string() + " and in " + file.parent_path().string(),
                kRemedy);
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); // stays loaded
  if (library == nullptr) {
    throw Error(std::string("cannot load ") + dlerror(), kRemedy);
  }
  const auto find = reinterpret_cast<FindFactory>(dlsym(library, "winnow_transports"));
  TransportFactory* factory = find == nullptr ? nullptr : find(kTransportInterface);
  if (factory == nullptr) {
    throw Error(file.string() + " belongs to another version of Winnow",
                "install both from the same build");
  }
  return *factory;
}

} // namespace

TransportFactory& nats_transports() {
  static TransportFactory& factory = load();
  return factory;
}

Availability probe_nats() {
  try {
    nats_transports();
    return Availability::yes("");
  } catch (const Error& error) {
    return Availability::no(error.what(), error.remedy());
  }
}

} // namespace winnow::remote
