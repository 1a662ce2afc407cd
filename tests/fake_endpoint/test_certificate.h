#pragma once

#include <filesystem>

namespace winnow::tests {

struct TestCertificate {
  std::filesystem::path certificate, key; ///< PEM files
};
/// Creates a self-signed certificate for 127.0.0.1 in `folder`. Clients do not trust it by default.
TestCertificate make_test_certificate(const std::filesystem::path& folder);

} // namespace winnow::tests
