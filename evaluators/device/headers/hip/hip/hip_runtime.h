// Built into hiprtc.
#pragma once
#include "winnow_hip.h"
