// Every device declares the functions of this header that device code may call itself.
#pragma once
#include "prelude.h"
