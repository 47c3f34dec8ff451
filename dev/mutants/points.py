# SPDX-License-Identifier: GPL-2.0
"""Points at which C code of the kernel can be changed once.

mutate(text, first, skip) returns the text with all mutants in it, each selected by its
number, and the list of them. A statement or condition is repeated for each of its
mutants, with one token replaced:

    if (a < b)      if ((mutant(1) ? 1 : mutant(2) ? 0 : mutant(3) ? a <= b : a < b))
    f(a + 1);       { if (mutant(4)) ; else if (mutant(5)) f(a - 1); else f(a + 1); }

It relies on the style of the kernel: a name with arguments before a statement is a macro
that loops. Code that it does not understand is not changed.
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
OTHER = {'||': '&&', '&&': '||', '==': '!=', '!=': '==', '<': '<=', '<=': '<', '>': '>=',
         '>=': '>', '<<': '>>', '>>': '<<', '+': '-', '-': '+', '|': '&', '&': '|',
         '+=': '-=', '-=': '+=', '|=': '&=', '&=': '|=', '++': '--', '--': '++',
         '!': '!!', 'true': 'false', 'false': 'true'}
UNARY = {'+', '-', '&'}
# Statements without effect in a correct kernel, and code that must be constant.
IDLE = re.compile(r'(pr_\w+|printk\w*|WARN\w*|BUG\w*|BUILD_BUG\w*|lockdep_\w+|might_\w+|'
                  r'va_\w+|static_assert|asm|DEFINE_\w+|DECLARE_\w+|LIST_HEAD)$')
RAW = re.compile(r'\b(IS_ENABLED|IS_REACHABLE|va_arg|offsetof|BIT)\b|\(\{|\basm\b')


class Token:
    def __init__(self, m):
        self.kind, self.text, self.start, self.end = m.lastgroup, m.group(), m.start(), m.end()
        self.match = None


class File:
    def __init__(self, text, first, skip):
        self.text, self.next, self.skip = text, first, skip
        self.toks, self.points, self.edits, self.function = [], [], [], None
        opened = []
        for m in TOKEN.finditer(text):
            if m.lastgroup == 'space':
                continue
            t = Token(m)
            if t.kind == 'op' and t.text in '([{':
                opened.append(t)
                t.at = len(self.toks)
            elif t.kind == 'op' and t.text in ')]}':
                opened.pop().match = len(self.toks)
            self.toks.append(t)

    def tok(self, i):
        return self.toks[i].text

    def source(self, first, last):
        return re.sub(r'\s+', ' ', self.text[self.toks[first].start:self.toks[last].end])

    def variants(self, first, last):
        """The source of these tokens with one of them changed."""
        found = []
        for i in range(first, last + 1):
            t, new = self.toks[i], None
            after_value = i > first and (self.toks[i - 1].kind in ('id', 'num') or
                                         self.tok(i - 1) in (')', ']'))
            end = t.end
            if t.text == '-' and not after_value and re.match('E[A-Z0-9]+$', self.tok(i + 1)):
                new, end = '0', self.toks[i + 1].end
            elif t.text in OTHER and (after_value or t.text not in UNARY):
                new = OTHER[t.text]
            elif t.kind == 'num':
                new = f'({t.text} + 1)'
            if new:
                start, stop = self.toks[first].start, self.toks[last].end
                whole = self.text[start:t.start] + new + self.text[end:stop]
                found.append(re.sub(r'\s+', ' ', whole))
        return found

    def numbers(self, first, old, variants):
        """A number for each variant."""
        line = self.text.count('\n', 0, self.toks[first].start) + 1
        found = []
        for new in variants:
            if (self.function, old) in self.skip or RAW.search(old):
                return []
            self.points.append((self.next, line, self.function, old, new))
            found.append((self.next, new))
            self.next += 1
        return found

    def replace(self, first, last, new):
        """The number of lines stays the same."""
        start, end = self.toks[first].start, self.toks[last].end
        self.edits.append((start, end, new + '\n' * self.text.count('\n', start, end)))

    def condition(self, first, last):
        old = self.source(first, last)
        new = ['1', '0'] + self.variants(first, last) if self.toks[first].kind != 'num' or \
            first != last else []
        chain = self.numbers(first, old, new)
        if chain:
            self.replace(first, last, '(' + ' '.join(f'mutant({nr}) ? !!({new}) :'
                                                     for nr, new in chain) + f' !!({old}))')

    def simple(self, first, last):
        """A statement, without its semicolon."""
        old = self.source(first, last)
        if IDLE.match(self.tok(first)) or '{' in old:
            return
        if re.match(r'(const |struct |unsigned |static )*\w+ (\* ?)*(const )?\w+( = |,|\[|$)', old) \
                and not old.startswith(('return ', 'goto ')):
            self.declaration(first, last, old)
            return
        removed = [''] if self.tok(first) != 'return' else \
            ['return 0'] if re.search(r'\w', old[6:]) and old[7:] not in ('0', 'NULL', 'false') else []
        chain = self.numbers(first, old, removed + self.variants(first, last))
        if chain:
            self.replace(first, last + 1, '{ ' + ''.join(
                f'if (mutant({nr})) {{ {new}; }} else ' for nr, new in chain) + f'{old}; }}')

    def declaration(self, first, last, old):
        """Of one variable with a value."""
        if ',' in re.sub(r'\([^()]*(\([^()]*\)[^()]*)*\)', '', old) or old.startswith('static'):
            return
        at = next((i for i in range(first, last) if self.tok(i) == '='), None)
        if at is None:
            return
        value = self.source(at + 1, last)
        chain = self.numbers(at + 1, value, self.variants(at + 1, last))
        if chain:
            self.replace(at + 1, last, ' '.join(f'mutant({nr}) ? ({new}) :'
                                                for nr, new in chain) + f' ({value})')

    def block(self, i, end):
        while i < end:
            i = self.statement(i, end)

    def statement(self, i, end):
        t = self.toks[i]
        if t.kind == 'pp' or t.text in (';', 'else', 'do'):
            return i + 1
        if t.text == '{':
            self.block(i + 1, t.match)
            return t.match + 1
        if t.text in ('if', 'while', 'switch'):
            last = self.toks[i + 1].match
            if t.text != 'switch':
                self.condition(i + 2, last - 1)
            return last + 1
        if t.text == 'for':
            last = self.toks[i + 1].match
            parts = [j for j in range(i + 2, last) if self.tok(j) == ';']
            if parts[1] > parts[0] + 1:
                self.condition(parts[0] + 1, parts[1] - 1)
            return last + 1
        if t.text in ('case', 'default') or (t.kind == 'id' and self.tok(i + 1) == ':'):
            while self.tok(i) != ':':
                i += 1
            return i + 1
        if t.kind == 'id' and self.tok(i + 1) == '(' and self.tok(self.toks[i + 1].match + 1) \
                not in (';', '=', '-', '.', '->', '[', '?', ',', '(', '+', '*'):
            return self.toks[i + 1].match + 1       # a macro that loops
        stop = i
        while stop < end and self.tok(stop) != ';':
            stop = (self.toks[stop].match or stop) + 1
        if stop < end and stop > i:
            self.simple(i, stop - 1)
        return stop + 1

    def run(self):
        i = start = 0
        while i < len(self.toks):
            t = self.toks[i]
            if t.kind == 'pp' or t.text == ';':
                start = i + 1
            elif t.text == '{':
                words = [self.tok(j) for j in range(start, i)]
                if '(' in words and '=' not in words:
                    self.function = words[words.index('(') - 1]
                    self.block(i + 1, t.match)
                i = t.match
                start = i + 1
            i += 1
        out, at = '', 0
        for start, end, new in sorted(self.edits):
            out += self.text[at:start] + new
            at = end
        return out + self.text[at:], self.points


def mutate(text, first, skip):
    return File(text, first, skip).run()
