// Every device declares the C functions of this header itself.
#pragma once
#include "prelude.h"
