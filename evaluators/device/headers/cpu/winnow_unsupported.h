// What a CPU cannot run. Each use stops the compile at the candidate's own line with the prefix
// that the compile step turns into the verdict `unsupported`. Included last: the core needs asm.
#pragma once

#define WINNOW_UNSUPPORTED_TEXT(text) _Pragma(#text)
#define WINNOW_UNSUPPORTED(what) WINNOW_UNSUPPORTED_TEXT(GCC error what)

#define asm WINNOW_UNSUPPORTED("winnow-unsupported: asm (inline PTX)") __asm
#define __asm__ WINNOW_UNSUPPORTED("winnow-unsupported: asm (inline PTX)") __asm
// In sources it is written as asm by then; pasting tokens can still make one.
#define __asm WINNOW_UNSUPPORTED("winnow-unsupported: asm (inline PTX)") __asm

// Attributes that would hide accesses from check mode.
#define WINNOW_SEEN_BY_CHECKS                                                                      \
  WINNOW_UNSUPPORTED("winnow-unsupported: attributes that hide accesses from check mode")
#define no_sanitize WINNOW_SEEN_BY_CHECKS no_sanitize
#define __no_sanitize__ WINNOW_SEEN_BY_CHECKS __no_sanitize__
#define no_sanitize_thread WINNOW_SEEN_BY_CHECKS no_sanitize_thread
#define __no_sanitize_thread__ WINNOW_SEEN_BY_CHECKS __no_sanitize_thread__
#define disable_sanitizer_instrumentation                                                          \
  WINNOW_SEEN_BY_CHECKS disable_sanitizer_instrumentation
#define __disable_sanitizer_instrumentation__                                                      \
  WINNOW_SEEN_BY_CHECKS __disable_sanitizer_instrumentation__

#define cudaTextureObject_t                                                                        \
  WINNOW_UNSUPPORTED("winnow-unsupported: cudaTextureObject_t (textures)") unsigned long long
#define cudaSurfaceObject_t                                                                        \
  WINNOW_UNSUPPORTED("winnow-unsupported: cudaSurfaceObject_t (surfaces)") unsigned long long
#define tex1Dfetch WINNOW_UNSUPPORTED("winnow-unsupported: tex1Dfetch (textures)") tex1Dfetch
#define tex1D WINNOW_UNSUPPORTED("winnow-unsupported: tex1D (textures)") tex1D
#define tex2D WINNOW_UNSUPPORTED("winnow-unsupported: tex2D (textures)") tex2D
#define tex3D WINNOW_UNSUPPORTED("winnow-unsupported: tex3D (textures)") tex3D
#define surf1Dread WINNOW_UNSUPPORTED("winnow-unsupported: surf1Dread (surfaces)") surf1Dread
#define surf1Dwrite WINNOW_UNSUPPORTED("winnow-unsupported: surf1Dwrite (surfaces)") surf1Dwrite
#define surf2Dread WINNOW_UNSUPPORTED("winnow-unsupported: surf2Dread (surfaces)") surf2Dread
#define surf2Dwrite WINNOW_UNSUPPORTED("winnow-unsupported: surf2Dwrite (surfaces)") surf2Dwrite

#define CUtensorMap WINNOW_UNSUPPORTED("winnow-unsupported: CUtensorMap (TMA)") int
#define __cluster_dims__(...)                                                                      \
  WINNOW_UNSUPPORTED("winnow-unsupported: __cluster_dims__ (thread block clusters)")
#define cudaLaunchDevice                                                                           \
  WINNOW_UNSUPPORTED("winnow-unsupported: cudaLaunchDevice (dynamic parallelism)") cudaLaunchDevice

#define malloc WINNOW_UNSUPPORTED("winnow-unsupported: malloc (heap of the device)") malloc

// Launches run one after another here, so programmatic dependent launch has nothing to wait for.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
