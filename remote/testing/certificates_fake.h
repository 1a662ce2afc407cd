#pragma once

#include "base/files.h"

#include <string>

namespace winnow::remote::test {

/// A certificate authority of a test, in a temporary folder. The program `openssl` makes the files.
class CertificatesFake {
public:
  struct Pair {
    std::string certificate, key; ///< paths of PEM files; others cannot read the key
  };
  /// Why this machine cannot have one; empty: it can.
  static std::string why_not();

  CertificatesFake();
  std::string ca() const; ///< path of the PEM file
  /// A new certificate that ca() has signed. `names`: as openssl takes them in subjectAltName, for
  /// instance "DNS:localhost,IP:127.0.0.1".
  Pair issue(const std::string& file_name, const std::string& names) const;

private:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryDirectory folder_{"certificates"};
};

} // namespace winnow::remote::test
