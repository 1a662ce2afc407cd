// Of the driver's header, device code uses one type: the tensor map that a plan declares.
#pragma once

typedef struct alignas(64) CUtensorMap_st {
  unsigned long long opaque[16];
} CUtensorMap;
