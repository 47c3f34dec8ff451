#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""compile.py BUILD DIR FILE...: what it takes to compile each FILE.c of DIR.

The commands are those with which kbuild made DIR/empty.o in BUILD. Of several runs
the least counts: others use the machine as well. Prints a case, a unit and a number
in a line.
"""

import os
import re
import subprocess
import sys

RUNS = 3


def command_of(directory):
    with open(f'{directory}/.empty.o.cmd', encoding='utf-8') as file:
        return file.readline().split(':=', 1)[1].strip()


def run(command, build):
    """Return: seconds of the processor in user space, and the most memory, in kB."""
    with subprocess.Popen(command, shell=True, cwd=build) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f'compile.py: failed: {command}')
    return usage.ru_utime, usage.ru_maxrss


def main():
    build, directory, *files = sys.argv[1:]
    command = command_of(directory)
    for file in files:
        runs = [run(re.sub(r'\bempty\b', file, command), build) for _ in range(RUNS)]
        call, number = re.fullmatch(r'(\D+)(\d+)', file).groups()
        name = f'compile of {number} {call}()'
        print(f'{name},ms of user time,{min(seconds for seconds, _ in runs) * 1000:.0f}')
        print(f'{name},kB at most,{min(memory for _, memory in runs)}')


main()
