"""HTML for people: escaped text, definition lists and self-contained pages that load nothing from anywhere."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from discreet.errors import ParameterError

# Borders are half-transparent gray and text inherits its color, so the same rules serve light and dark notebooks.
TABLE_STYLE = """
.discreet{overflow-x:auto}
.discreet table{border-collapse:collapse;margin:.5em 0;color:inherit;background:transparent;font-size:1em}
.discreet caption{caption-side:top;text-align:left;padding:.3em 0;color:inherit;font-style:italic}
.discreet th,.discreet td{padding:.3em .8em;text-align:left;vertical-align:baseline;white-space:pre-wrap;color:inherit;
background:transparent;border:0;border-bottom:1px solid rgba(128,128,128,.35);
font-variant-numeric:tabular-nums lining-nums}
.discreet thead th{border-bottom:2px solid rgba(128,128,128,.7);font-weight:600}
.discreet tbody th{font-weight:400}
.discreet .number{text-align:right}
"""

_PAGE_STYLE = """
:root{color-scheme:light dark;--ink:#1d2327;--paper:#fff;--soft:#5c6670;--line:#d5d9dd;--accent:#0b62a4}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaec;--paper:#16191c;--soft:#a7b0b8;--line:#3a4046;--accent:#7ab8e8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1.1rem 4rem;max-width:46rem;color:var(--ink);background:var(--paper);
font:1.0625rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
h1{font-size:1.9rem;line-height:1.2;margin:.5em 0 .8em}
h2{font-size:1.3rem;line-height:1.3;margin:2.2em 0 .5em;padding-top:.8em;border-top:1px solid var(--line)}
a{color:var(--accent)}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.3rem 1.2rem;margin:1em 0}
dt{color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
figure{margin:1.2em 0}figure svg{display:block;width:100%;height:auto;background:#fff;border-radius:6px}
figcaption{color:var(--soft);font-size:.95rem;margin-top:.5em}
@media (max-width:34rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}}
@media print{body{max-width:none}h2{break-after:avoid}figure,table{break-inside:avoid}}
"""

# A page that may load nothing cannot tell anyone that it was opened. The drawings carry their own style attributes.
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

# control characters, lone surrogates, and what turns the direction of the text around it
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape(text: object) -> str:
    """Return text that is safe inside an element or a quoted attribute; what HTML does not allow becomes U+FFFD.

    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(_CONTROL.sub("\ufffd", str(text)), quote=True)


def paragraph(text: object) -> str:
    """Return one escaped paragraph.

    >>> paragraph("1 < 2")
    '<p>1 &lt; 2</p>'
    """
    return f"<p>{escape(text)}</p>"


def definition_list(pairs: Iterable[tuple[object, object]]) -> str:
    """Return terms and their meanings, escaped, in the order given.

    >>> definition_list([("epsilon", 0.5)])
    '<dl><dt>epsilon</dt><dd>0.5</dd></dl>'
    """
    return "<dl>" + "".join(f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>" for term, meaning in pairs) + "</dl>"


def section(title: str, *parts: str) -> str:
    """Return a titled section; the title is escaped, the parts are HTML already.

    >>> section("Price", paragraph("1.5"))
    '<section><h2>Price</h2><p>1.5</p></section>'
    """
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def figure(svg: str, *, description: str) -> str:
    """Return an inline drawing with a caption that also names it for a screen reader.

    >>> figure("<svg></svg>", description="Counts per ward")
    '<figure><svg role="img" aria-label="Counts per ward"></svg><figcaption>Counts per
        ward</figcaption></figure>'
    """
    start = svg.find("<svg")
    if start < 0:
        raise ParameterError("a figure needs an SVG drawing, and this text has no svg element", parameter="svg")
    label = escape(description)
    body = svg[start + len("<svg") :].rstrip()
    return f'<figure><svg role="img" aria-label="{label}"{body}<figcaption>{label}</figcaption></figure>'


def page(title: str, body: str) -> str:
    """Return a whole HTML5 page: styles inside, no script, nothing fetched; readable on a phone and in the dark.

    The title is escaped; the body is HTML already, made with the other functions of this module or by `Table.html`.

    >>> page("Report", paragraph("done")).startswith("<!DOCTYPE html>")
    True
    """
    name = escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_PAGE_POLICY}">\n'
        f"<title>{name}</title>\n<style>{_PAGE_STYLE}{TABLE_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{name}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )
