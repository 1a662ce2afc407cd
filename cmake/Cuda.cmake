# CUDA's headers are optional: without them the program has no CUDA device. The driver library is
# loaded at run time, so nothing is linked. Optional target: winnow_cuda_headers (INTERFACE,
# -isystem).
find_path(WINNOW_CUDA_INCLUDE cuda.h
  HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include /opt/cuda/include
  DOC "Directory of cuda.h")
mark_as_advanced(WINNOW_CUDA_INCLUDE)
if(WINNOW_CUDA_INCLUDE AND NOT TARGET winnow_cuda_headers)
  add_library(winnow_cuda_headers INTERFACE)
  target_include_directories(winnow_cuda_headers SYSTEM INTERFACE ${WINNOW_CUDA_INCLUDE})
endif()

# CUPTI's headers are optional too. NVIDIA's installer puts them into their own folder. Winnow uses
# the range profiler of CUDA 13. Optional target: winnow_cupti_headers (INTERFACE, -isystem).
find_path(WINNOW_CUPTI_INCLUDE cupti_range_profiler.h
  HINTS ${WINNOW_CUDA_INCLUDE} ${WINNOW_CUDA_INCLUDE}/../extras/CUPTI/include
  DOC "Directory of cupti_range_profiler.h")
mark_as_advanced(WINNOW_CUPTI_INCLUDE)
if(TARGET winnow_cuda_headers AND WINNOW_CUPTI_INCLUDE AND NOT TARGET winnow_cupti_headers)
  file(STRINGS ${WINNOW_CUPTI_INCLUDE}/cupti_version.h version REGEX "define CUPTI_API_VERSION +[0-9]+")
  if(version MATCHES "([0-9]+)$" AND CMAKE_MATCH_1 GREATER_EQUAL 130000)
    add_library(winnow_cupti_headers INTERFACE)
    target_include_directories(winnow_cupti_headers SYSTEM INTERFACE ${WINNOW_CUPTI_INCLUDE})
    target_link_libraries(winnow_cupti_headers INTERFACE winnow_cuda_headers)
  endif()
endif()
