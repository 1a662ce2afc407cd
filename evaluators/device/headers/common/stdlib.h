// Device code has no heap here: malloc and free stay undeclared on purpose.
#pragma once
#include "std_types.h"
