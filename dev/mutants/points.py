# SPDX-License-Identifier: GPL-2.0
"""Points at which C code of the kernel can be changed once.

mutate(name, text, first) returns the text with all mutants in it, each selected by
its number, the list of them, and the code that was not tried. It parses the part
of C, and of its style, that the kernel's files use: binary operators have blanks
around them, and a name before a block is a macro that loops. Code that it cannot
parse is not changed.
"""
import re

TOKEN = re.compile(r'''
    (?P<space>(?:[ \t\n]|\\\n|/\*.*?\*/|//[^\n]*)+)
  | (?P<pp>(?<![^\n])\#(?:[^\n\\]|\\\n|\\.)*)
  | (?P<str>L?"(?:[^"\\]|\\.)*")
  | (?P<chr>'(?:[^'\\]|\\.)+')
  | (?P<num>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*)
  | (?P<id>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
''', re.X | re.S)

TYPES = set('''void char short int long unsigned signed bool struct union enum const
volatile u8 u16 u32 u64 s8 s16 s32 s64 size_t ssize_t loff_t gfp_t pid_t umode_t
uintptr_t va_list __user typeof __typeof__ __be32 __le32'''.split())
STATEMENTS = set('''if while for do switch return goto break continue case default
else'''.split())
# The arguments of these are types, constants, messages or assertions.
RAW = re.compile(r'''^(sizeof|typeof|__typeof__|offsetof|container_of|BUILD_BUG_ON\w*|
    static_assert|__stringify|IS_ENABLED|ARRAY_SIZE|va_\w+|pr_\w+|printk\w*|\w*_entry|
    rcu_dereference_protected|lockdep_\w+|might_sleep\w*|DEFINE_\w+|DECLARE_\w+|
    __alignof__|IS_REACHABLE|\w+_task_syscall_work|KREF_INIT|SYMBOL_NAME|alignof)$''', re.X)
# Statements without effect in a correct kernel.
IDLE = re.compile(r'^(pr_\w+|printk\w*|WARN\w*|BUG\w*|BUILD_BUG\w*|lockdep_\w+|might_\w+|va_\w+|static_assert|LIST_HEAD|DEFINE_\w+|DECLARE_\w+)$')
SYNC = re.compile(r'lock|sync|free|put|rcu|barrier|release|wait|resched|preempt|fence')
NO_CONSTANT = re.compile(r'^(X86_FEATURE_\w+|NULL|THIS_MODULE|KERN_\w+|GFP_\w+|__\w+|EXPORT\w*|MODULE\w*|_RET_IP_|_THIS_IP_|[A-Z])$')
BINARY = {'||': 4, '&&': 5, '|': 6, '^': 7, '&': 8, '==': 9, '!=': 9, '<': 10,
          '>': 10, '<=': 10, '>=': 10, '<<': 11, '>>': 11, '+': 12, '-': 12,
          '*': 13, '/': 13, '%': 13}
OTHER = {'||': '&&', '&&': '||', '|': '&', '^': '|', '&': '|', '==': '!=', '!=': '==',
         '<': '<=', '>': '>=', '<=': '<', '>=': '>', '<<': '>>', '>>': '<<',
         '+': '-', '-': '+', '*': '+', '/': '*', '%': '/'}
ASSIGN = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}


class NotUnderstood(Exception):
    pass


class Token:
    __slots__ = ('kind', 'text', 'start', 'end', 'match')

    def __init__(self, kind, text, start, end):
        self.kind, self.text, self.start, self.end = kind, text, start, end
        self.match = None


def tokens_of(text):
    """The tokens without blanks and comments; match is the index of the other bracket."""
    found, opened = [], []
    for m in TOKEN.finditer(text):
        if m.lastgroup == 'space':
            continue
        t = Token(m.lastgroup, m.group(), m.start(), m.end())
        if t.kind == 'op' and t.text in '([{':
            opened.append(len(found))
        elif t.kind == 'op' and t.text in ')]}':
            t.match = opened.pop()
            found[t.match].match = len(found)
        found.append(t)
    return found


class Node:
    """A piece of the text, with its own mutants and those of its parts."""
    def __init__(self, kind, first, last, parts=(), **more):
        self.kind, self.first, self.last = kind, first, last
        self.parts = [p for p in parts if p]
        self.wraps = []         # functions that change the new text, inner ones first
        self.__dict__.update(more)


