#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""compile.py DIR FILE...: measure time and memory to compile each FILE.c of DIR.

The command is the one with which kbuild built DIR/empty.o. The minimum of
several runs counts, as other processes use the machine too. Prints lines of case,
unit and number.
"""

import os
import re
import subprocess
import sys

RUNS = 3


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


def main():
    directory, *files = sys.argv[1:]
    command = command_of(directory)
    for file in files:
        runs = [run(re.sub(r'\bempty\b', file, command), directory) for _ in range(RUNS)]
        call, number = re.fullmatch(r'(\D+)(\d+)', file).groups()
        name = f'compile of {number} {call}()'
        print(f'{name},ms of user time,{min(seconds for seconds, _ in runs) * 1000:.0f}')
        print(f'{name},kB at most,{min(memory for _, memory in runs)}')


main()
