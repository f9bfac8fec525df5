"""How CSV files are written is declared: delimiter, quote, decimal mark, encoding; what does not fit is refused."""

from __future__ import annotations

import codecs
import csv
import gzip
import threading
from pathlib import Path

import pandas as pd
import pytest

from discreet.errors import PolicyError
from discreet.privacy import PureDP
from discreet.query.csv_files import reader
from discreet.query.csv_files.reader import LONGEST_RECORD, CsvRecords, UnreadableFile, own_csv
from discreet.query.policy.csv_format import ENCODINGS, CsvFormat
from discreet.query.policy.file import read_policy
from tests.query.csv_files.csv_cases import opened, written


def rows(policy: Path, columns: str = "uid, k, x") -> list[tuple[object, ...]]:
    with opened(policy) as session:
        found = session.engine._connection.execute(f'SELECT {columns} FROM memory.main."t"')  # type: ignore[attr-defined]  # noqa: S608
        return sorted(found.fetchall(), key=repr)


def section(**stated: str) -> str:
    return "[data.csv]\n" + "".join(f"{name} = {value}\n" for name, value in stated.items())


def fault(folder: Path, content: bytes, stated: CsvFormat = CsvFormat()) -> str:  # noqa: B008
    """Return what the curator is told, and check that an analyst is told nothing of it."""
    policy = written(folder, content)
    with pytest.raises(UnreadableFile) as caught:
        list(CsvRecords(folder / "data" / "t.csv", stated))
    assert caught.value.__context__ is None
    with pytest.raises(PolicyError) as told:
        opened(policy)
    assert str(told.value).endswith(
        f"the CSV file 't.csv' of 't' cannot be read as it is declared. Run `discreet check {policy}`, which says "
        "where. Nothing was spent."
    )
    assert told.value.__context__ is None
    return caught.value.fault.words()


@pytest.mark.parametrize(("delimiter", "written_as"), [(";", '";"'), ("\t", '"\\t"'), ("|", '"|"'), (" ", '" "')])
def test_the_delimiter_is_the_declared_one(tmp_path: Path, delimiter: str, written_as: str) -> None:
    text = delimiter.join(["uid", "k", "x"]) + "\n" + delimiter.join(["p", '"a,b;c\td|e f"', "1"]) + "\n"
    assert rows(written(tmp_path, text.encode(), csv=section(delimiter=written_as))) == [("p", "a,b;c\td|e f", "1")]


def test_the_quote_is_the_declared_one(tmp_path: Path) -> None:
    policy = written(tmp_path, b"uid,k,x\np,'it''s, \"so\"\n',1\n", csv=section(quote='"\'"'))
    assert rows(policy) == [("p", 'it\'s, "so"\n', "1")]


