// Its device part is in the prologue of every module.
#pragma once
#include "winnow_cpu.h"