class File:
    def __init__(self, name, text, first, skip=frozenset(), only=None):
        self.name, self.text, self.next = name, text, first
        self.skip = skip        # (function, class, old text) of those that do not compile
        self.only = only        # names of functions to mutate; None: all
        self.toks = tokens_of(text)
        self.points, self.function, self.not_tried = [], None, []

    # ---- points

    def line(self, token):
        return self.text.count('\n', 0, self.toks[token].start) + 1

    def source(self, first, last):
        return self.text[self.toks[first].start:self.toks[last].end]

    def point(self, what, first, old, new, numbers=1):
        """A number for a mutant, or None if it is one that does not compile."""
        line = self.line(first)
        old, new = (re.sub(r'\s+', ' ', s) for s in (old, new))
        if (self.function, what, old) in self.skip:
            self.not_tried.append((line, what, old))
            return None
        nr = self.next
        self.next += numbers
        if numbers == 1:
            self.points.append((nr, line, self.function, what, old, new))
        else:
            self.points.append((nr, line, self.function, what, old, 'true'))
            self.points.append((nr + 1, line, self.function, what, old, 'false'))
        return nr

    def choice(self, node, what, new, old=None):
        """A mutant that replaces the whole node."""
        old = old or self.source(node.first, node.last)
        new = re.sub(r'\s*\n\s*', ' ', new)     # the number of lines stays the same
        nr = self.point(what, node.first, old, new)
        if nr is not None:
            node.wraps.append(lambda s: f'(mutant({nr}) ? ({new}) : ({s}))')

    def condition(self, node, what='condition'):
        if node is None or node.kind == 'num':
            return
        node.plain = True       # changing its operator would only negate it
        nr = self.point(what, node.first, self.source(node.first, node.last), '', 2)
        if nr is not None:
            node.wraps.append(lambda s: f'mutant_condition({nr}, !!({s}))')

    # ---- expressions

    def tok(self, i):
        return self.toks[i].text

    def is_type(self, i, end):
        """True if the brackets at i contain a type."""
        last = self.toks[i].match
        if last is None or last >= end or last == i + 1:
            return False
        inner = [self.toks[j] for j in range(i + 1, last)]
        if not (inner[0].text in TYPES or inner[0].text.endswith('_t') or
                (inner[-1].text == '*' and inner[0].kind == 'id')):
            return False
        return all(t.kind == 'id' or t.text == '*' for t in inner)

    def expression(self, i, end, least=1):
        """Parse from token i, before token end: the node and the next token."""
        node, i = self.unary(i, end)
        while i < end:
            op = self.tok(i)
            if op in BINARY and BINARY[op] >= max(least, 4):
                right, after = self.expression(i + 1, end, BINARY[op] + 1)
                node = Node('binary', node.first, right.last, [node, right], op=op, at=i)
                i = after
            elif op == '?' and least <= 3:
                middle = None
                if self.tok(i + 1) == ':':
                    after = i + 1
                else:
                    middle, after = self.expression(i + 1, end, 1)
                if after >= end or self.tok(after) != ':':
                    raise NotUnderstood
                right, i = self.expression(after + 1, end, 3)
                node = Node('ternary', node.first, right.last, [node, middle, right],
                            middle=middle, cond=node)
            elif op in ASSIGN and least <= 2:
                right, after = self.expression(i + 1, end, 2)
                node = Node('assign', node.first, right.last, [node, right], op=op,
                            at=i, left=node, right=right)
                i = after
            elif op == ',' and least <= 1:
                right, after = self.expression(i + 1, end, 2)
                node = Node('comma', node.first, right.last, [node, right])
                i = after
            else:
                break
        return node, i

    def unary(self, i, end):
        if i >= end:
            raise NotUnderstood
        op = self.tok(i)
        if op in ('!', '~', '-', '+', '*', '&', '++', '--'):
            inner, after = self.unary(i + 1, end)
            return Node('unary', i, inner.last, [inner], op=op, inner=inner), after
        if op == '&&':                                  # address of a label
            raise NotUnderstood
        if op == 'sizeof':
            last = self.toks[i + 1].match
            if last is None:
                inner, after = self.unary(i + 1, end)
                return Node('raw', i, inner.last), after
            return Node('raw', i, last), last + 1
        if op == '(' and self.is_type(i, end):
            last = self.toks[i].match
            if self.tok(last + 1) == '{':               # compound literal
                return self.postfix(Node('raw', i, self.toks[last + 1].match), end)
            inner, after = self.unary(last + 1, end)
            return Node('cast', i, inner.last, [inner]), after
        return self.postfix(self.primary(i, end), end)

    def primary(self, i, end):
        t = self.toks[i]
        if t.text == '(':
            if self.tok(i + 1) == '{':
                return Node('raw', i, t.match)
            inner, after = self.expression(i + 1, t.match)
            if after != t.match:
                raise NotUnderstood
            return Node('paren', i, t.match, [inner], inner=inner)
        if t.kind in ('num', 'chr'):
            return Node('num', i, i)
        if t.kind == 'str':
            last = i
            while last + 1 < end and (self.toks[last + 1].kind == 'str' or
                                      self.tok(last + 1).startswith('PRI')):
                last += 1
            return Node('str', i, last)
        if t.kind == 'id' and t.text not in STATEMENTS and t.text not in TYPES:
            return Node('name', i, i)
        raise NotUnderstood

    def postfix(self, node, end):
        i = node.last + 1
        while i < end:
            op = self.tok(i)
            if op == '(':
                last = self.toks[i].match
                parts = [node] + self.arguments(node, i + 1, last)
                node = Node('call', node.first, last, parts, callee=node)
            elif op == '[':
                last = self.toks[i].match
                inner, after = self.expression(i + 1, last)
                if after != last:
                    raise NotUnderstood
                node = Node('index', node.first, last, [node, inner])
            elif op in ('.', '->'):
                node = Node('member', node.first, i + 1, [node])
            elif op in ('++', '--'):
                node = Node('postfix', node.first, i, [node], op=op, inner=node)
            else:
                break
            i = node.last + 1
        return node, i

    def arguments(self, callee, i, last):
        """The arguments that are expressions."""
        if callee.kind == 'name' and RAW.match(self.tok(callee.first)):
            return []
        found = []
        while i < last:
            stop = self.comma(i, last)
            try:
                node, after = self.expression(i, stop, 2)
                if after == stop:
                    found.append(node)
            except NotUnderstood:
                pass
            i = stop + 1
        return found

    def comma(self, i, last):
        while i < last and self.tok(i) not in (',', ';'):
            i = (self.toks[i].match or i) + 1 if self.tok(i) in '([{' else i + 1
        return min(i, last)

    # ---- the mutants of a node

    def choose(self, node):
        """Create the mutants of a parsed expression."""
        kind = node.kind
        if kind == 'raw':
            return
        if kind == 'ternary':
            if node.middle:
                self.condition(node.cond)
            else:
                self.choice(node, 'condition', self.source(node.parts[-1].first, node.last))
        elif kind == 'binary':
            self.choose_binary(node)
        elif kind == 'assign' and node.op != '=':
            op = OTHER[node.op[:-1]] + '='
            left = self.source(node.left.first, node.left.last)
            right = self.source(node.right.first, node.right.last)
            self.choice(node, 'assignment', f'{left} {op} {right}')
        elif kind == 'unary':
            self.choose_unary(node)
            node.inner.plain = node.op == '!'
        elif kind == 'postfix':
            inner = self.source(node.inner.first, node.inner.last)
            self.choice(node, 'step', inner + ('--' if node.op == '++' else '++'))
        elif kind == 'num':
            self.choose_number(node)
        elif kind == 'name':
            self.choose_name(node)
        for part in node.parts:
            self.choose(part)

    def choose_binary(self, node):
        if getattr(node, 'plain', False) and node.op in ('==', '!='):
            return
        left = self.source(node.parts[0].first, node.parts[0].last)
        right = self.source(node.parts[1].first, node.parts[1].last)
        self.choice(node, 'operator', f'{left} {OTHER[node.op]} {right}')

    def choose_unary(self, node):
        inner = self.source(node.inner.first, node.inner.last)
        if node.op == '!' and not getattr(node, 'plain', False):
            self.choice(node, 'not', f'!!({inner})')
        elif node.op == '-' and re.fullmatch(r'E[A-Z0-9]+', inner):
            self.choice(node, 'error', '0')
        elif node.op in ('-', '~'):
            self.choice(node, 'sign', inner)
        elif node.op in ('++', '--'):
            self.choice(node, 'step', ('--' if node.op == '++' else '++') + inner)

    def choose_number(self, node):
        self.choice(node, 'constant', self.source(node.first, node.last) + ' + 1')

    def choose_name(self, node):
        name = self.tok(node.first)
        if name in ('true', 'false'):
            self.choice(node, 'constant', 'false' if name == 'true' else 'true')
        elif re.fullmatch(r'[A-Z][A-Z0-9_]+', name) and not NO_CONSTANT.match(name) \
                and not re.fullmatch(r'E[A-Z0-9]+', name) \
                and self.tok(node.first + 1) not in ('(', '='):
            self.choice(node, 'constant', name + ' + 1')

    # ---- statements. Each returns a list of nodes and the next token.

    def full(self, i, end, least=1):
        node, after = self.expression(i, end, least)
        if after != end:
            raise NotUnderstood
        return node

    def try_full(self, i, end, least=1):
        try:
            return self.full(i, end, least) if i < end else None
        except NotUnderstood:
            self.not_tried.append((self.line(i), 'text', self.source(i, end - 1)))
            return None

    def semicolon(self, i, end):
        while i < end and self.tok(i) != ';':
            i = (self.toks[i].match or i) + 1 if self.tok(i) in '([{' else i + 1
        return i

    def block(self, i, end):
        nodes = []
        while i < end:
            some, i = self.statement(i, end)
            nodes += some
        return nodes

    def statement(self, i, end):
        t = self.toks[i]
        word = t.text
        if t.kind == 'pp' or word == ';':
            return [], i + 1
        if word == '{':
            return self.block(i + 1, t.match), t.match + 1
        if word in ('if', 'while', 'switch', 'for'):
            return self.head(i, end)
        if word == 'else':
            return self.statement(i + 1, end)
        if word == 'do':
            nodes, i = self.statement(i + 1, end)
            last = self.toks[i + 1].match
            return nodes + self.controlled(i + 2, last), last + 2
        if word in ('case', 'default'):
            while self.tok(i) != ':':
                i += 1
            return [], i + 1
        if t.kind == 'id' and self.tok(i + 1) == ':' and self.tok(i + 2) != ':':
            return [], i + 2
        stop = self.semicolon(i, end)
        if word == 'return':
            return self.returned(i + 1, stop), stop + 1
        if word in ('goto', 'break', 'continue'):
            node = Node('raw', i, stop)
            self.removed(node, 'jump')
            return [node], stop + 1
        if word in ('static', 'extern', 'asm', 'asm_volatile_goto', '__label__'):
            self.left_out(i, stop)
            return [], stop + 1
        if self.is_declaration(i):
            return self.declared(i, stop), stop + 1
        if t.kind == 'id' and self.tok(i + 1) == '(':
            last = self.toks[i + 1].match
            if self.tok(last + 1) != ';' and (self.toks[last + 1].kind == 'id' or
                                              self.tok(last + 1) == '{'):
                return self.statement(last + 1, end)
        return self.simple(i, stop), stop + 1

    def left_out(self, i, stop):
        for j in range(i, stop):
            if self.toks[j].kind == 'num':
                self.not_tried.append((self.line(j), 'static', self.tok(j)))

    def controlled(self, i, stop):
        node = self.try_full(i, stop)
        if node is None:
            return []
        self.condition(node)
        self.choose(node)
        return [node]

    def head(self, i, end):
        word, last = self.tok(i), self.toks[i + 1].match
        if word == 'switch':
            node = self.try_full(i + 2, last)
            nodes = [node] if node else []
            if node:
                self.choose(node)
        elif word == 'for':
            first = self.semicolon(i + 2, last)
            second = self.semicolon(first + 1, last)
            nodes = self.clause(i + 2, first) + self.controlled(first + 1, second) + \
                self.clause(second + 1, last)
        else:
            nodes = self.controlled(i + 2, last)
        more, i = self.statement(last + 1, end)
        return nodes + more, i

    def clause(self, i, stop):
        if i < stop and self.is_declaration(i):
            return self.declared(i, stop)
        node = self.try_full(i, stop)
        if node:
            self.choose(node)
        return [node] if node else []

    def returned(self, i, stop):
        node = self.try_full(i, stop)
        if node is None:
            return []
        old = self.source(i, stop - 1)
        if node.kind == 'binary' and node.op in ('==', '!=', '<', '>', '<=', '>=', '&&', '||') \
                or node.kind == 'unary' and node.op == '!':
            self.condition(node, 'return')
        elif node.kind not in ('num', 'str') and \
                old not in ('true', 'false', 'NULL') and not re.fullmatch(r'-E[A-Z0-9]+', old):
            nr = self.point('return', i, old, '0')
            if nr is not None:
                node.wraps.append(lambda s: f'mutant_zero({nr}, ({s}))')
        self.choose(node)
        return [node]

    def is_declaration(self, i):
        t = self.toks[i]
        if t.kind != 'id':
            return False
        if t.text in TYPES:
            return self.tok(i + 1) != '('
        if self.toks[i + 1].kind == 'id':
            return True
        j = i + 1
        while self.tok(j) == '*':
            j += 1
        return j > i + 1 and self.toks[j].kind == 'id' and \
            self.tok(j + 1) in ('=', ';', ',', '[') and \
            self.text[self.toks[j].start - 1] == '*'

    def declared(self, i, stop):
        nodes = []
        while i < stop:
            if self.tok(i) == '[':
                i = self.toks[i].match + 1
                continue
            if self.tok(i) != '=':
                i = (self.toks[i].match or i) + 1 if self.tok(i) == '(' else i + 1
                continue
            last = self.comma(i + 1, stop)
            nodes += self.initial(i + 1, last)
            i = last
        return nodes

    def initial(self, i, last):
        if self.tok(i) != '{':
            node = self.try_full(i, last, 2)
            if node:
                self.choose(node)
            return [node] if node else []
        nodes, end, i = [], self.toks[i].match, i + 1
        while i < end:
            stop = self.comma(i, end)
            if self.tok(i) in ('.', '['):
                while self.tok(i) != '=':
                    i += 1
                i += 1
            if i < stop:
                nodes += self.initial(i, stop)
            i = stop + 1
        return nodes

    def removed(self, node, what):
        old = self.source(node.first, node.last).rstrip(';')
        nr = self.point(what, node.first, old, 'nothing')
        if nr is not None:
            node.wraps.append(lambda s: f'{{ if (!mutant({nr})) {s} }}')

    def simple(self, i, stop):
        node = self.try_full(i, stop)
        if node is None:
            return []
        self.choose(node)
        whole = Node('raw', i, stop, [node])
        if node.kind == 'call':
            name = self.tok(node.callee.last)
            if not IDLE.match(name):
                self.removed(whole, 'sync' if SYNC.search(name) else 'call')
        elif node.kind == 'assign' and (node.left.kind != 'name' or self.is_global(node.left)):
            self.removed(whole, 'store')
        elif node.kind in ('unary', 'postfix') and node.op in ('++', '--'):
            self.removed(whole, 'store')
        return [whole]

    def is_global(self, node):
        """True if not declared in the function: removing its store causes no warning."""
        name = self.tok(node.first)
        return not any(self.tok(j) == name and self.toks[j - 1].kind != 'op' or
                       self.tok(j) == name and self.tok(j - 1) in ('*', ',') and
                       self.tok(j + 1) in (',', ';', '=', ')')
                       for j in range(self.begin, self.end))

    # ---- the file

    def functions(self):
        """For each function: its name, its first token and its opening brace."""
        i, start = 0, 0
        while i < len(self.toks):
            t = self.toks[i]
            if t.kind == 'pp' or t.text in (';',):
                start = i + 1
            elif t.text == '{':
                j = start
                while j < i and self.tok(j) != '(':
                    j = j + 1
                if j < i and self.tok(i - 1) != '=' and '=' not in \
                        (self.tok(k) for k in range(start, i)):
                    yield self.tok(j - 1), start, i
                    start = t.match + 1
                else:
                    self.left_out(i, t.match)
                i = t.match
            i += 1

    def run(self):
        edits = []
        for name, start, brace in self.functions():
            if self.only and name not in self.only:
                continue
            self.function, self.begin, self.end = name, start, self.toks[brace].match
            edits += self.block(brace + 1, self.end)
        return self.render_all(edits), self.points, self.not_tried

    def render(self, node):
        start, out = self.toks[node.first].start, ''
        for part in sorted(node.parts, key=lambda n: n.first):
            out += self.text[start:self.toks[part.first].start] + self.render(part)
            start = self.toks[part.last].end
        out += self.text[start:self.toks[node.last].end]
        for wrap in node.wraps:
            out = wrap(out)
        return out

    def render_all(self, nodes):
        start, out = 0, ''
        for node in sorted(nodes, key=lambda n: n.first):
            out += self.text[start:self.toks[node.first].start] + self.render(node)
            start = self.toks[node.last].end
        return out + self.text[start:]


def mutate(name, text, first, skip=frozenset(), only=None):
    return File(name, text, first, skip, only).run()
