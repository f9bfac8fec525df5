"""How the CSV files of a source are written: delimiter, quote, decimal mark and encoding, as the curator declares."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields

from discreet.query.policy.toml_section import Section, kind, shown

# Every byte, or pair of bytes, of these is decoded alone. In an encoding with shifts (ISO-2022, UTF-7) or lead bytes
# (Shift-JIS, GBK) what one cell ends with would change how the next one is read.
_PAGES = (*(f"cp125{digit}" for digit in range(9)), "cp437", "cp850", "cp852", "cp858", "cp866")
_ISO = tuple(f"iso8859-{part}" for part in range(1, 17) if part != 12)
ENCODINGS = frozenset({"utf-8", "utf-16", "ascii", "koi8-r", "koi8-u", "mac-roman", *_PAGES, *_ISO})
DECIMAL_MARKS = (".", ",")
_NO_LINE_END = "\r\n\0"


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """What the reader of CSV files is told; the defaults are those of RFC 4180 in UTF-8."""

    delimiter: str = ","
    quote: str = '"'
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def codec(self) -> str:
        """The name under which Python decodes; a byte order mark before UTF-8 is taken off, UTF-16 takes its own."""
        return "utf-8-sig" if self.encoding == "utf-8" else self.encoding


USUAL = CsvFormat()


def read_format(section: Section) -> CsvFormat:
    """Return what `[data.csv]` says; every mistake is noted in the section."""
    section.only([field.name for field in fields(CsvFormat)])
    delimiter = _character(section, "delimiter", USUAL.delimiter, blank=" \t")
    quote = _character(section, "quote", USUAL.quote, blank="")
    if delimiter == quote:
        section.complain('must not be the delimiter too. Write, for example, `quote = "\'"`', "quote")
    return CsvFormat(delimiter, quote, _decimal(section), _encoding(section))


def _character(section: Section, key: str, usual: str, *, blank: str) -> str:
    """Return one character that no number or name is written with."""
    value = section.entries.get(key, usual)
    example = '`delimiter = ";"`, or "\\t" for a tab' if key == "delimiter" else '`quote = "\'"`'
    if not isinstance(value, str):
        section.complain(f"must be one character in quotes, not {kind(value)}. Write, for example, {example}", key)
    elif len(value) != 1 or value in _NO_LINE_END or value.isalnum() or not (value.isprintable() or value in blank):
        words = "must be one character that is not a letter, a digit or a line end"
        section.complain(f"{words}; got {shown(value)}. Write, for example, {example}", key)
    elif value.isspace() and value not in blank:
        section.complain(f"must not be a space. Write, for example, {example}", key)
    else:
        return value
    return usual


def _decimal(section: Section) -> str:
    value = section.entries.get("decimal", USUAL.decimal)
    if value not in DECIMAL_MARKS:
        got = shown(value) if isinstance(value, str) else kind(value)
        section.complain(f'must be "." or ","; got {got}. Write `decimal = ","`, or remove the line', "decimal")
        return USUAL.decimal
    return str(value)


def _encoding(section: Section) -> str:
    value = section.entries.get("encoding", USUAL.encoding)
    name = _codec_name(value) if isinstance(value, str) else None
    if name in ENCODINGS:
        return str(name)
    got = shown(value) if isinstance(value, str) else kind(value)
    words = "must be UTF-8, UTF-16 or an encoding of one byte a character, such as latin-1 or cp1252"
    section.complain(f'{words}; got {got}. Write `encoding = "cp1252"`, or convert the files to UTF-8', "encoding")
    return USUAL.encoding


def _codec_name(name: str) -> str | None:
    """Return Python's own name of an encoding, in any of its spellings, or None."""
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return "utf-8" if found == "utf-8-sig" else found
