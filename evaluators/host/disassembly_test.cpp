#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/inspect/gpu_module.h"
#include "evaluators/host/disassembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Disassembly : public testing::Test {
protected:
  /// The text for a module with this image, by a tool that is this shell script.
  std::string text_of(const std::string& image, const std::string& script) {
    const fs::path program = folder_.path() / "nvdisasm", module = folder_.path() / "module";
    write_file_atomic(program, "#!/bin/sh\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
    GpuModuleFile compiled{"sm_90a", {}, {}};
    for (const char byte : image) {
      compiled.image.push_back(static_cast<std::byte>(byte));
    }
    write_file_atomic(module, encode(compiled));
    return disassembly(module, "cuda", {folder_.path()}, process::Sandbox::best());
  }

  TemporaryDirectory folder_{"disassembly-test"};
};

TEST_F(Disassembly, GivesTheImageToTheToolAndReturnsItsWords) {
  EXPECT_EQ(text_of("IMAGE", "cat \"$2\"; echo \" by $1\""), "IMAGE by -c\n");
}

TEST_F(Disassembly, IsCutWhereItIsLong) {
  const std::string text = text_of("IMAGE", "yes 'FFMA R0, R1, R2, R3'");
  EXPECT_LT(text.size(), kMostDisassembly + 100);
  EXPECT_THAT(text, HasSubstr("more bytes]"));
}

TEST_F(Disassembly, AToolThatFailsIsNamedWithItsWords) {
  try {
    text_of("IMAGE", "echo 'no such section' >&2; exit 3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nvdisasm exited with 3: no such section"));
  }
}

TEST_F(Disassembly, TheToolCanWriteNoFile) {
  const process::Sandbox sandbox = process::Sandbox::best();
  if (sandbox.level() == process::Isolation::Rlimits) {
    GTEST_SKIP() << "rlimits do not promise it";
  }
  const fs::path planted = folder_.path() / "planted";
  text_of("IMAGE", "echo x > " + planted.string() + " || true");
  EXPECT_FALSE(fs::exists(planted));
}

} // namespace
} // namespace winnow::evaluators
