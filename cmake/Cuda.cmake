# CUDA's headers are optional: where they are missing, the CUDA device is left out of the program.
# The driver library itself is loaded at run time, so nothing is linked. Optional target:
# winnow_cuda_headers (INTERFACE, -isystem).
find_path(WINNOW_CUDA_INCLUDE cuda.h
  HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include /opt/cuda/include
  DOC "Directory of cuda.h")
mark_as_advanced(WINNOW_CUDA_INCLUDE)
if(WINNOW_CUDA_INCLUDE AND NOT TARGET winnow_cuda_headers)
  add_library(winnow_cuda_headers INTERFACE)
  target_include_directories(winnow_cuda_headers SYSTEM INTERFACE ${WINNOW_CUDA_INCLUDE})
endif()
