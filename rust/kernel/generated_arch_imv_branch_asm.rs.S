/* SPDX-License-Identifier: GPL-2.0 */

#include <linux/immediate.h>

// Cut here.

::kernel::concat_literals!(ARCH_IMV_BRANCH_ASM("{symb} + {off}", "{l_yes}"))
