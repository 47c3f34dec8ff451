// SPDX-License-Identifier: GPL-2.0
/*
 * A marker of an external module, whose format differs when the module is built with
 * -DCHANGED. Hit when the module is loaded.
 */
#include <linux/marker.h>
#include <linux/module.h>

static int __init stap_check_init(void)
{
#ifdef CHANGED
	trace_mark(stap_check, "number %u", 7);
#else
	trace_mark(stap_check, "number %d", 7);
#endif
	return 0;
}
module_init(stap_check_init);

static void __exit stap_check_exit(void) { }
module_exit(stap_check_exit);

MODULE_DESCRIPTION("A marker for SystemTap");
MODULE_LICENSE("GPL");
