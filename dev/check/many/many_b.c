// SPDX-License-Identifier: GPL-2.0
#define PREFIX	many_b
#include "many.h"
