#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""static.py VMLINUX: what the tracepoints of an image cost in bytes.

Lines of case, unit and number:
  hot bytes	of the NOP, where the code runs while nobody traces
  cold bytes	of what is executed only while somebody does: reachable from where the
		guard leads, and not from the entry of any function without that
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
    """An ELF file: bytes by address, and symbols."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        offset, = struct.unpack_from("<Q", self.data, 40)
        size, count = struct.unpack_from("<HH", self.data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size)
                         for i in range(count)]
        self.symbols = {}
        for section in self.sections:
            if section[1] == 2:
                self.read_symbols(section)

    def read_symbols(self, section):
        strings = self.sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, _, _, _, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            end = self.data.index(b"\0", strings + name)
            self.symbols[self.data[strings + name:end].decode()] = (value, size)

    def read(self, address, form):
        for section in self.sections:
            start, length = section[3], section[5]
            if section[1] == 1 and start and start <= address < start + length:
                return struct.unpack_from(form, self.data, section[4] + address - start)
        raise KeyError(hex(address))

    def relative(self, address):
        return address + self.read(address, "<i")[0]

    def table(self, name, size):
        if "__start_" + name not in self.symbols:
            return range(0)
        return range(self.symbols["__start_" + name][0],
                     self.symbols["__stop_" + name][0], size)


class Code:
    """The instructions of the image, and where each leads."""

    def __init__(self, path):
        self.size = {}
        self.next = {}
        self.calls = {}
        self.entries = []
        last = None
        lines = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", path],
                                 stdout=subprocess.PIPE, text=True).stdout
        for line in lines:
            if line.startswith("f") and line.endswith(">:\n"):
                if ".cold" not in line:
                    self.entries.append(int(line[:16], 16))
            elif line.startswith("ffffffff") and "\t" in line:
                address = int(line[:16], 16)
                if last is not None:
                    self.size[last] = address - last
                last = address
                self.add(address, line.split("\t", 1)[1])

    def add(self, address, text):
        words = text.split()
        target = None
        if len(words) > 1 and re.fullmatch("[0-9a-f]{16}", words[1]):
            target = int(words[1], 16)
        falls = True
        if words[0] == "call":
            self.calls[address] = text
            target = None
        elif words[0] in ("jmp", "ret", "int3", "iretq"):
            falls = False
        self.next[address] = (target if words[0].startswith("j") else None, falls)

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


def guards(image):
    """(instruction, target, variable) of all guards, and the size of a record."""
    for name, size in (("__imv", 12), ("__jump_table", 16)):
        for at in image.table(name, size):
            variable = at + 8 + image.read(at + 8, "<i" if size == 12 else "<q")[0]
            yield image.relative(at), image.relative(at + 4), variable & ~3, size


def tracepoint_addresses(image):
    return {address + offset
            for name, (address, size) in image.symbols.items()
            if name.startswith("__tracepoint_") for offset in range(size)}


def static_calls(image):
    keys = {value for name, (value, _) in image.symbols.items()
            if name.startswith("__SCK__tp_func_")}
    first = image.symbols.get("__start_static_call_sites", (0, 0))[0]
    last = image.symbols.get("__stop_static_call_sites", (0, 0))[0]
    return sum(image.relative(at + 4) & ~3 in keys for at in range(first, last, 8))


def objects(image):
    prefixes = ("__tracepoint_", "__tpstrtab_", "__tpcallbacks_", "__traceiter_",
                "__tracestub_",
                "__SCK__tp_func_", "__SCT__tp_func_")
    # By address: what DECLARE_TRACE() declares has two names.
    sizes = {address: size for name, (address, size) in image.symbols.items()
             if name.startswith(prefixes)}
    count = len({address for name, (address, _) in image.symbols.items()
                 if name.startswith("__tracepoint_")})
    return count, sum(sizes.values()) + 4 * count


def stubs(image):
    """Addresses in stubs, where a record is no guard of a site."""
    return {address + offset
            for name, (address, size) in image.symbols.items()
            if name.startswith("__traceiter_") for offset in range(size)}


def main():
    image, code = Image(sys.argv[1]), Code(sys.argv[1])
    points = tracepoint_addresses(image)
    everything = list(guards(image))
    patched_stubs = stubs(image)
    sites = [guard for guard in everything
             if guard[2] in points and guard[0] not in patched_stubs]
    in_stubs = [guard for guard in everything if guard[0] in patched_stubs]
    others = [guard[1] for guard in everything if guard[2] not in points]
    fixups = [image.relative(at + 4)
              for at in image.table("__ex_table", 12)]
    hot = code.reach(code.entries + others + fixups)
    cold = [code.reach([target], hot) for _, target, _, _ in sites]
    calling = [blocks for blocks in cold
               if any(re.search("__SCT__tp_func_|__traceiter_|__tracestub_", code.calls.get(address, ""))
                      for address in blocks)]

    def size_of(blocks):
        return sum(code.size.get(address, 1) for address in blocks)

    count, object_bytes = objects(image)
    hot_bytes = sum(code.size[insn] for insn, _, _, _ in sites)
    cold_bytes = size_of(set().union(*cold))
    records = (sum(size for _, _, _, size in sites + in_stubs) +
               8 * static_calls(image))
    rows = [
        ("tracepoints", "number", count),
        ("sites", "number", len(sites)),
        ("sites that call", "number", len(calling)),
        ("hot bytes of all sites", "bytes", hot_bytes),
        ("hot bytes of a site: 100 times the mean", "bytes", 100 * hot_bytes // len(sites)),
        ("cold bytes of a calling site: median", "bytes",
         int(statistics.median(map(size_of, calling)))),
        ("cold bytes of all sites", "bytes", cold_bytes),
        ("records of sites", "bytes", records),
        ("objects of tracepoints", "bytes", object_bytes),
        ("all of these", "bytes", hot_bytes + cold_bytes + records + object_bytes),
    ]
    for row in rows:
        print("%s,%s,%d" % row)


main()
