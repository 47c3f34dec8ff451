#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""run.py OUT map [SUITE...] | OUT fast|slow|debug SECONDS [FILE...]: test the mutants.

A guest boots once, loads the KUnit suites, and its state is saved. Several guests
start from this state. For each mutant, a guest runs the cases that reach its point,
the fast ones first, until one fails, the kernel complains, or the guest hangs; then
the guest returns to the saved state.

map writes to OUT/map.json what each case reaches and how long it takes; with names of
suites or selftests, only for these, after their cases have changed. The others try
mutants (of FILE...) for SECONDS, and add to OUT/results.csv: fast those without a
result, with the fast cases of KUnit; slow those that survived that or have no fast
case, with all other cases; debug all that survived, with the fast cases again, in
the kernel of OUT/build/debug. The other cases are the selftests, dev/check/events,
and operations of dev/torture/faults, in which each allocation fails once.
"""
import atexit
import collections
import csv
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
SUITES = ('immediate', 'tracepoint', 'marker', 'marker_formats', 'ftrace_sets',
          'generated_text')
SPLAT = re.compile(r'WARN|BUG:|Oops|INFO:|possible recursive locking|suspicious RCU|'
                   r'Call Trace|KASAN:|UBSAN|unable to handle|general protection|Kernel panic')
# Programs of the host; busybox has the others.
PROGRAMS = ('dash', 'bash', 'mawk', 'kmod', 'setpriv', 'grep', 'sed', 'dmesg')
SCRIPTS = ('immediate/immediate', 'tracepoints/tracepoints', 'tracepoints/stacks',
           'markers/markers', 'markers/events', 'markers/lifetime', 'markers/context',
           'markers/records', 'markers/lists', 'markers/errors',
           'function_tracers/function_tracers')
CHECKS = ('events/guest', 'events/texts')
# Those that reach most.
FAULTS = ('arm', 'named-tracer', 'load', 'enable-marker-text', 'enable-marker-of-module',
          'event-probe', 'open', 'perf-of-text', 'option', 'choose-tracer', 'change-named',
          'function-beside')
TAP = {'script': SCRIPTS, 'check': CHECKS, 'faults': FAULTS}
# The command for each of these, which print TAP.
COMMANDS = {
    'script': 'sh /selftests/{}.sh',
    'check': 'bash /tests/check/{}.sh /events; rmmod texts marker_sample 2>/dev/null',
    'faults': 'cd /proc/sys/kernel; echo 1 >kptr_restrict; echo 4 >printk; '
              'insmod /faults/faults.ko && /faults/failnth /faults /tmp 0 1 {}; '
              'rmmod faults; echo 7 >printk; cd /sys/kernel/debug/mutants',
}
KEY = ('file', 'function', 'what', 'old', 'new', 'nth')
FIELDS = ('file', 'line', *KEY[1:], 'result', 'by', 'seconds')


class Dead(Exception):
    """The guest does not answer."""


class Guest:
    all = []

    def __init__(self, out, flavour='guest', number=0):
        Guest.all.append(self)
        self.out, self.dir = out, f'{out}/vm-{flavour}'
        self.own = f'{self.dir}/{number}'       # not shared with other guests
        self.build = f'{out}/build/{flavour}'
        os.makedirs(self.own, exist_ok=True)
        self.process = None

    def initramfs(self):
        root = f'{self.dir}/root'
        shutil.rmtree(root, ignore_errors=True)
        for name in ('bin', 'sbin', 'usr/bin', 'usr/sbin', 'proc', 'sys', 'dev', 'tmp'):
            os.makedirs(f'{root}/{name}')
        for program in ('busybox', *PROGRAMS):
            self.program(root, shutil.which(program))
        for link, name in (('sh', 'dash'), ('awk', 'mawk'), ('modprobe', 'kmod'),
                           ('insmod', 'kmod'), ('rmmod', 'kmod'), ('lsmod', 'kmod')):
            os.symlink(name, f'{root}/bin/{link}')
        shutil.copy(f'{here}/init', f'{root}/init')
        os.chmod(f'{root}/init', 0o755)
        for suite in SUITES:
            self.module(f'{self.build}/lib/test_{suite}.ko', f'{root}/test_{suite}.ko')
        self.selftests(root)
        self.checks(root)
        with open(f'{self.dir}/initramfs', 'wb') as f:
            subprocess.run('find . | cpio -o -H newc --quiet --owner 0:0', cwd=root,
                           shell=True, stdout=f, check=True)

    def kernel(self):
        """A copy: the saved state fits only this kernel."""
        image = f'{self.build}/vmlinux'
        with open(f'{self.build}/.config', encoding='ascii') as f:
            if 'CONFIG_KASAN=y' in f.read():    # as guest.sh does
                image = f'{self.build}/arch/x86/boot/bzImage'
        shutil.copy(image, f'{self.dir}/kernel')

    def program(self, root, path, to=None):
        shutil.copy(path, to or f'{root}/bin/')
        said = subprocess.run(['ldd', path], capture_output=True, text=True).stdout
        for library in re.findall(r'(/\S+) \(', said):
            os.makedirs(root + os.path.dirname(library), exist_ok=True)
            shutil.copy(library, root + library)

    def module(self, path, to):
        subprocess.run(['strip', '-g', '-R', '.BTF', '-o', to, path], check=True)

    def selftests(self, root):
        modules = f'{self.build}/modroot/lib/modules'
        version = os.listdir(modules)[0]
        to = f'{root}/lib/modules/{version}'
        os.makedirs(f'{to}/kernel')
        for name in ('modules.builtin', 'modules.order', 'modules.builtin.modinfo'):
            shutil.copy(f'{modules}/{version}/{name}', to)
        samples = f'{modules}/{version}/kernel/samples'
        for folder, _, names in os.walk(samples):
            for name in names:
                self.module(f'{folder}/{name}', f'{to}/kernel/{name}')
        subprocess.run(['depmod', '-b', root, version], check=True)
        tests = f'{self.out}/linux/tools/testing/selftests'
        for name in {s.split('/')[0] for s in SCRIPTS} | {'kselftest'}:
            shutil.copytree(f'{tests}/{name}', f'{root}/selftests/{name}')
        subprocess.run(['gcc', '-O2', '-static', '-o', f'{root}/selftests/markers/event-user',
                        f'{tests}/markers/event-user.c'], check=True)

    def checks(self, root):
        dev = os.path.dirname(here)
        shutil.copytree(f'{dev}/check/events', f'{root}/tests/check/events')
        shutil.copytree(f'{dev}/guest', f'{root}/tests/guest')
        for name in ('events', 'faults'):
            os.makedirs(f'{root}/{name}')
            for path in glob.glob(f'{self.out}/{name}/*.ko'):
                self.module(path, f'{root}/{name}/{os.path.basename(path)}')
        self.program(root, f'{self.out}/faults/failnth', f'{root}/faults')

    def start(self, *more):
        for name in ('serial', 'monitor'):
            if os.path.exists(f'{self.own}/{name}'):
                os.unlink(f'{self.own}/{name}')
        self.log = open(f'{self.own}/console', 'w+b')
        self.process = subprocess.Popen([
            'qemu-system-x86_64', '-accel', 'tcg,thread=single', '-cpu', 'max', '-smp', '2',
            '-m', '1G', '-nodefaults', '-no-user-config', '-display', 'none',
            '-no-reboot', '-no-shutdown', '-kernel', f'{self.dir}/kernel',
            '-initrd', f'{self.dir}/initramfs',
            '-append', 'console=ttyS0 oops=panic mitigations=off no_timer_check '
            'tsc=reliable panic=0 rcupdate.rcu_cpu_stall_suppress=1 '
            'rcupdate.rcu_expedited=1 init_on_free=1 rdinit=/init',
            '-serial', f'file:{self.own}/console',
            '-serial', f'unix:{self.own}/serial,server=on,wait=off',
            '-monitor', f'unix:{self.own}/monitor,server=on,wait=off',
            '-drive', f'if=none,format=qcow2,file={self.own}/state.qcow2', *more],
            stderr=open(f'{self.own}/qemu.err', 'ab'))
        self.serial, self.monitor = self.connect('serial'), self.connect('monitor')
        self.answer = b''
        self.until(self.monitor, b'(qemu) ', 60)

    def connect(self, name):
        for _ in range(600):
            try:
                s = socket.socket(socket.AF_UNIX)
                s.connect(f'{self.own}/{name}')
                return s
            except OSError:
                time.sleep(0.1)
        raise Dead(name)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def until(self, s, end, seconds):
        got, stop = b'', time.time() + seconds
        while not got.endswith(end):
            s.settimeout(max(0.01, stop - time.time()))
            try:
                more = s.recv(65536)
            except OSError:
                more = b''
            if not more:
                raise Dead(got.decode(errors='replace'))
            got += more
        return got.decode(errors='replace')

    def tell(self, command):
        self.monitor.sendall(command.encode() + b'\n')
        return self.until(self.monitor, b'(qemu) ', 60)

    def boot(self):
        """Boot, load the suites without their cases, save the state."""
        self.kernel()
        self.initramfs()
        subprocess.run(['qemu-img', 'create', '-q', '-f', 'qcow2',
                        f'{self.own}/state.qcow2', '1M'], check=True)
        self.start()
        self.until(self.serial, b'ready\n', 600)
        reached = numbers(self.do('cat reached')[1])
        self.do('echo none >only')
        for suite in SUITES:
            self.do(f'insmod /test_{suite}.ko')
        self.do('sleep 1')
        said = self.tell('savevm ready')
        if 'Error' in said:
            sys.exit(said)
        self.monitor.sendall(b'quit\n')
        self.process.wait()
        os.replace(f'{self.own}/state.qcow2', f'{self.dir}/state.qcow2')
        self.resume()
        return reached

    def resume(self):
        """Start in the state that boot() saved."""
        shutil.copy(f'{self.dir}/state.qcow2', f'{self.own}/state.qcow2')
        self.start('-loadvm', 'ready')

    def back(self):
        """Return to the state that boot() saved."""
        try:
            self.tell('loadvm ready')
            if 'running' not in self.tell('info status'):
                raise Dead
        except (Dead, OSError):
            self.stop()
            self.resume()
        self.serial.setblocking(False)
        try:
            while self.serial.recv(65536):
                pass
        except OSError:
            pass
        self.said()

    def said(self):
        """The kernel's messages since the last call."""
        return self.log.read().decode(errors='replace')

    def cpu(self):
        with open(f'/proc/{self.process.pid}/stat', encoding='ascii') as f:
            words = f.read().rsplit(')', 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')

    def busy(self):
        """The time that QEMU was on a CPU or waited for one that was in use."""
        total = 0
        for task in os.listdir(f'/proc/{self.process.pid}/task'):
            try:
                with open(f'/proc/{self.process.pid}/task/{task}/schedstat',
                          encoding='ascii') as f:
                    ran, waited = f.read().split()[:2]
            except OSError:
                continue
            total += (int(ran) + int(waited)) / 1e9
        return total

    def do(self, line, cost=5.0, known=None):
        """
        Run this in the guest's shell; it usually costs so many seconds of the CPU.
        Return its status, its output and the kernel's messages. Raise Dead if it takes
        much longer, if the guest is idle for too long, or if the kernel panics. Do not
        wait for the end of a script that fails a case that is not known to fail.
        """
        self.serial.sendall(line.encode() + b'\n')
        got, begin, idle = b'', self.cpu(), 0
        last, console = self.busy(), ''
        self.serial.settimeout(0.1)
        while True:
            try:
                more = self.serial.recv(65536)
                got += more
                if not more:
                    raise Dead('QEMU ended')
            except OSError:
                console += self.said()
                busy = self.busy()
                idle = idle + 0.1 if busy - last < 0.02 else 0
                last = busy
                if 'Kernel panic' in console:
                    raise Dead(console) from None
                if self.cpu() - begin > 2 * cost + 2 or idle > 2 + cost:
                    raise Dead(console) from None
            if known is not None and failures(got.decode(errors='replace')) - set(known):
                return 1, got.decode(errors='replace'), console + self.said()
            end = re.search(rb'=(\d+)\n$', got)
            if end:
                return int(end[1]), got[:end.start()].decode(errors='replace'), \
                    console + self.said()


def numbers(text):
    """The numbers of a list such as 1-3,7."""
    found = set()
    for part in text.strip().split(','):
        if part:
            first, _, last = part.partition('-')
            found |= set(range(int(first), int(last or first) + 1))
    return found


def cases_of(out, suite):
    """The cases in the source of the suite."""
    with open(f'{out}/linux/lib/test_{suite}.c', encoding='utf-8') as f:
        return re.findall(r'KUNIT_CASE\w*\((\w+)', f.read())


def command(where, cases):
    """The command to run these cases: of the loaded suite, or after loading it again."""
    kind, suite = where.split(' ')
    if kind in COMMANDS:
        return COMMANDS[kind].format(suite)
    only = f'echo "{" ".join(cases) or "none"}" >only'
    if kind == 'load':
        again = f'rmmod test_{suite} && insmod /test_{suite}.ko'
        return f'{only}; {again}; code=$?; echo none >only; {again} && (exit $code)'
    return f'{only}; echo {suite} >run'


def failures(answer):
    return set(re.findall(r'^not ok (.*)\n', answer, re.M))


def prints_tap(where):
    return where.split(' ')[0] in COMMANDS


def passed(status, said, entry, answer=''):
    """What failed, or ''. A script may fail cases that it also fails without a mutant."""
    cases = entry['cases']
    if SPLAT.search(said):
        return 'splat'
    if prints_tap(entry['where']):
        new = sorted(failures(answer) - set(entry.get('known', ())))
        if new:
            return new[0]
        return '' if re.search('^ok', answer, re.M) else 'not run'
    failed = re.search(r'not ok \d+ (?:- )?(\w+)', said)
    if failed:
        return failed[1]
    for case in cases:
        if not re.search(rf'\bok \d+ (?:- )?{case}\b', said):
            return 'not run'
    return '' if status == 0 else f'status {status}'


def make_map(out, names):
    """Find what each case reaches, what it costs, and which need a load of their own."""
    guest, found, slow = Guest(out), [], []
    if names:
        with open(f'{out}/map.json', encoding='utf-8') as f:
            old = json.load(f)['cases']
        found = [e for e in old if e['where'].split(' ')[1] not in names]
        slow = [e for e in old if e not in found and e['cost'] > 5 and e['cases']]
    boot = guest.boot()
    for suite in SUITES:
        if not names or suite in names:
            found += map_suite(out, guest, suite, slow)
    for where in [f'{kind} {name}' for kind, all_names in TAP.items() for name in all_names
                  if not names or name in names]:
        entry = try_case(guest, where, [])
        if not entry['bad']:
            found.append(entry)
        else:
            guest.back()
    with open(f'{out}/map.json', 'w', encoding='utf-8') as f:
        json.dump({'boot': sorted(boot), 'cases': found}, f)
    reached = set().union(*(e['reached'] for e in found))
    print(f'{len(found)} cases; {len(boot)} mutants reached at boot, {len(reached)} by cases')


def map_suite(out, guest, suite, slow):
    """Map the cases of a suite; slow cases keep the entries that they have."""
    found = [e for e in slow if e['where'] == f'run {suite}']
    known = [e['cases'] for e in found]
    for kind, cases in [('load', [])] + [('run', [c]) for c in cases_of(out, suite)]:
        if cases in known:
            continue
        entry = try_case(guest, f'{kind} {suite}', cases)
        if entry['bad'] and kind == 'run':
            guest.back()
            entry = try_case(guest, f'load {suite}', cases)
        if entry['bad']:
            guest.back()
        else:
            found.append(entry)
    return found


def try_case(guest, where, cases):
    entry = {'where': where, 'cases': cases, 'bad': '', 'reached': [], 'cost': 0}
    try:
        guest.said()
        guest.do('echo >reached')
        begin = guest.cpu()
        status, answer, said = guest.do(command(where, cases), 60)
        entry['cost'] = guest.cpu() - begin
        if prints_tap(where):
            entry['known'] = sorted(failures(answer))
        entry['bad'] = passed(status, said, entry, answer)
        entry['reached'] = sorted(numbers(guest.do('cat reached')[1]))
    except Dead as e:
        entry['bad'] = f'dead: {str(e)[-300:]}'
    print(where, cases, round(entry['cost'], 2), len(entry['reached']), entry['bad'],
          entry.get('known', ''), flush=True)
    return entry


def steps_for(nr, cases):
    """
    What to run for a mutant: the fast cases of a suite together, all of them if
    loading the suite reaches the mutant; slow cases one by one.
    """
    fast, slow = {}, []
    loads = {e['where'] for e in cases
             if e['where'].startswith('load ') and not e['cases'] and nr in e['set']}
    for entry in cases:
        again = entry['where'].replace('run ', 'load ')
        if again in loads and entry['cost'] < 0.3:
            fast.setdefault(again, []).append(entry)    # as loaded with the mutant
        if nr not in entry['set'] or again in loads and entry['where'] in loads:
            continue
        if entry['cost'] < 0.3:
            fast.setdefault(entry['where'], []).append(entry)
        else:
            slow.append((entry['cost'], entry))
    steps = []
    for where, some in fast.items():
        names = [c for e in some for c in e['cases']]
        steps.append((sum(e['cost'] for e in some), {'where': where, 'cases': names}))
    steps.sort(key=lambda s: (s[1]['where'].startswith('load'), s[0]))
    return steps, sorted(slow, key=lambda s: s[0])


def try_mutant(guest, nr, steps):
    """Return how it was caught, and by what."""
    if guest.do(f'echo {nr} >nr')[0]:
        return 'caught', 'nr'
    for cost, entry in steps:
        where = entry['where']
        try:
            status, answer, said = guest.do(command(where, entry['cases']), cost,
                                            entry.get('known'))
        except Dead as e:
            how = 'panic' if SPLAT.search(str(e)) else 'hang'
            return how, f'{where}: {last_case(str(e))}'
        bad = passed(status, said, entry, answer)
        if bad:
            how = 'splat' if bad == 'splat' else 'failed'
            return how, f'{where}: {last_case(said) if bad == "splat" else bad}'
    try:
        # Deferred work, such as freeing, takes up to a tenth of a second.
        if guest.do('sleep 0.2; echo 0 >nr; sleep 0.05', 0.3)[0] or SPLAT.search(guest.said()):
            return 'splat', 'after'
    except Dead:
        return 'hang', 'after'
    return 'survived', ''


def last_case(said):
    found = re.findall(r'\bok \d+ (?:- )?(\w+)', said)
    return f'after {found[-1]}' if found else 'at once'


def key(p):
    return tuple(p[k] for k in KEY)


def changed_lines(name, commit):
    """The lines of a file that have changed since the commit."""
    said = subprocess.run(['git', 'diff', '-U0', commit, '--', name], check=True,
                          cwd=f'{here}/../..', capture_output=True, text=True).stdout
    return {line for first, count in re.findall(r'^@@ .* \+(\d+)(?:,(\d+))? @@', said, re.M)
            for line in range(int(first), int(first) + int(count or 1))}


def only_changed(points, commit):
    lines = {name: changed_lines(name, commit) for name in {p['file'] for p in points}}
    return [p for p in points if int(p['line']) in lines[p['file']]]


def load(out):
    with open(f'{out}/points.csv', encoding='utf-8') as f:
        points = list(csv.DictReader(f))
    if os.environ.get('SINCE'):
        points = only_changed(points, os.environ['SINCE'])
    results = {}
    if os.path.exists(f'{out}/results.csv'):
        with open(f'{out}/results.csv', encoding='utf-8') as f:
            results = {key(r): r for r in csv.DictReader(f)}
    return points, results


def equivalents():
    """The mutants that do not change behaviour: no test can catch these."""
    with open(f'{here}/equivalent.csv', encoding='utf-8') as f:
        return {key(r) for r in csv.DictReader(f)}


def wanted(how, before, steps):
    """True if there are steps that were not tried before."""
    if how == 'fast':
        return steps and not before
    if how == 'slow':
        return steps and not before or before and before['by'] == 'fast'
    return steps and before and before['result'] == 'survived' and before['by'] != 'debug'


# With rcu_expedited, grace periods are short, and guests rarely wait.
GUESTS = (os.cpu_count() or 1) + 2
LOCK = threading.Lock()

# The classes that are tried first, second and third.
RANKS = ({'call', 'store', 'jump', 'error', 'return', 'condition'},
         {'operator', 'assignment', 'step', 'not'}, {'constant', 'sign', 'sync'})


def in_turn(points):
    """Sort by rank; within a rank, alternate between the files."""
    rank = [next(i for i, r in enumerate(RANKS) if p['what'] in r) for p in points]
    count = collections.Counter((p['file'], r) for p, r in zip(points, rank))
    seen, order = collections.Counter(), []
    for p, r in zip(points, rank):
        at = (p['file'], r)
        order.append((r, seen[at] * 7 % count[at] / count[at] if count[at] % 7
                      else seen[at] / count[at]))
        seen[at] += 1
    return [points[i] for i in sorted(range(len(points)), key=lambda i: order[i])]


def try_one(guest, p, steps, how):
    begin = time.time()
    try:
        result, by = try_mutant(guest, int(p['nr']), steps)
    except (Dead, OSError):
        result, by = 'hang', 'before'
    if result == 'survived':
        by = how
    elif how == 'debug':
        by = f'debug, {by}'
    guest.back()    # a mutant that survived has also left its traces
    return {**{k: p[k] for k in ('line', *KEY)}, 'result': result, 'by': by,
            'seconds': round(time.time() - begin, 2)}


def mutants_to_try(out, how, files, results):
    """Each mutant to try, with its steps."""
    points, before = load(out)
    results.update(before)
    skipped = equivalents() if how != 'fast' else set()
    with open(f'{out}/map.json', encoding='utf-8') as f:
        cases = json.load(f)['cases']
    for entry in cases:
        entry['set'] = set(entry['reached'])
    for p in in_turn([p for p in points if not files or p['file'] in files]):
        if key(p) in skipped:
            continue
        steps = steps_for(int(p['nr']), cases)[how == 'slow']
        if wanted(how, results.get(key(p)), steps):
            yield p, [(cost * 5 + 1, e) for cost, e in steps] if how == 'debug' else steps


def work(guest, todo, how, stop, write):
    guest.resume()
    while time.time() < stop:
        with LOCK:
            p, steps = next(todo, (None, None))
        if not p:
            break
        row = try_one(guest, p, steps, how)
        with LOCK:
            write(row)
    guest.stop()


def run(out, how, seconds, files):
    stop = time.time() + seconds
    guests = [Guest(out, 'debug' if how == 'debug' else 'guest', i) for i in range(GUESTS)]
    if not os.path.exists(f'{guests[0].dir}/state.qcow2'):
        guests[0].boot()
        guests[0].stop()
    results, done = {}, 0
    todo = mutants_to_try(out, how, files, results)
    with open(f'{out}/results.csv', 'a', encoding='utf-8') as f:
        w = csv.DictWriter(f, FIELDS)
        if not f.tell():
            w.writeheader()

        def write(row):
            nonlocal done
            results[key(row)] = row
            w.writerow(row)
            f.flush()
            done += 1

        threads = [threading.Thread(target=work, args=(g, todo, how, stop, write), daemon=True)
                   for g in guests]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    print(f'{done} tries')


if __name__ == '__main__':
    atexit.register(lambda: [g.stop() for g in Guest.all])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if sys.argv[2] == 'map':
        make_map(sys.argv[1], sys.argv[3:])
    else:
        run(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:])
