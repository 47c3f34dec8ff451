#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""layouts.py DIR: write layouts.h for cycles_kernel.c: tracepoints, their sites and probes at
random distances, as a single layout of code is not a measurement, and markers, and KFENCE's
checks; and many functions with an inactive site."""
import random
import sys

LAYOUTS = 40
FUNCTIONS = 8192
PROTO = "TP_PROTO(ulong a, ulong b, ulong c), TP_ARGS(a, b, c)"

FUNCTION = """\
#define FUNCTION(n)						\\
	static noinline notrace ulong many_##n(ulong a)		\\
	{							\\
		ulong s = a * n + (a >> 7);			\\
								\\
		barrier();					\\
		s ^= s >> 13;					\\
		trace_many(a, s, s - a);			\\
		return s & 0x4000 ? s + (a << 3) : s + n;	\\
	}
"""


def gap():
    return f'asm(".pushsection .text\\n.skip {random.randrange(6000)}, 0xcc\\n.popsection");\n'


def layout(n):
    return (gap() + f"DECLARE_TRACE_EVENT(lay{n}, {PROTO});\nDEFINE_TRACE(lay{n}, {PROTO});\n" + gap() +
            f"static noinline notrace void site{n}(ulong a, ulong b, ulong c)\n"
            f"{{ trace_lay{n}(a, b, c); }}\n" + gap() +
            f"static noinline notrace void probe{n}(void *data, ulong a, ulong b, ulong c)\n"
            '{ asm volatile(""); }\n' +
            f"MARK(mark{n})\n" + gap() + f"FREE(free{n})\n")


def main():
    random.seed(4)
    with open(f"{sys.argv[1]}/layouts.h", "w") as file:
        file.writelines(layout(n) for n in range(LAYOUTS))
        file.write("static const struct layout layouts[] = {\n")
        file.writelines(f"\tLAYOUT({n}),\n" for n in range(LAYOUTS))
        file.write(f"}};\nDECLARE_TRACE_EVENT(many, {PROTO});\nDEFINE_TRACE(many, {PROTO});\n" + FUNCTION)
        file.writelines(f"FUNCTION({n})\n" for n in range(FUNCTIONS))
        file.write("ulong (*const cycles_many[])(ulong a) = {\n")
        file.writelines(f"\tmany_{n},\n" for n in range(FUNCTIONS))
        file.write("};\n")


main()
