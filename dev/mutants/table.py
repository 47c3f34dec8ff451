#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""table.py OUT [survivors|uncovered] [FILE...]: print the results of the mutants.

A table with one line per file: all mutants, those not built in this configuration,
those that no case reaches (some run at boot), those not tried yet, those caught,
those that survived, and those that do not change behaviour, as equivalent.csv lists.
Or the list of the mutants that survived, or of the functions and lines that no case
reaches.
"""
import collections
import csv
import json
import struct
import subprocess
import sys
from run import equivalents, key, load


def built(out, files):
    """The numbers of the mutants that are in the objects."""
    found = set()
    for name in files:
        section = f'{out}/section'
        subprocess.run(['objcopy', '-O', 'binary', '--only-section=.discard.mutants',
                        '--set-section-flags', '.discard.mutants=alloc',
                        f'{out}/build/guest/{name[:-1]}o', section], check=True)
        with open(section, 'rb') as f:
            found |= {n for n, in struct.iter_unpack('<I', f.read())}
    return found


class State:
    def __init__(self, out):
        self.points, self.results = load(out)
        files = list(dict.fromkeys(p['file'] for p in self.points))
        numbers = built(out, files)
        with open(f'{out}/map.json', encoding='utf-8') as f:
            map_ = json.load(f)
        boot = set(map_['boot'])
        cases = set().union(*(e['reached'] for e in map_['cases']))
        equal = equivalents()
        for p in self.points:
            nr = int(p['nr'])
            r = self.results.get(key(p))
            p['state'] = 'not built' if nr not in numbers else \
                r['result'] if r else \
                'not run' if nr in cases else 'boot' if nr in boot else 'uncovered'
            p['by'] = r['by'] if r else ''
            if p['state'] in ('survived', 'uncovered', 'boot', 'not run') and key(p) in equal:
                p['state'] = 'equivalent'


def table(out, points):
    with open(f'{out}/not-tried.csv', encoding='utf-8') as f:
        left = collections.Counter(r['file'] for r in csv.DictReader(f))
    names = ('not built', 'uncovered', 'boot', 'not run', 'failed', 'splat', 'panic',
             'hang', 'survived', 'equivalent')
    print('| file | mutants | no schema |', ' | '.join(names), '|')
    print('| --- |', ' | '.join(['---:'] * (len(names) + 2)), '|')
    total = collections.Counter()
    for name in dict.fromkeys(p['file'] for p in points):
        count = collections.Counter(p['state'] for p in points if p['file'] == name)
        count['all'], count['left'] = sum(count.values()), left[name]
        total += count
        row(name, count, names)
    row('all', total, names)


def row(name, count, names):
    print(f'| {name} | {count["all"]} | {count["left"]} |',
          ' | '.join(str(count[n]) for n in names), '|')


def survivors(points):
    for p in points:
        if p['state'] == 'survived':
            print(f'{p["file"]}:{p["line"]} {p["function"]} {p["what"]}: {p["old"]} -> {p["new"]}')


def uncovered(points):
    """Functions that no case reaches, and such lines of other functions."""
    functions = {}
    for p in points:
        if p['state'] != 'not built':
            functions.setdefault((p['file'], p['function']), []).append(p)
    for (name, function), some in functions.items():
        lines = sorted({int(p['line']) for p in some if p['state'] == 'uncovered'})
        if not lines:
            continue
        whole = all(p['state'] == 'uncovered' for p in some)
        print(f'{name}: {function}:', 'all' if whole else 'lines ' + ' '.join(map(str, lines)))


def main(out, what='table', *files):
    points = [p for p in State(out).points if not files or p['file'] in files]
    if what == 'survivors':
        survivors(points)
    elif what == 'uncovered':
        uncovered(points)
    else:
        table(out, points)


main(*sys.argv[1:])
