#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""sources.py DIR: write values_kernel.c and probes_kernel.c, which are compiled like a module
of the kernel: functions that read immediate values, with the instruction at each offset
in a cache line and across pages; tracepoints of one to twelve arguments."""
import sys

# Name, type, and the bytes of the instruction, which may be split.
VALUES = [("byte", "u8", 5), ("half", "u16", 5), ("word", "u32", 5), ("quad", "u64", 10),
          ("near", "bool", 2), ("far", "bool", 5)]
ARGUMENTS = 12
LINE, PAGE = 64, 4096


def place(align, skip):
    return f'asm volatile("jmp 1f\\n.balign {align}, 0xcc\\n.skip {skip}, 0xcc\\n1:");'


def reader(name, number, body):
    return f"static noinline notrace ulong {name}_{number}(void) {{ {body} }}\n"


def body(name, align, skip):
    if name == "near":
        return place(align, skip) + f" immediate_if(real_{name}) return 1; return 0;"
    if name == "far":
        return place(align, skip) + (f" immediate_if(real_{name}) {{ "
                                     'asm volatile(".skip 200, 0x90"); return 1; } return 0;')
    return place(align, skip) + f" return imv_read(real_{name});"


def values(file):
    file.write("#include <linux/immediate.h>\n#include <linux/immediate-backend.h>\n#include <linux/kernel.h>\n")
    for name, kind, _ in VALUES:
        file.write(f"DEFINE_IMV({kind}, real_{name});\n")
    table = []
    for value, (name, _, size) in enumerate(VALUES):
        places = [(LINE, skip) for skip in range(LINE)]
        places += [(PAGE, PAGE - split) for split in range(1, size)]
        for number, (align, skip) in enumerate(places):
            file.write(reader(name, number, body(name, align, skip)))
            table.append(f"{{ {name}_{number}, {value} }}")
    file.write("const struct { ulong (*read)(void); int value; } real_readers[] = {\n\t" +
               ",\n\t".join(table) + "\n};\n")
    file.write("const int real_nr_readers = ARRAY_SIZE(real_readers);\n")
    file.write("void real_set(int value, ulong number)\n{\n\tswitch (value) {\n")
    for value, (name, _, _) in enumerate(VALUES):
        file.write(f"\tcase {value}: imv_set(real_{name}, number); break;\n")
    file.write("\t}\n}\n")
    file.write("extern struct imv_site __start___imv[], __stop___imv[];\n"
               "void *real_site(int value, int nr)\n{\n\tstatic const void *const values[] = {\n")
    file.writelines(f"\t\t&real_{name}__imv,\n" for name, _, _ in VALUES)
    file.write("\t};\n\n"
               "\tfor (struct imv_site *site = __start___imv; site < __stop___imv; site++)\n"
               "\t\tif (imv_site_var(site) == values[value] && !nr--)\n"
               "\t\t\treturn imv_site_insn(site);\n"
               "\treturn NULL;\n}\n")
    file.write("void real_begin(void) { imv_batch_begin(); }\n"
               "void real_commit(void) { imv_batch_commit(); }\n")


def probes(file):
    file.write('#include <linux/tracepoint.h>\n#include "probes_kernel.h"\n')
    for nr in range(1, ARGUMENTS + 1):
        names = [f"a{i}" for i in range(nr)]
        proto = ", ".join(f"ulong {name}" for name in names)
        right = " && ".join(f"a{i} == a0 + {i}" for i in range(nr)) if nr > 1 else "true"
        file.write(f"DECLARE_TRACE(real{nr}, TP_PROTO({proto}), TP_ARGS({', '.join(names)}));\n"
                   f"DEFINE_TRACE(real{nr});\n"
                   f"static notrace void probe{nr}(void *data, {proto})\n"
                   f"{{ real_note(data, {right}); }}\n"
                   f"static noinline notrace void hit{nr}(ulong n)\n"
                   f"{{ trace_real{nr}_tp({', '.join(f'n + {i}' for i in range(nr))}); }}\n")
    file.write("const struct real_tracepoint real_tracepoints[] = {\n")
    for nr in range(1, ARGUMENTS + 1):
        file.write(f"\t{{ &__tracepoint_real{nr}_tp, probe{nr}, hit{nr} }},\n")
    file.write("};\n")


def main():
    for write in values, probes:
        with open(f"{sys.argv[1]}/{write.__name__}_kernel.c", "w") as file:
            file.write("// SPDX-License-Identifier: GPL-2.0\n")
            write(file)


main()
