#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""static.py VMLINUX: print the cost of the tracepoints of an image, in bytes.

Lines of case, unit and number:
  hot bytes	of the NOP, in code that runs while nothing is traced
  cold bytes	of code that runs only while something is traced: reachable from the
		target of the guard, but not from the entry of a function without it
  records	of guards (jump labels, or immediate values), of static calls, and of
		stubs that are patched
  objects	of each tracepoint: the structure, name, stub, static call, list entry
Unwind information and the tables of exported symbols are not counted.
"""
import re
import statistics
import struct
import subprocess
import sys


class Image:
    """A little-endian ELF file: bytes by address, and symbols."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.word = 8 if self.data[4] == 2 else 4
        self.sections, self.symbols = {}, {}
        said = subprocess.run(["readelf", "-WSs", path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        for name, kind, *numbers, flags in re.findall(
                r"^ *\[ *\d+\] (\S+) +(\S+) +(\w+) (\w+) (\w+) \w+ +([A-Zop]*) ", said, re.M):
            self.sections[name] = (kind, *(int(n, 16) for n in numbers), flags)
        for value, size, name in re.findall(
                r"^ *\d+: (\w+) +(\w+) \S+ +\S+ +\S+ +\S+ (\S+)$", said, re.M):
            self.symbols[name] = int(value, 16), int(size, 0)

    def read(self, address, form):
        for kind, start, offset, length, _ in self.sections.values():
            if kind == "PROGBITS" and start and start <= address < start + length:
                return struct.unpack_from(form, self.data, offset + address - start)
        raise KeyError(hex(address))

    def relative(self, address):
        return address + self.read(address, "<i")[0]

    def table(self, name, size):
        """The addresses of a table's entries; in an object the table is a section."""
        if "__start_" + name in self.symbols:
            return range(self.symbols["__start_" + name][0],
                         self.symbols["__stop_" + name][0], size)
        if name not in self.sections:
            return range(0)
        _, start, _, length, _ = self.sections[name]
        return range(start, start + length, size)


class X86:
    """Patterns for the instructions of an architecture."""
    call = re.compile("call")
    jump = re.compile("j")
    end = re.compile("(jmp|ret|int3|iretq)$")
    load = re.compile(r"(?!lea|nop|j|call).*(\(|%[fg]s:|[\s,]0x)")


class Arm64:
    call = re.compile("blr?$")
    jump = re.compile(r"(b|b\..*|cbn?z|tbn?z)$")
    end = re.compile("(b|br|ret|eret|udf)$")
    load = re.compile("ld")


class Riscv:
    call = re.compile("jalr?$")
    jump = re.compile("(b(eq|ne|lt|ge|gt|le)u?z?|j|jr)$")
    end = re.compile("(j|jr|ret|mret|sret|unimp)$")
    load = re.compile(r"(l[bhwd]u?|lr\..*)\s")


ARCHITECTURES = {3: X86, 62: X86, 183: Arm64, 243: Riscv}


class Code:
    """The instructions of the image, and the successors of each."""

    def __init__(self, image, path, objdump="objdump"):
        self.form = ARCHITECTURES[struct.unpack_from("<H", image.data, 18)[0]]
        self.size = {}
        self.next = {}
        self.calls = {}
        self.loads = set()
        self.entries = []
        last = None
        lines = subprocess.Popen([objdump, "-d", "--no-show-raw-insn", path],
                                 stdout=subprocess.PIPE, text=True).stdout
        for line in lines:
            label = re.match("([0-9a-f]+) <.*>:$", line)
            insn = re.match(" *([0-9a-f]+):\t(.*)", line)
            if label and ".cold" not in line:
                self.entries.append(int(label[1], 16))
            elif insn:
                address = int(insn[1], 16)
                if last is not None:
                    self.size[last] = address - last
                last = address
                self.add(address, insn[2])

    def add(self, address, text):
        name = text.split()[0]
        target = re.search(r"\b([0-9a-f]+) <", text)
        if self.form.call.match(name):
            self.calls[address] = text
            target = None
        elif not self.form.jump.match(name):
            target = None
        if self.form.load.match(text):
            self.loads.add(address)
        self.next[address] = (int(target[1], 16) if target else None,
                              not self.form.end.match(name))

    def successors(self, address):
        target, falls = self.next[address]
        if falls:
            yield address + self.size.get(address, 1)
        if target:
            yield target

    def reach(self, roots, barred=()):
        seen = set()
        stack = [root for root in roots if root in self.next]
        while stack:
            address = stack.pop()
            if address in seen or address in barred or address not in self.next:
                continue
            seen.add(address)
            stack.extend(self.successors(address))
        return seen

    def bytes(self, blocks):
        return sum(self.size.get(address, 1) for address in blocks)


def guards(image):
    """(instruction, target, variable, size of the record) of all guards."""
    word = "<q" if image.word == 8 else "<i"
    for name, form in (("__imv", "<i"), ("__imv_jump", "<i"), ("__jump_table", word)):
        size = 8 + struct.calcsize(form)
        for at in image.table(name, size):
            variable = at + 8 + image.read(at + 8, form)[0]
            yield image.relative(at), image.relative(at + 4), variable & ~3, size


def tracepoints(image):
    return [name.replace("__tpstrtab_", "", 1) for name in image.symbols
            if name.startswith("__tpstrtab_")]


def addresses(image, *prefixes):
    """All addresses in symbols with these prefixes."""
    return {address + offset for name, (address, size) in image.symbols.items()
            if name.startswith(prefixes) for offset in range(size)}


def static_calls(image):
    keys = {value for name, (value, _) in image.symbols.items()
            if name.startswith("__SCK__tp_func_")}
    first = image.symbols.get("__start_static_call_sites", (0, 0))[0]
    last = image.symbols.get("__stop_static_call_sites", (0, 0))[0]
    return sum(image.relative(at + 4) & ~3 in keys for at in range(first, last, 8))


def object_bytes(image, names):
    """A stub that has two names counts once."""
    prefixes = ("__tracepoint_", "__tpstrtab_", "__tracepoint_ext_", "__traceiter_",
                "__tracestub_", "__tracewalk_", "__SCK__tp_func_", "__SCT__tp_func_")
    symbols = {image.symbols[prefix + name] for prefix in prefixes for name in names
               if prefix + name in image.symbols}
    return (sum(size for _, size in symbols) +
            len(image.table("__tracepoints_ptrs", 1)))


class Sites:
    """The guards of tracepoints, and the code that is reached only through them."""

    def __init__(self, image, code):
        self.names = tracepoints(image)
        points = addresses(image, "__tracepoint_")
        stubs = addresses(image, "__traceiter_", "__tracestub_", "__tracewalk_")
        everything = list(guards(image))
        mine = [guard for guard in everything if guard[2] in points]
        self.guards = [guard for guard in mine if guard[0] not in stubs]
        self.in_stubs = [guard for guard in mine if guard[0] in stubs]
        others = [guard[1] for guard in everything if guard[2] not in points]
        fixups = [image.relative(at + 4) for at in image.table("__ex_table", 12)]
        hot = code.reach(code.entries + others + fixups)
        calls = {address for address, text in code.calls.items() if address not in stubs
                 and re.search("__SCT__tp_func_|__traceiter_|__tracestub_", text)}
        self.unguarded = calls & hot
        # If an iterator is inlined into its site, this calls probes indirectly.
        calls.update(address for address, text in code.calls.items() if "<" not in text)
        self.cold = [code.reach([target], hot) for _, target, _, _ in self.guards]
        self.calling = [code.bytes(blocks) for blocks in self.cold if blocks & calls]
        self.hot_bytes = sum(code.size[insn] for insn, _, _, _ in self.guards)
        self.records = (sum(size for _, _, _, size in self.guards + self.in_stubs) +
                        8 * static_calls(image))


def main():
    image = Image(sys.argv[1])
    code = Code(image, sys.argv[1])
    sites = Sites(image, code)
    number, hot_bytes = len(sites.guards), sites.hot_bytes
    cold_bytes = code.bytes(set().union(*sites.cold))
    objects = object_bytes(image, sites.names)
    rows = [
        ("tracepoints", "number", len(sites.names)),
        ("sites", "number", number),
        ("sites that call", "number", len(sites.calling)),
        ("hot bytes of all sites", "bytes", hot_bytes),
        ("hot bytes of a site: 100 times the mean", "bytes", 100 * hot_bytes // number),
        ("cold bytes of a calling site: median", "bytes", int(statistics.median(sites.calling))),
        ("cold bytes of all sites", "bytes", cold_bytes),
        ("records of sites", "bytes", sites.records),
        ("objects of tracepoints", "bytes", objects),
        ("all of these", "bytes", hot_bytes + cold_bytes + sites.records + objects),
    ]
    for row in rows:
        print("%s,%s,%d" % row)


if __name__ == "__main__":
    main()
