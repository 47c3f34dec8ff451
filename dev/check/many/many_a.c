// SPDX-License-Identifier: GPL-2.0
#define PREFIX	many_a
#include "many.h"
