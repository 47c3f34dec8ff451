#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""objects.py ARCH CROSS LINKED OBJECT...: print the cost of tracepoints in some objects
of a kernel, without building an image. The lines are like those of static.py.

Links the objects into the file LINKED, with the tools whose names begin with CROSS.
Undefined symbols become zeroes. One of the objects is alone.o.
"""
import statistics
import subprocess
import sys

from static import Code, Image, Sites, guards, object_bytes


def run(*words):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE).stdout


# Options of the assembler and of the linker.
OPTIONS = {
    "arm64": ([], []),
    "i386": (["--32"], ["-m", "elf_i386"]),
    "riscv64": (["-march=rv64imac", "-mabi=lp64"], []),
}


def link(arch, cross, path, objects):
    """Without relaxation, which would shorten calls because there are few objects."""
    partial, missing = path + ".o", path + ".missing.s"
    assembler, linker = OPTIONS[arch]
    ld = [cross + "ld", *linker]
    run(*ld, "-r", "-o", partial, *objects)
    with open(missing, "w") as file:
        file.write('.section .note.GNU-stack\n.section .missing, "a"\n.balign 128\n')
        for line in run(cross + "nm", "-u", partial).splitlines():
            name = line.split()[-1]
            file.write(f".globl {name}\n.size {name}, 128\n{name}: .skip 128\n")
    run(cross + "as", *assembler, "-o", missing + ".o", missing)
    run(*ld, "--no-relax", "-X", "-e", "0", "-o", path, partial, missing + ".o")


def off_path(code, function):
    """The instructions from entry to end, if no conditional jump is taken."""
    address, size = function
    path = []
    while function[0] <= address < function[0] + size:
        path.append(address)
        target, falls = code.next[address]
        address = address + code.size[address] if falls else target or 0
    return path


def function_cost(image, code, name):
    """Instructions and loads of the path, bytes of the path and of the other code."""
    start, size = image.symbols[name]
    path = off_path(code, (start, size))
    away = [target for insn, target, _, _ in guards(image) if start <= insn < start + size]
    everything = code.reach([start] + away)
    return (len(path), len(code.loads.intersection(path)), code.bytes(path),
            code.bytes(everything.difference(path)))


def site_cost(image, code, nr):
    return [there - base for there, base in
            zip(function_cost(image, code, "with_%d" % nr),
                function_cost(image, code, "without_%d" % nr))]


def text_bytes(image):
    return sum(section[3] for section in image.sections.values() if "X" in section[4])


def main():
    arch, cross, path = sys.argv[1:4]
    link(arch, cross, path, sys.argv[4:])
    image = Image(path)
    code = Code(image, path, cross + "objdump")
    sites = Sites(image, code)
    # The number of arguments changes the use of registers, also before the guard. A function
    # with a site may load an argument behind it that the one without loads always.
    instructions, loads, hot, cold = min(site_cost(image, code, nr) for nr in (1, 2, 4))
    loads = max(loads, 0)
    objects = object_bytes(image, sites.names) // len(sites.names)
    record = sites.records // max(1, len(sites.guards))
    calling = int(statistics.median(sites.calling or [cold]))
    rows = [
        ("tracepoints", "number", len(sites.names)),
        ("sites with a patched guard", "number", len(sites.guards)),
        ("calls without a patched guard", "number", len(sites.unguarded)),
        ("site that is off", "instructions", instructions),
        ("site that is off", "loads", loads),
        ("hot bytes of a site", "bytes", hot),
        ("cold bytes of a site alone", "bytes", cold),
        ("cold bytes of a calling site: median", "bytes",
         calling),
        ("record of a site", "bytes", record),
        ("object of a tracepoint: mean", "bytes", objects),
        ("tracepoint with one site", "bytes", hot + calling + record + objects),
        ("tracepoint with three sites", "bytes", 3 * (hot + calling + record) + objects),
        ("text of the objects", "bytes", text_bytes(image)),
    ]
    for case, unit, number in rows:
        print("%s: %s,%s,%d" % (arch, case, unit, number))


main()
