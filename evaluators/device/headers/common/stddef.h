#pragma once
#include "std_types.h"
