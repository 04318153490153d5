"""Cuts C++ and CUDA sources into preprocessing tokens ([lex.pptoken]); nothing is lost on the way.

`"".join(token.text for token in tokenize(source)) == source` holds for every text, well-formed or
not. Nothing is expanded and no branch of an `#if` is left out: tokens are what was written.
decouple/cpp/lexer.py, which is not shipped, overwrites what is no code; here each name is a token.
"""

from __future__ import annotations

import bisect
import dataclasses
import enum
import re
from collections.abc import Iterator


class Kind(enum.Enum):
    """What a token is."""

    IDENTIFIER = "identifier"
    """A name or a keyword."""
    NUMBER = "number"
    """A preprocessing number: `1'000`, `0x1p-3`, `1.f`."""
    STRING = "string"
    """A string or character literal, with its prefix and its suffix."""
    HEADER = "header"
    """What `#include` or `__has_include` names, with its brackets or quotes."""
    PUNCTUATOR = "punctuator"
    """An operator or a bracket; `<<<`, `>>>` and `::` are one each."""
    COMMENT = "comment"
    SPACE = "space"
    """Blanks."""
    NEWLINE = "newline"
    """The end of a logical line."""
    SPLICE = "splice"
    """A backslash and the line end behind it, between two tokens."""
    OTHER = "other"
    """A character that begins nothing, such as a quote that is never closed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: what it is.
        text: as it stands in the source, splices inside it included.
        spelling: without them, which is what the compiler sees. The same as `text` for a raw string.
        offset: of its first character in the source.
        directive: the directive whose line it is in, such as "define" or "pragma"; empty outside of
            directives, and for a `#` alone.
    """

    kind: Kind
    text: str
    spelling: str
    offset: int
    directive: str = ""


SILENT = frozenset({Kind.COMMENT, Kind.SPACE, Kind.NEWLINE, Kind.SPLICE})
"""The kinds that stand between tokens for the compiler."""

KEYWORDS = frozenset(
    {
        *("alignas", "alignof", "and", "asm", "auto", "bitand", "bitor", "bool", "break", "case"),
        *("catch", "char", "class", "co_await", "co_return", "co_yield", "compl", "const"),
        *("consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete"),
        *("do", "double", "else", "enum", "explicit", "export", "extern", "final", "float"),
        *("for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new"),
        *("noexcept", "not", "operator", "or", "override", "private", "protected", "public"),
        *("register", "requires", "return", "short", "signed", "sizeof", "static", "struct"),
        *("switch", "template", "thread_local", "throw", "try", "typedef", "typeid", "typename"),
        *("union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor"),
    }
)
"""Words that name nothing: what follows them, `::f` for one, is not qualified by them."""

