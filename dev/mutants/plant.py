#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""plant.py TOP OUT FILE...: put all mutants of these files into the kernel of OUT/linux.

OUT/points.csv lists them. Statements whose mutants do not compile are in OUT/skip.csv;
if OUT/compile.log has errors, the statements in their lines are added. The number of
statements in it is printed.
"""
import csv
import os
import re
import sys
import points


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def write(path, text):
    """An unchanged file keeps its time."""
    if not os.path.exists(path) or read(path) != text:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)


def rows(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return list(csv.reader(f))


def write_rows(path, lines):
    with open(path, 'w', encoding='utf-8') as f:
        csv.writer(f).writerows(lines)


def skipped(out):
    """(file, function, text) of the statements whose mutants do not compile."""
    skip = {tuple(row) for row in rows(f'{out}/skip.csv')}
    log = f'{out}/compile.log'
    # An error of an attribute is in a header; the lines before it have the caller.
    bad = set(re.findall(r'((?:arch|kernel)/\S+?\.c):(\d+):\d+(?:: error: |[:,]?$)',
                         read(log), re.M)) if os.path.exists(log) else set()
    for _, name, line, function, old, _ in rows(f'{out}/points.csv'):
        if (name, line) in bad:
            skip.add((name, function, old))
    write_rows(f'{out}/skip.csv', sorted(skip))
    return skip


def main(top, out, *files):
    here = os.path.dirname(os.path.abspath(__file__))
    skip, found, texts = skipped(out), [], {}
    for name in files:
        texts[name], some = points.mutate(read(f'{top}/{name}'), len(found) + 1,
                                          {s[1:] for s in skip if s[0] == name})
        found += [(nr, name, *rest) for nr, *rest in some]
    write(f'{out}/linux/include/linux/mutants.h', read(f'{here}/mutants.h'))
    for name, text in texts.items():
        # As in a header of the system, without warnings: many mutants would cause some.
        text = f'#include <linux/mutants.h>\n# 1 "{name}" 3\n{text}'
        if name == files[0]:
            text += f'\n#define MUTANTS {len(found)}\n' + read(f'{here}/mutants.c')
        write(f'{out}/linux/{name}', text)
    write_rows(f'{out}/points.csv', found)
    print(len(skip))


main(*sys.argv[1:])