@pytest.mark.parametrize(
    ("encoding", "prefix"),
    [
        ("latin-1", b""), ("ISO-8859-15", b""), ("cp1252", b""), ("windows-1252", b""), ("utf-16", b""), ("utf8", b""),
        ("utf-8", codecs.BOM_UTF8), ("UTF-8-SIG", codecs.BOM_UTF8),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_the_encoding_is_the_declared_one(tmp_path: Path, encoding: str, prefix: bytes, name: str) -> None:
    content = prefix + "uid,k,x\np,é ü,1\n".encode(encoding.removesuffix("-SIG"))
    stored = gzip.compress(content) if name.endswith(".gz") else content
    assert rows(written(tmp_path, stored, name=name, csv=section(encoding=f'"{encoding}"'))) == [("p", "é ü", "1")]


def test_a_decimal_comma_is_read_in_columns_declared_as_numbers_and_only_there(tmp_path: Path) -> None:
    cells = ["1,5", "2", "1.5", "1.234,5", "", "x", "-3,25e1"]
    lines = [f'p{place};1,5;"{cell}"' for place, cell in enumerate(cells)]
    policy = written(tmp_path, "\n".join(["uid;k;x", *lines]).encode(), csv=section(delimiter='";"', decimal='","'))
    found = rows(policy, "k, TRY_CAST(x AS DOUBLE)")
    assert found == sorted([("1,5", x) for x in (1.5, 2.0, None, None, None, None, -32.5)], key=repr)


def test_numbers_with_a_decimal_comma_name_the_same_person_as_whole_numbers(tmp_path: Path) -> None:
    policy = written(tmp_path, b"uid;k;x\n7;a;1\n7,0;b;1\n007;c;1\n", csv=section(delimiter='";"', decimal='","'))
    policy.write_text(policy.read_text().replace('uid = {type = "text"}', 'uid = {type = "integer"}'))
    from discreet.query.pricing.price import read_price
    from tests.query.csv_files.csv_cases import PEOPLE

    with opened(policy) as session:
        made = session._charging.priced(PEOPLE, read_price(epsilon=1))
        assert session.engine.run(made.request()).cells == [[1]]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("delimiter", '""', "one character"), ("delimiter", '";;"', "one character"),
        ("delimiter", '"\\n"', "a line end"), ("delimiter", '"a"', "not a letter"),
        ("delimiter", '"1"', "a digit"), ("delimiter", "1", "a whole number"),
        ("delimiter", '"\\""', "must not be the delimiter too"), ("delimiter", '"\\u0000"', "one character"),
        ("quote", '" "', "must not be a space"), ("quote", '"\\t"', "one character"), ("quote", '","', "too"),
        ("decimal", '"·"', 'must be "." or ","'), ("decimal", "true", "a truth value"), ("decimal", "[]", "a list"),
        ("encoding", '"utf-7"', "one byte a character"), ("encoding", '"shift_jis"', "one byte a character"),
        ("encoding", '"iso2022_jp"', "one byte a character"), ("encoding", '"rot13"', "one byte a character"),
        ("encoding", '"nothing"', "UTF-8, UTF-16"), ("encoding", "8", "a whole number"), ("encoding", '""', "UTF-8"),
        ("delimeter", '";"', "Did you mean delimiter?"),
    ],
)  # fmt: skip
def test_what_cannot_be_declared_is_refused_with_what_to_write(
    tmp_path: Path, key: str, value: str, words: str
) -> None:
    policy = written(tmp_path, b"uid,k,x\n", csv=section(**{key: value}))
    with pytest.raises(PolicyError) as refused:
        read_policy(policy)
    ((line, told),) = refused.value.problems
    assert line == (5 if "delimiter too" in words else 6)
    assert "[data.csv]" in told
    assert words in told


