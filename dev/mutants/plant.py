#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""plant.py OUT: put all mutants into the kernel of OUT/linux.

OUT/points.csv lists them. OUT/skip.csv names those that do not compile; when
OUT/compile.log has errors, the points in their lines are added to it.
"""
import collections
import csv
import os
import re
import sys
import points

here = os.path.dirname(os.path.abspath(__file__))


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def write(path, text):
    """An unchanged file keeps its time."""
    if not os.path.exists(path) or read(path) != text:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)


def edit(text, old, new):
    if text.count(old) != 1:
        sys.exit(f'plant.py: not found once: {old}')
    return text.replace(old, new)


def listed():
    for line in read(f'{here}/files').splitlines():
        words = line.split('#')[0].split()
        if words:
            yield words[0], set(words[1:]) or None


def errors(out):
    """The lines with compiler errors, and the class of mutant of each error."""
    if not os.path.exists(f'{out}/compile.log'):
        return set()
    found = re.findall(r'^\S*?((?:arch|kernel)/\S+?\.c):(\d+):\d+: error: (.*)',
                       read(f'{out}/compile.log'), re.M)
    return {(name, int(line), 'operator' if 'binary' in how else
             'return' if 'scalar' in how else 'constant') for name, line, how in found}


def skipped(out):
    """Mutants to skip, identified by their text: lines may be added above it."""
    path = f'{out}/skip.csv'
    skip = set()
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            skip = {tuple(row) for row in csv.reader(f)}
    if os.path.exists(f'{out}/points.csv'):
        at = collections.defaultdict(set)
        with open(f'{out}/points.csv', encoding='utf-8') as f:
            for p in csv.DictReader(f):
                at[p['file'], int(p['line']), p['what']].add(
                    (p['file'], p['function'], p['what'], p['old']))
        for name, line, what in errors(out):
            # An error in a macro may be reported for the next line.
            skip |= at[name, line, what] or at[name, line - 1, what]
    with open(path, 'w', encoding='utf-8') as f:
        csv.writer(f).writerows(sorted(skip))
    return skip


def kernel_files(out, count):
    linux, base = f'{out}/linux', f'{out}/base'
    write(f'{linux}/include/linux/mutants.h', read(f'{here}/mutants.h'))
    write(f'{linux}/kernel/mutants.c', read(f'{here}/mutants.c'))
    write(f'{linux}/kernel/mutants-count.h', f'#define MUTANTS\t{count}\n')
    kunit = read(f'{base}/lib/kunit/test.c')
    kunit = edit(kunit, 'int kunit_run_tests(struct kunit_suite *suite)\n',
                 'bool mutants_skip(struct kunit_case *test_case);\n'
                 'void mutants_case(struct kunit_case *test_case);\n'
                 'void mutants_suite(struct kunit_suite *suite, bool there);\n\n'
                 'int kunit_run_tests(struct kunit_suite *suite)\n')
    kunit = edit(kunit, '\t\ttest_case->status = KUNIT_SKIPPED;\n',
                 '\t\tif (mutants_skip(test_case))\n\t\t\tcontinue;\n'
                 '\t\ttest_case->status = KUNIT_SKIPPED;\n')
    kunit = edit(kunit, '\t\tkunit_update_stats(&suite_stats, test_case->status);\n',
                 '\t\tmutants_case(test_case);\n'
                 '\t\tkunit_update_stats(&suite_stats, test_case->status);\n')
    kunit = edit(kunit, '\t\tkunit_init_suite(suites[i]);\n',
                 '\t\tkunit_init_suite(suites[i]);\n\t\tmutants_suite(suites[i], true);\n')
    kunit = edit(kunit, '\t\tkunit_exit_suite(suites[i]);\n',
                 '\t\tkunit_exit_suite(suites[i]), mutants_suite(suites[i], false);\n')
    write(f'{linux}/lib/kunit/test.c', kunit)


def makefiles(out):
    """Without warnings of the compiler: many mutants cause some."""
    more = {'kernel': 'obj-y += mutants.o\n'}
    for name, _ in listed():
        folder, file = os.path.split(name)
        more[folder] = more.get(folder, '') + f'CFLAGS_{file[:-2]}.o += -w\n'
    for folder, text in more.items():
        name = f'{folder}/Makefile'
        old = f'{out}/stage/{name}'
        old = old if os.path.exists(old) else f'{out}/base/{name}'
        write(f'{out}/linux/{name}', read(old) + text)


def main(out):
    skip, first, rows, not_tried = skipped(out), 1, [], []
    for name, only in listed():
        text = read(f'{out}/stage/{name}')
        new, found, left = points.mutate(
            name, text, first, {s[1:] for s in skip if s[0] == name}, only)
        write(f'{out}/linux/{name}', '#include <linux/mutants.h>\n#line 1\n' + new)
        rows += [(nr, name, *rest) for nr, *rest in found]
        not_tried += [(name, *n) for n in left]
        first += len(found)
    kernel_files(out, first)
    makefiles(out)
    count = collections.Counter()
    for i, row in enumerate(rows):
        same = (row[1], *row[3:])       # the line does not identify it
        rows[i] = (*row, count[same])
        count[same] += 1
    with open(f'{out}/points.csv', 'w', encoding='utf-8') as f:
        w = csv.writer(f)
        w.writerow(('nr', 'file', 'line', 'function', 'what', 'old', 'new', 'nth'))
        w.writerows(rows)
    with open(f'{out}/not-tried.csv', 'w', encoding='utf-8') as f:
        w = csv.writer(f)
        w.writerow(('file', 'line', 'why', 'text'))
        w.writerows(not_tried)
    print(f'{len(rows)} mutants, {len(not_tried)} not tried')


main(sys.argv[1])