# A backslash may have blanks behind it: C++23 says so, and GCC and Clang always did.
_SPLICE = re.compile(r"\\[ \t\f\v]*\r?\n")
_NAME = r"(?:[^\W\d]|\$|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8})(?:\w|\$|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8})*"
# What follows is matched on the text without splices, so no line end in it is one of them.
_TOKEN = re.compile(
    r"(?P<space>[ \t\f\v\ufeff]+|\r(?!\n))"
    r"|(?P<newline>\r?\n)"
    r"|(?P<comment>//[^\n]*?(?=\r?\n|\Z)|/\*.*?(?:\*/|\Z))"
    r'|(?P<raw>(?:u8|[uUL])?R"[^()\\\s"]{0,16}\()'
    rf'|(?P<string>(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\[^\n])*"|\'(?:[^\'\\\n]|\\[^\n])+\')(?:{_NAME})?)'
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|'[A-Za-z0-9_]|[A-Za-z0-9_.])*)"
    rf"|(?P<identifier>{_NAME})"
    # The longest first. `<::` is `<` and `::` unless a `:` or `>` comes ([lex.pptoken]).
    r"|(?P<punctuator><<<|>>>|%:%:|<=>|<<=|>>=|\.\.\.|->\*|##|<%|%>|<:(?!:(?![:>]))|:>|%:|::|\.\*|->"
    r"|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%^&|]=|[-{}\[\]()#;:?.+*/%^&|~!=<>,])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_RAW_OPENING = re.compile(r'"([^()\\\s"]{0,16})\(')
_SUFFIX = re.compile(_NAME)
_HEADER = re.compile(r'<[^>\n]+>|"[^"\n]+"')
_INCLUDING = frozenset({"include", "include_next", "import"})
_ASKING = frozenset({"__has_include", "__has_include_next"})
_KINDS = {kind.value: kind for kind in Kind}


def tokenize(source: str) -> list[Token]:
    """Cuts a text into tokens.

    Args:
        source: C++ or CUDA; with its line ends as they are in the file.

    Returns:
        The tokens in order; their texts make up the source.
    """
    return list(_Tokenizer(source).tokens())


class Positions:
    """Turns offsets of a text into lines and columns, both from 1."""

    def __init__(self, source: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", source))]

    def at(self, offset: int) -> tuple[int, int]:
        """Line and column of the character at an offset."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


class _Unspliced:
    """A text without its splices, and where its characters were."""

    def __init__(self, source: str) -> None:
        pieces: list[str] = []
        self._cuts: list[int] = []  # offsets in `text` before which something was taken out
        self._shifts: list[int] = [0]  # and how much was taken out up to there
        end = 0
        length = 0
        for match in _SPLICE.finditer(source):
            pieces.append(source[end : match.start()])
            length += len(pieces[-1])
            end = match.end()
            self._cuts.append(length)
            self._shifts.append(end - length)
        self.text = "".join([*pieces, source[end:]])

    def original(self, offset: int) -> int:
        """Where in the source the character at an offset of `text` is."""
        return offset + self._shifts[bisect.bisect_right(self._cuts, offset)]

    def end(self, offset: int) -> int:
        """Where in the source what ends before an offset of `text` has ended."""
        return self.original(offset - 1) + 1 if offset else 0

    def unspliced(self, original: int) -> int:
        """The offset in `text` of a place of the source, or of what follows a splice that it is in."""
        return bisect.bisect_left(range(len(self.text)), original, key=self.original)


class _Line:
    """What is known of the logical line that is being read, as far as directives need it."""

    def __init__(self) -> None:
        self.seen = 0  # tokens that are not silent
        self.hash = False
        self.directive = ""
        self.header = False  # the next token may be a header's name
        self.asking = 0  # 1 behind `__has_include`, 2 behind its bracket

    def add(self, kind: Kind, spelling: str) -> None:
        """Takes note of one token that is not silent."""
        self.header = False
        if self.seen == 0:
            self.hash = spelling in ("#", "%:")
        elif self.seen == 1 and self.hash and kind is Kind.IDENTIFIER:
            self.directive = spelling
            self.header = spelling in _INCLUDING
        elif self.directive and spelling in _ASKING:
            self.asking = 1
        elif self.asking == 1:
            self.asking = 0
            self.header = spelling == "("
        self.seen += 1


class _Tokenizer:
    def __init__(self, source: str) -> None:
        self._source = source
        self._unspliced = _Unspliced(source)
        self._end = 0  # of what was handed out, in the source
        self._line = _Line()

    def tokens(self) -> Iterator[Token]:
        text = self._unspliced.text
        position = 0
        while position < len(text):
            kind, end, original_end = self._next(text, position)
            yield from self._spliced(self._unspliced.original(position))
            token = self._token(kind, text[position:end], original_end)
            if kind is Kind.NEWLINE:
                self._line = _Line()
            elif kind not in SILENT:
                self._line.add(kind, token.spelling)
            yield token
            position = end
        yield from self._spliced(len(self._source))

    def _next(self, text: str, position: int) -> tuple[Kind, int, int]:
        """Kind of the next token, and its end without and with splices."""
        if self._line.header:
            match = _HEADER.match(text, position)
            if match is not None:
                return Kind.HEADER, match.end(), self._unspliced.end(match.end())
        match = _TOKEN.match(text, position)
        assert match is not None and match.lastgroup is not None
        if match.lastgroup == "raw":
            return self._raw_string(text, match)
        kind = _KINDS[match.lastgroup]
        return kind, match.end(), self._unspliced.end(match.end())

    def _raw_string(self, text: str, match: re.Match[str]) -> tuple[Kind, int, int]:
        """As `_next`, for what looks like a raw string: in one are no splices ([lex.phases])."""
        quote = text.index('"', match.start())
        opening = _RAW_OPENING.match(self._source, self._unspliced.original(quote))
        if opening is None:
            # A splice in its mark, so it is none. What comes first is a name: R, u8R.
            return Kind.IDENTIFIER, quote, self._unspliced.end(quote)
        closing = f'){opening[1]}"'
        found = self._source.find(closing, opening.end())
        if found < 0:
            return Kind.STRING, len(text), len(self._source)
        end = self._unspliced.unspliced(found + len(closing))
        suffix = _SUFFIX.match(text, end)
        if suffix is None or self._unspliced.original(end) != found + len(closing):
            return Kind.STRING, end, found + len(closing)
        return Kind.STRING, suffix.end(), self._unspliced.end(suffix.end())

    def _token(self, kind: Kind, spelling: str, original_end: int) -> Token:
        start, self._end = self._end, original_end
        text = self._source[start:original_end]
        if kind is Kind.STRING and spelling != text and _is_raw(spelling):
            spelling = text
        return Token(kind, text, spelling, start, self._line.directive)

    def _spliced(self, until: int) -> Iterator[Token]:
        """The splices before an offset of the source, each a token."""
        while self._end < until:
            match = _SPLICE.match(self._source, self._end)
            assert match is not None, "only splices are between tokens"
            self._end = match.end()
            yield Token(Kind.SPLICE, match[0], "", match.start(), self._line.directive)


def _is_raw(spelling: str) -> bool:
    return spelling.split('"', 1)[0].endswith("R")
