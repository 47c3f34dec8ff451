#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""compile.py DIR KIND...: measure how DIR/KIND1.c, KIND300.c and KIND3000.c are compiled.

The command is the one with which kbuild built DIR/empty.o. The minimum of several runs
counts, as other processes use the machine too. Prints lines of case, unit and number. The
bytes are those of loaded sections that empty.o does not have.
"""

import os
import re
import subprocess
import sys

RUNS = 5
LONG = 10       # seconds: such a run is the only one
NUMBERS = 1, 300, 3000


def command_of(directory):
    with open(f'{directory}/.empty.o.cmd', encoding='utf-8') as file:
        return file.readline().split(':=', 1)[1].strip()


def run(command, directory):
    """Return the user time in seconds, and the maximum of the memory in kB."""
    with subprocess.Popen(command, shell=True, cwd=directory) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f'compile.py: failed: {command}')
    return usage.ru_utime, usage.ru_maxrss


def loaded(file):
    """Return the bytes of text and data."""
    return int(subprocess.check_output(['size', file], text=True).split()[-3])


def main():
    directory, *kinds = sys.argv[1:]
    command = command_of(directory)
    none = loaded(f'{directory}/empty.o')
    runs = {(kind, number): [] for kind in kinds for number in NUMBERS}
    for _ in range(RUNS):       # in turn, as other work slows some of the time
        for (kind, number), done in runs.items():
            if not done or done[0][0] < LONG:
                done.append(run(re.sub(r'\bempty\b', f'{kind}{number}', command), directory))
    for (kind, number), done in runs.items():
        name = f'compile of {number} {kind}()'
        print(f'{name},ms of user time,{min(seconds for seconds, _ in done) * 1000:.0f}')
        print(f'{name},kB at most,{min(memory for _, memory in done)}')
        print(f'{name},bytes,{loaded(f"{directory}/{kind}{number}.o") - none}')


main()
