#pragma once

#include <filesystem>

namespace winnow::tests {

struct TestCertificate {
  std::filesystem::path certificate, key; ///< PEM files
};
/// A fresh self-signed certificate for 127.0.0.1 in `folder`, which nobody trusts unless told to.
TestCertificate make_test_certificate(const std::filesystem::path& folder);

} // namespace winnow::tests
