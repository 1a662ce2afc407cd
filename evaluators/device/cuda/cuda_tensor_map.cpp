#include "evaluators/device/cuda/cuda_functions.h"

#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace winnow::evaluators::cuda {
namespace {

constexpr std::size_t kMaxRank = 5;

CUtensorMapDataType type_of(tasks::DType type) {
  constexpr std::array kTypes{
#define EVALUATORS_MAP_TYPE(name, number, codec, text, device_type, header, torch, map)            \
  CU_TENSOR_MAP_DATA_TYPE_##map,
      TASKS_DTYPES(EVALUATORS_MAP_TYPE)
#undef EVALUATORS_MAP_TYPE
  };
  return kTypes.at(static_cast<std::size_t>(type) - 1);
}

CUtensorMapInterleave interleave_of(tasks::Interleave interleave) {
  switch (interleave) {
  case tasks::Interleave::Bytes16:
    return CU_TENSOR_MAP_INTERLEAVE_16B;
  case tasks::Interleave::Bytes32:
    return CU_TENSOR_MAP_INTERLEAVE_32B;
  case tasks::Interleave::None:
    break;
  }
  return CU_TENSOR_MAP_INTERLEAVE_NONE;
}

CUtensorMapSwizzle swizzle_of(tasks::Swizzle swizzle) {
  switch (swizzle) {
  case tasks::Swizzle::Bytes32:
    return CU_TENSOR_MAP_SWIZZLE_32B;
  case tasks::Swizzle::Bytes64:
    return CU_TENSOR_MAP_SWIZZLE_64B;
  case tasks::Swizzle::Bytes128:
    return CU_TENSOR_MAP_SWIZZLE_128B;
  case tasks::Swizzle::None:
    break;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapL2promotion promotion_of(tasks::L2Promotion promotion) {
  switch (promotion) {
  case tasks::L2Promotion::Bytes64:
    return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
  case tasks::L2Promotion::Bytes128:
    return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  case tasks::L2Promotion::Bytes256:
    return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  case tasks::L2Promotion::None:
    break;
  }
  return CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

template <class To, std::size_t kSize>
std::array<To, kSize> copied(const std::vector<std::int64_t>& values) {
  std::array<To, kSize> result{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.at(i) = static_cast<To>(values[i]);
  }
  return result;
}

std::string describe(const tasks::ResolvedTensorMap& map) {
  return fmt::format("the driver refuses the tensor map of '{}': extents {}, strides {} bytes, box "
                     "{}, element strides {}, swizzle {}, interleave {}",
                     map.buffer, fmt::join(map.extents, "x"), fmt::join(map.strides_bytes, ", "),
                     fmt::join(map.box, "x"), fmt::join(map.element_strides, ", "),
                     static_cast<int>(map.options.swizzle),
                     static_cast<int>(map.options.interleave));
}

} // namespace

TensorMapBytes encode(const Functions& cuda, const tasks::ResolvedTensorMap& map,
                      GpuAddress tensor) {
  static_assert(sizeof(CUtensorMap) == sizeof(TensorMapBytes));
  const std::size_t rank = map.extents.size();
  if (rank == 0 || rank > kMaxRank || map.strides_bytes.size() != rank - 1 ||
      map.box.size() != rank || map.element_strides.size() != rank) {
    throw Error(fmt::format("a tensor map of '{}' of {} dimensions", map.buffer, rank));
  }
  const auto extents = copied<cuuint64_t, kMaxRank>(map.extents);
  const auto strides = copied<cuuint64_t, kMaxRank>(map.strides_bytes);
  const auto box = copied<cuuint32_t, kMaxRank>(map.box);
  const auto element_strides = copied<cuuint32_t, kMaxRank>(map.element_strides);
  CUtensorMap encoded{};
  const CUresult result = cuda.cuTensorMapEncodeTiled(
      &encoded, type_of(map.dtype), static_cast<cuuint32_t>(rank), std::bit_cast<void*>(tensor),
      extents.data(), strides.data(), box.data(), element_strides.data(),
      interleave_of(map.options.interleave), swizzle_of(map.options.swizzle),
      promotion_of(map.options.l2_promotion),
      map.options.fill == tasks::OutOfBoundsFill::NaN
          ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
          : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    throw GpuError("cuTensorMapEncodeTiled", "CUDA_ERROR_INVALID_VALUE", describe(map),
                   GpuFailure::InvalidLaunch, false);
  }
  check(result, "cuTensorMapEncodeTiled");
  TensorMapBytes bytes;
  std::memcpy(bytes.bytes.data(), &encoded, sizeof(encoded));
  return bytes;
}

} // namespace winnow::evaluators::cuda
