#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""sources.py "SITES..." "NUMBER...": create sources of modules with many sites here.

The module benchSITES has SITES sites of the tracepoint of bench.h. For each NUMBER, the
module namesNUMBER has NUMBER markers, each with a name of its own; tenSITES has ten times
as many sites, of ten names; functionsNUMBER has NUMBER functions. The modules names0, ten0
and functions0 have none. The directory compile has files with sites of several kinds,
which are compiled one by one. many.h has functions for the tracers of functions.c.
"""

import os
import sys

FORMAT = '"number %d size %lu"'
FUNCTION = 100      # sites
FILE = 1000
TEN = 10


def write(name, text):
    with open(name, 'w', encoding='ascii') as file:
        file.write(text)


def source(sites, header='#include <linux/marker.h>', kind='static notrace __used'):
    """A file of functions, each with some of the sites; nothing calls them.

    ftrace would look up each among all symbols of the module if they were not notrace.
    """
    lines = ['#include <linux/kernel.h>', '#include <linux/string.h>', header]
    for i, site in enumerate(sites):
        if i % FUNCTION == 0:
            lines += ['', kind, f'void sites_{i}(int number, unsigned long size)', '{']
        lines.append('\t' + site)
        if i % FUNCTION == FUNCTION - 1 or i == len(sites) - 1:
            lines.append('}')
    return '\n'.join(lines) + '\n'


def marks(names):
    return [f'trace_mark({name}, {FORMAT}, number, size);' for name in names]


def module(name, parts):
    return f'obj-m += {name}.o\n{name}-y := {" ".join(part + ".o" for part in ["main"] + parts)}\n'


def names_module(number):
    """Return the lines of the Makefile."""
    parts = []
    for first in range(0, number, FILE):
        parts.append(f'names{number}_{first}')
        write(parts[-1] + '.c', source(marks(
            f'bench_mark_{i}' for i in range(first, min(first + FILE, number)))))
    return module(f'names{number}', parts)


def functions_module(number):
    """ftrace looks up each function among all symbols, as it does for each marker."""
    write(f'functions{number}_all.c', '#include <linux/compiler.h>\n' + ''.join(
        f'static noinline __used int bench_function_{i}(void) {{ return {i}; }}\n'
        for i in range(number)))
    return module(f'functions{number}', [f'functions{number}_all'])


def copied_module(name, number, site, *how):
    """Some sites are compiled once, and linked as often as needed."""
    if not number:
        return module(f'{name}0', [])
    unit = f'{name}_{min(FILE, number)}'
    write(f'{unit}.c', source([site(i) for i in range(min(FILE, number))], *how))
    copies = [f'{unit}_{i}' for i in range(1, number // FILE)]
    return f'$(obj)/{unit}_%.o: $(obj)/{unit}.o\n\tcp $< $@\n' + \
        module(f'{name}{number}', [unit] + copies)


def mark_of_ten(i):
    return marks([f'bench_site_{i % TEN}'])[0]


def tracepoint(i):
    return f'trace_bench_tp({i}, (void *)size); barrier();'


def many_functions():
    """Each returns a different number, or the compiler would merge them."""
    names = [f'traced_{i:03}' for i in range(1000)]
    return ''.join(f'static noinline int {name}(void) {{ return __COUNTER__; }}\n'
                   for name in names) + 'static unsigned long many[] = {\n' + \
        ''.join(f'\t(unsigned long){name},\n' for name in names) + '};\n'


EVENTS = """#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench
#if !defined(_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _EVENTS_H
#include <linux/tracepoint.h>
%s#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE %s
#include <trace/define_trace.h>
"""

EVENT = """TRACE_EVENT(%s,
	TP_PROTO(int number, unsigned long size),
	TP_ARGS(number, size),
	TP_STRUCT__entry(
		__field(int, number)
		__field(unsigned long, size)
	),
	TP_fast_assign(
		__entry->number = number;
		__entry->size = size;
	),
	TP_printk(%s, __entry->number, __entry->size)
);
"""


DYNAMIC_DEBUG = '#define CONFIG_DYNAMIC_DEBUG_CORE 1\n#define DYNAMIC_DEBUG_MODULE\n'


def events(names):
    """The definitions, and the sites."""
    file = f'events{len(names)}'
    write(f'compile/{file}.h', EVENTS % (''.join(EVENT % (name, FORMAT) for name in names), file))
    return source([f'trace_{name}(number, size);' for name in names],
                  f'#define CREATE_TRACE_POINTS\n#include "{file}.h"')


def compiled_alone():
    os.mkdir('compile')
    write('compile/Makefile', 'obj-m := empty.o\nCFLAGS_empty.o := -I$(src)\n')
    write('compile/empty.c', source([]))
    for number in 1, 300, 3000:
        names = [f'bench_mark_{i}' for i in range(number)]
        for kind, text in {
                'trace_mark': source(marks(names)),
                'trace_printk': source(
                    [f'trace_printk("{name} " {FORMAT}, number, size);' for name in names]),
                'dev_dbg': DYNAMIC_DEBUG + source(
                    [f'dev_dbg(dev, "{name} " {FORMAT}, number, size);' for name in names],
                    '#include <linux/device.h>\nextern struct device *dev;'),
                'TRACE_EVENT': events(names)}.items():
            write(f'compile/{kind}{number}.c', text)


def main():
    sites, numbers = ([int(word) for word in arg.split()] for arg in sys.argv[1:])
    write('main.c', '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("Sites");\n')
    write('many.h', many_functions())
    text = 'obj-m := bench.o hits.o place.o functions.o\nhits-y := hits_site.o hits_tp.o\nCFLAGS_place.o := -I$(src)\n'
    for number in sites:
        text += copied_module('bench', number, tracepoint, '#include "bench.h"', 'static __used __flatten')
    if numbers:
        text += 'obj-m += marks.o\n'
        for number in [0] + numbers:
            text += names_module(number) + functions_module(number) + copied_module('ten', TEN * number, mark_of_ten)
        compiled_alone()
    write('Makefile', text)


main()