def test_only_csv_files_have_a_format(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.parquet").touch()
    policy = written(tmp_path, b"", csv=section(delimiter='";"'))
    (tmp_path / "data" / "t.csv").unlink()
    with pytest.raises(PolicyError, match=r"line 5: \[data\] csv: a delimiter is for CSV files"):
        read_policy(policy)


@pytest.mark.parametrize("encoding", sorted(ENCODINGS - {"utf-8", "utf-16"}))
def test_in_every_allowed_code_page_each_byte_stands_alone(encoding: str) -> None:
    assert codecs.lookup(encoding).name == encoding
    ascii_bytes = bytes(range(128))
    assert ascii_bytes.decode(encoding) == ascii_bytes.decode("ascii")
    for byte in range(128, 256):
        try:
            assert len(bytes([byte]).decode(encoding)) == 1
        except UnicodeDecodeError:
            for behind in (b",", b'"', b"\n", b"a"):
                with pytest.raises(UnicodeDecodeError):
                    (bytes([byte]) + behind).decode(encoding)


def test_a_text_of_three_megabytes_does_not_refuse_the_file(tmp_path: Path) -> None:
    long = "x\n" * 1_500_000
    assert rows(written(tmp_path, f'uid,k,x\np,"{long}",1\nq,b,2\n'.encode())) == [("p", long, "1"), ("q", "b", "2")]


@pytest.mark.parametrize("filling", [b"x", b"x\n", b"\n", b'""', b"x,", b'","'])
def test_a_record_beyond_the_limit_refuses_the_file_and_one_at_the_limit_does_not(
    tmp_path: Path, filling: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, limit = tmp_path / "t.csv", LONGEST_RECORD
    if filling != b"x":  # the real limit is tried once
        limit = 2**16
        monkeypatch.setattr(reader, "LONGEST_RECORD", limit)
    inside = limit - len(b'p,""\n')
    whole = filling * (inside // len(filling))
    for size, fits in ((inside, True), (inside + 1, False)):
        cell = whole + b"x" * (size - len(whole))
        path.write_bytes(b'uid,k\np,"' + cell + b'"\nq,b\n')
        if fits:
            assert [record[0] for record in CsvRecords(path, CsvFormat())] == ["uid", "p", "q"]
        else:
            with pytest.raises(UnreadableFile) as caught:
                list(CsvRecords(path, CsvFormat()))
            assert caught.value.fault.words() == f"record 2, on line 2: the record is longer than {limit:,} characters"


def test_the_limit_of_the_csv_module_is_neither_raised_nor_obeyed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"uid,k\np," + b"x" * 200_000 + b"\n")
    before = csv.field_size_limit(10)
    try:
        records = iter(CsvRecords(tmp_path / "t.csv", CsvFormat()))
        next(records)
        assert csv.field_size_limit() == 10
        assert len(next(records)[1]) == 200_000
        with pytest.raises(csv.Error):
            next(csv.reader(["x" * 11]))
    finally:
        csv.field_size_limit(before)
    assert own_csv() is own_csv()
    assert own_csv().reader is not csv.reader


def test_threads_read_at_once_under_the_same_limit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"uid,k\n" + b"p," + b"x" * 200_000 + b"\n")
    found: list[int] = []

    def read() -> None:
        found.append(sum(len(record[1]) for record in CsvRecords(tmp_path / "t.csv", CsvFormat())))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200_001] * 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'uid,k,x\np,a,1\nq,"never closed,1\n', "record 3, on line 3: a quote is opened and never closed"),
        (b'uid,k,x\n"p\nq",a,1\n\nr,"a"b,1\n', "record 3, on line 5: text stands between a closing quote"),
        (b"uid,k,x\np,a\0b,1\n", "record 2, on line 2: a NUL character"),
        (b"uid,k,x\np,\xff,1\n", "record 1, on line 1, or a later one: a byte is not UTF-8"),
        (b"uid,k,x\np,a\rq,b\n", "record 2, on line 2: the record ends with a carriage return alone"),
    ],
)
def test_the_curator_is_told_the_record_and_an_analyst_the_file_only(
    tmp_path: Path, content: bytes, words: str
) -> None:
    assert fault(tmp_path, content).startswith(words)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"uid,uid\n", b"uid,\n", b"uid,k\0\n", b'uid,"k\n'])
def test_a_file_without_a_header_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(PolicyError, match="must name every column, each once"):
        opened(written(tmp_path, content))


@pytest.mark.parametrize("content", [b"uid,k,x", b"uid,k,x\n", b"uid,k,x\r\n\r\n", b'"uid","k","x"\r'])
def test_a_header_alone_is_a_table_without_rows(tmp_path: Path, content: bytes) -> None:
    assert rows(written(tmp_path, content)) == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_short_long_and_blank_records_touch_no_other(tmp_path: Path, end: str) -> None:
    lines = ["uid,k,x", "p", "", "q,a,1,more,and more", '"",b', '"line\r\nend",c,2', "r,d,3"]
    found = rows(written(tmp_path, end.join(lines).encode()))
    expected = [("p", None, None), ("q", "a", "1"), (None, "b", None), ("line\r\nend", "c", "2"), ("r", "d", "3")]
    assert found == sorted(expected, key=repr)


def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    content = gzip.compress(b"uid,k,x\n" + b"".join(b"p%d,a,1\n" % one for one in range(50_000)))
    policy = written(tmp_path, content[: len(content) // 2], name="t.csv.gz")
    with pytest.raises(PolicyError, match="cannot be read as it is declared"):
        opened(policy)


def test_whole_numbers_in_a_csv_file_are_never_rounded(tmp_path: Path) -> None:
    cells = [
        "7",
        "007",
        "+7",
        " 7 ",
        "7.0",
        "7.",
        "-7",
        "5.5",
        "6.5",
        "1e3",
        "1_000",
        "0x10",
        "9223372036854775808",
        "x",
    ]
    records = "".join(f"p{place},a,{cell}\n" for place, cell in enumerate(cells))
    policy = written(tmp_path, f"uid,k,x\n{records}".encode())
    policy.write_text(policy.read_text().replace('type = "real", min = 0, max = 10', 'type = "integer"'))
    with opened(policy) as session, session.grant("t", ["x"], PureDP(1)) as granted:
        found = sorted(int(value) for value in pd.Series(granted["x"]).dropna())
    assert found == [-7, 7, 7, 7, 7, 7, 7]
