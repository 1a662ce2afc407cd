// What AMD GPUs, or Winnow's plans for them, do not have. Each use stops the compile at the
// candidate's own line with the prefix that becomes the verdict `unsupported`. asm stays: it may be
// AMD's own.
#pragma once

#define WINNOW_UNSUPPORTED_TEXT(text) _Pragma(#text)
#define WINNOW_UNSUPPORTED(what) WINNOW_UNSUPPORTED_TEXT(GCC error what)

#define CUtensorMap WINNOW_UNSUPPORTED("winnow-unsupported: CUtensorMap (TMA)") int
#define __cluster_dims__(...)                                                                      \
  WINNOW_UNSUPPORTED("winnow-unsupported: __cluster_dims__ (thread block clusters)")
#define cudaLaunchDevice                                                                           \
  WINNOW_UNSUPPORTED("winnow-unsupported: cudaLaunchDevice (dynamic parallelism)") cudaLaunchDevice
#define cudaTextureObject_t                                                                        \
  WINNOW_UNSUPPORTED("winnow-unsupported: cudaTextureObject_t (textures)") unsigned long long
#define cudaSurfaceObject_t                                                                        \
  WINNOW_UNSUPPORTED("winnow-unsupported: cudaSurfaceObject_t (surfaces)") unsigned long long
