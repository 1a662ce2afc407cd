#include "agents/http/libcurl.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;

TEST(LibCurl, ALibraryThatIsMissingOrAnotherIsNamedWithTheRemedy) {
  for (const char* path : {"libwinnow-missing.so.4", "libm.so.6"}) {
    try {
      load_libcurl(path);
      FAIL() << path << " was taken for libcurl";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
      EXPECT_THAT(error.remedy(), HasSubstr("apt-get install libcurl4"));
    }
  }
}

TEST(LibCurl, HasEveryFunction) {
  EXPECT_EQ(libcurl().getdate("Thu, 01 Jan 1970 00:01:00 GMT", nullptr), 60);
  EXPECT_STRNE(libcurl().easy_strerror(CURLE_COULDNT_CONNECT), "");
}

} // namespace
} // namespace winnow::agents
