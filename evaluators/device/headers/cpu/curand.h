#pragma once
#include "winnow_cpu.h"
