// Types of driver calls, which are host code; models include it for CUtensorMap.
#pragma once
#include "cuda.h"
