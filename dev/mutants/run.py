#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""run.py OUT GUEST SECONDS SUITE...: test the mutants for so many seconds.

First the program OUT/real/real tries those that it reaches: a third of a second for each of
its tests. Then each KUnit case runs without a mutant, to find what it reaches and what it costs.
Then guests (of the script GUEST) try mutants with the cases that reach them, the fast
ones first; see guest.sh. A guest whose mutant makes it hang or panic starts again with
the next one.
"""
import collections
import csv
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
MOST = 20e6     # microseconds of the cases of a mutant
HANGS = 90      # seconds without a result
FIELDS = ('nr', 'file', 'line', 'function', 'old', 'new')
LOCK = threading.Lock()


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return f.read().splitlines()


def run_guest(guest, name, todo, suites, stop=None):
    """Run the script in the guest, until it ends, hangs, or the time is over."""
    results = f'{os.environ["OUT"]}/guest/{name}'
    command = [guest, '--flavour', 'small', '--name', name, '--timeout', '3600', '--append',
               'kunit.enable=0 rcupdate.rcu_expedited=1 init_on_free=1',
               f'{here}/guest.sh', todo, *suites]
    with open(f'{results}.log', 'w', encoding='utf-8') as log, \
            subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True) as process:
        tried, last = f'{results}/tried', time.time()
        while process.poll() is None:
            time.sleep(1)
            if os.path.exists(tried):
                last = max(last, os.path.getmtime(tried))
            if stop and (time.time() > stop or time.time() > last + HANGS):
                os.killpg(process.pid, signal.SIGTERM)
    return results


def run_real(out, test, mutant, seconds):
    """Return the exit status, and what the program printed."""
    try:
        done = subprocess.run([f'{out}/real/real', test, str(seconds)], timeout=10, check=False,
                              env={**os.environ, 'MUTANT': str(mutant)}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return 'hang', ''
    return done.returncode, done.stdout


def key(row):
    return tuple(row[k] for k in FIELDS if k not in ('nr', 'line'))


def read_csv(path, fields=None):
    return list(csv.DictReader(lines(path), fields))


class Run:
    def __init__(self, out, guest, seconds, suites):
        self.out, self.guest, self.suites = out, guest, suites
        self.stop = time.time() + seconds
        self.points = {p['nr']: p for p in read_csv(f'{out}/points.csv', FIELDS)}
        self.results = {key(r): r for r in read_csv(f'{out}/results.csv')}
        self.cases = collections.defaultdict(list)
        for line in lines(f'{out}/map'):
            case, cost, reached = line.split()
            for nr, one in enumerate(reached):
                if one == '1':
                    self.cases[str(nr)].append((int(cost), case))
        self.todo = [nr for nr, p in self.points.items()
                     if nr in self.cases and key(p) not in self.results]
        random.shuffle(self.todo)

    def line(self, nr):
        spent, found = 0, []
        for cost, case in sorted(self.cases[nr]):
            spent += cost
            if found and spent > MOST:
                break
            found.append(case)
        return f'{nr} {" ".join(found)}\n'

    def add(self, nr, result, by=''):
        row = {**self.points[nr], 'result': result, 'by': by}
        self.results[key(row)] = row
        with open(f'{self.out}/results.csv', 'a', encoding='utf-8') as f:
            w = csv.DictWriter(f, row)
            if not f.tell():
                w.writeheader()
            w.writerow(row)

    def try_real(self):
        """What survives here is left for the guests."""
        reached = {test: set(re.findall(r'^reached (\d+)$', run_real(self.out, test, 0, 2)[1], re.M))
                   for test in ('values', 'probes', 'tracers')}
        for nr in [nr for nr in self.points if any(nr in some for some in reached.values())]:
            if key(self.points[nr]) in self.results or time.time() > self.stop:
                continue
            for test, some in reached.items():
                if nr in some and run_real(self.out, test, nr, 0.3)[0]:
                    self.add(nr, 'failed', f'real:{test}')
                    break
        self.todo = [nr for nr in self.todo if key(self.points[nr]) not in self.results]

    def work(self, name):
        while time.time() < self.stop and self.todo:
            with LOCK:
                some, self.todo = self.todo[:50], self.todo[50:]
            todo = f'{self.out}/{name}.todo'
            with open(todo, 'w', encoding='utf-8') as f:
                f.writelines(self.line(nr) for nr in some)
            results = run_guest(self.guest, name, todo, self.suites, self.stop)
            over = time.time() > self.stop
            with LOCK:
                self.take(some, lines(f'{results}/tried'), over)

    def take(self, some, tried, over):
        """Note the results; mutants that were not tried are left for later."""
        begun, done = set(), set()
        for nr, result, *by in (line.split() for line in tried):
            if result == 'begin':
                begun.add(nr)
            else:
                self.add(nr, result, *by)
                done.add(nr)
        for nr in begun - done:
            if not over:
                self.add(nr, 'panic or hang')
        self.todo += [nr for nr in some if nr not in begun]

    def table(self):
        """One line for each file, and the mutants that survived."""
        count = collections.defaultdict(collections.Counter)
        for nr, p in self.points.items():
            result = self.results.get(key(p))
            state = result['result'] if result else \
                'not tried' if nr in self.cases else 'not reached'
            for name in (p['file'], 'all'):
                count[name][state] += 1
            if state == 'survived':
                print(f'{p["file"]}:{p["line"]}: {p["function"]}: {p["old"]} -> '
                      f'{p["new"] or "nothing"}')
        for name in sorted(count):
            print(f'{name}:', ', '.join(f'{n} {state}' for state, n in
                                        sorted(count[name].items())))


def main(out, guest, seconds, *suites):
    os.makedirs(f'{out}/guest', exist_ok=True)
    if not os.path.exists(f'{out}/map') or \
            os.path.getmtime(f'{out}/map') < os.path.getmtime(f'{out}/build/small/vmlinux'):
        found = lines(f'{run_guest(guest, "map", "map", suites)}/map')
        if not found:
            sys.exit(f'run.py: no case ran: {out}/guest/map.log')
        with open(f'{out}/map', 'w', encoding='utf-8') as f:
            f.write('\n'.join(found))
    run = Run(out, guest, float(seconds), suites)
    run.try_real()
    threads = [threading.Thread(target=run.work, args=(f'mutants{i}',))
               for i in range(os.cpu_count() or 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    run.table()


main(*sys.argv[1:])
