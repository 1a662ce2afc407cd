// Compiles the headers under common/, which the GPU compilers also use, with NVRTC.
#include "base/files.h"
#include "evaluators/device/headers/device_headers.h"

#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

/// The entry points of NVRTC that the test needs, loaded at run time.
class Nvrtc {
public:
  Nvrtc() {
    for (const char* name :
         {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
      if (library_ == nullptr) {
        library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      }
    }
  }
  bool loaded() const { return library_ != nullptr; }

  /// Returns the log; empty when the source compiled without any message.
  std::string compile(const std::string& source, const std::vector<std::string>& options) const {
    void* program = nullptr;
    call<int(void**, const char*, const char*, int, const char* const*, const char* const*)>(
        "nvrtcCreateProgram")(&program, source.c_str(), "sample.cu", 0, nullptr, nullptr);
    std::vector<const char*> pointers;
    for (const auto& option : options) {
      pointers.push_back(option.c_str());
    }
    const int result = call<int(void*, int, const char* const*)>("nvrtcCompileProgram")(
        program, static_cast<int>(pointers.size()), pointers.data());
    std::size_t size = 0;
    call<int(void*, std::size_t*)>("nvrtcGetProgramLogSize")(program, &size);
    std::string log(size, '\0');
    call<int(void*, char*)>("nvrtcGetProgramLog")(program, log.data());
    log.resize(log.find('\0'));
    call<int(void**)>("nvrtcDestroyProgram")(&program);
    return result == 0 ? log : fmt::format("NVRTC error {}\n{}", result, log);
  }

private:
  template <class Function> Function* call(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  void* library_ = nullptr;
};

const char* const kUsesThePrelude = R"(
template <class T> __device__ T clamped(T v) {
  static_assert(std::is_same<T, float>::value || std::is_integral_v<T>, "");
  return std::min(std::max(v, T(0)), std::numeric_limits<T>::max());
}
__global__ void k(float* p, int64_t* q, uint8_t* bytes) {
  constexpr float low = -INFINITY;
  p[0] = clamped(p[1]) + low + FLT_MAX + NAN + (float)M_PI + CUDART_INF_F;
  p[1] = std::sqrt(p[2]) + std::fmax(p[3], std::exp(p[4])) + std::numeric_limits<float>::epsilon();
  q[0] = INT64_MAX - INT_MAX + (int64_t)SIZE_MAX + std::abs(-3);
  std::array<float, 4> a{};
  a.fill(2.0f);
  std::swap(a[0], p[5]);
  bytes[0] = UINT8_MAX;
  assert(std::isfinite(p[0]));
}
)";

TEST(Nvrtc, CompilesEveryCommonHeader) {
  const Nvrtc nvrtc;
  if (!nvrtc.loaded()) {
    GTEST_SKIP() << "libnvrtc is not installed";
  }
  const TemporaryDirectory directory("nvrtc");
  write_device_headers(directory.path());
  std::string source = "#include \"prelude.h\"\n";
  for (const auto& entry : std::filesystem::directory_iterator(directory.path() / "common")) {
    source += fmt::format("#include <{}>\n", entry.path().filename().string());
  }
  EXPECT_EQ(nvrtc.compile(source + kUsesThePrelude,
                          {"-arch=sm_90", "-std=c++17", "-default-device",
                           fmt::format("-I{}/common", directory.path().string())}),
            "");
}

TEST(Nvrtc, PreludeGoesWithCudasOwnHeaders) {
  const Nvrtc nvrtc;
  const std::filesystem::path include = "/usr/local/cuda/include";
  if (!nvrtc.loaded() || !std::filesystem::exists(include / "cooperative_groups.h")) {
    GTEST_SKIP() << "libnvrtc or /usr/local/cuda/include is not installed";
  }
  const TemporaryDirectory directory("nvrtc");
  write_device_headers(directory.path());
  const std::string log = nvrtc.compile(
      "#include \"prelude.h\"\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
      "#include <cuda_fp8.h>\n#include <mma.h>\n#include <cooperative_groups.h>\n"
      "#include <algorithm>\n#include <array>\n#include <cassert>\n#include <cmath>\n"
      "#include <cstdint>\n#include <limits>\n#include <type_traits>\n" +
          std::string(kUsesThePrelude),
      {"-arch=sm_90", "-std=c++17", fmt::format("-I{}/common", directory.path().string()),
       "-I" + include.string(), "-I" + (include / "cccl").string()});
  EXPECT_EQ(log.find("error"), std::string::npos) << log;
}

} // namespace
} // namespace winnow::evaluators
