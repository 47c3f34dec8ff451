#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""marks.py DIR NUMBER...: create sources with many markers in DIR, for kbuild.

For each NUMBER, the module namesNUMBER has NUMBER markers, each with a name of its
own; tenSITES has ten times as many sites, of ten names. The modules with 0 have none.
The module eventsNUMBER has NUMBER trace events with the same fields, for one NUMBER:
1000 if given, else the largest. DIR/compile has files with trace_mark() and
trace_printk(), which are compiled one by one.
"""

import os
import sys

FORMAT = '"number %d size %lu"'
FUNCTION = 100      # sites
FILE = 1000
TEN = 10

EVENT = f'''TRACE_EVENT(bench_event_NUMBER,
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
	TP_printk({FORMAT}, __entry->number, __entry->size)
);
'''

EVENTS = '''#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench_events

#if !defined(_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _EVENTS_H

#include <linux/tracepoint.h>

%s
#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events_event
#include <trace/define_trace.h>
'''

MODULE = '''#include <linux/module.h>
#define CREATE_TRACE_POINTS
#include "events_event.h"
'''


def write(name, text):
    with open(name, 'w', encoding='ascii') as file:
        file.write(text)


def source(sites):
    """A file of functions, each with some of the sites; nothing calls them.

    They are notrace: ftrace would look up each among all symbols of the module.
    """
    lines = ['#include <linux/kernel.h>', '#include <linux/marker.h>']
    for i, site in enumerate(sites):
        if i % FUNCTION == 0:
            lines += ['', 'static notrace __used',
                      f'void sites_{i}(int number, unsigned long size)', '{']
        lines.append('\t' + site)
        if i % FUNCTION == FUNCTION - 1 or i == len(sites) - 1:
            lines.append('}')
    return '\n'.join(lines) + '\n'


def marks(names):
    return [f'trace_mark({name}, {FORMAT}, number, size);' for name in names]


def names_module(number):
    """Return the lines of the Makefile."""
    parts = []
    for first in range(0, number, FILE):
        parts.append(f'names{number}_{first}')
        write(parts[-1] + '.c', source(marks(
            f'bench_mark_{i}' for i in range(first, min(first + FILE, number)))))
    return module(f'names{number}', parts)


def module(name, parts):
    return f'obj-m += {name}.o\n{name}-y := {" ".join(part + ".o" for part in ["main"] + parts)}\n'


def ten_modules(numbers):
    """Sites of ten names are compiled once, and linked as often as needed."""
    chunk = min(FILE, *(number for number in numbers if number))
    write('ten.c', source(marks(f'bench_site_{i % TEN}' for i in range(chunk))))
    text = '$(obj)/ten_%.o: $(obj)/ten.o\n\tcp $< $@\n'
    for number in numbers:
        copies = [f'ten_{i}' for i in range(1, number // chunk)]
        text += module(f'ten{number}', ['ten'] * (number > 0) + copies)
    return text


def events_module(number):
    write('events.c', MODULE)
    write('events_event.h', EVENTS % '\n'.join(EVENT.replace('NUMBER', str(i)) for i in range(number)))
    return module(f'events{number}', ['events']) + 'CFLAGS_events.o := -I$(src)\n'


def compiled_alone():
    os.mkdir('compile')
    write('compile/Makefile', 'obj-m := empty.o\n')
    write('compile/empty.c', source([]))
    for number in 300, 3000:
        write(f'compile/trace_mark{number}.c',
              source(marks(f'bench_mark_{i}' for i in range(number))))
        write(f'compile/trace_printk{number}.c', source(
            [f'trace_printk("bench_mark_{i} " {FORMAT}, number, size);' for i in range(number)]))


def main():
    os.chdir(sys.argv[1])
    numbers = [int(arg) for arg in sys.argv[2:]]
    text = ''.join(names_module(number) for number in [0] + numbers)
    text += ten_modules([0] + [TEN * number for number in numbers])
    text += events_module(1000 if 1000 in numbers else max(numbers))
    with open('Makefile', 'a', encoding='ascii') as makefile:
        makefile.write(text + 'obj-m += marks.o\n')
    compiled_alone()


main()
