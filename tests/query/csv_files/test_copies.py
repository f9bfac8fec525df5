"""The copy of a CSV table: for its owner only, whole or not there, and never of another state of the source."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from discreet.errors import PolicyError
from discreet.query.csv_files import conversion, copies
from discreet.query.csv_files.copies import CsvTable, current_copy, ledger_folder
from discreet.query.csv_files.reader import header_of
from discreet.query.csv_files.sources import convert_source
from discreet.query.policy.csv_format import CsvFormat
from discreet.query.policy.file import read_policy
from tests.query.csv_files.csv_cases import opened, written

SMALL = b"uid,k,x\np,a,1\nq,b,2\n"


def folder_of(policy: Path) -> Path:
    return policy.parent / "ledger.sqlite.copies"


def content(policy: Path) -> list[str]:
    """Return what lies in the folder of copies, without what changes from run to run."""
    return sorted(path.suffix for path in folder_of(policy).iterdir())


def units(policy: Path) -> set[str]:
    with opened(policy) as session:
        return {row[0] for row in session.engine._connection.execute('SELECT uid FROM memory.main."t"').fetchall()}  # type: ignore[attr-defined]


def test_a_first_opening_converts_and_a_second_one_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = written(tmp_path, SMALL)
    assert units(policy) == {"p", "q"}
    monkeypatch.setattr(copies, "write_records", None)
    assert units(policy) == {"p", "q"}


def test_copies_are_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    before = os.umask(0)
    seen: list[int] = []
    real = conversion.write_records

    def look(*given: object) -> None:
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in folder_of(policy).iterdir())
        real(*given)  # type: ignore[arg-type]

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(copies, "write_records", look)
            opened(policy).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder_of(policy).stat().st_mode) == 0o700
    assert seen
    assert {*seen, *(stat.S_IMODE(path.stat().st_mode) for path in folder_of(policy).iterdir())} == {0o600}


def test_a_folder_of_copies_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    folder_of(policy).mkdir()
    folder_of(policy).chmod(0o755)
    with pytest.raises(PolicyError, match="must be a folder that belongs to this user"):
        opened(policy)
    folder_of(policy).rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder_of(policy).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PolicyError, match="must be a folder that belongs to this user"):
        opened(policy)


def touched(policy: Path) -> None:
    path = policy.parent / "data" / "t.csv"
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def grown(policy: Path) -> None:
    path = policy.parent / "data" / "t.csv"
    kept = path.stat().st_mtime_ns
    path.write_bytes(SMALL + b"r,c,3\n")
    os.utime(path, ns=(0, kept))


def other_format(policy: Path) -> None:
    policy.write_text(policy.read_text().replace("[protect]", '[data.csv]\nencoding = "latin-1"\n[protect]', 1))


@pytest.mark.parametrize("change", [touched, grown, other_format])
def test_a_source_or_a_format_that_changed_is_refused_until_check_converts_it_anew(tmp_path: Path, change) -> None:
    policy = written(tmp_path, SMALL)
    opened(policy).close()
    change(policy)
    with pytest.raises(PolicyError, match=r"changed since they were converted.*discreet check .*policy\.toml") as told:
        opened(policy)
    assert told.value.__context__ is None or told.value.__suppress_context__
    convert_source(read_policy(policy))
    assert units(policy) >= {"p", "q"}
    assert content(policy) == [".copy", ".json", ".lock"]


def test_another_file_of_a_table_is_a_change_of_the_source(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL, name="t/a.csv")
    opened(policy).close()
    (tmp_path / "data" / "t" / "b.csv").write_bytes(SMALL.replace(b"p,", b"z,"))
    with pytest.raises(PolicyError, match="changed since they were converted"):
        opened(policy)
    convert_source(read_policy(policy))
    assert units(policy) == {"p", "q", "z"}


def test_a_new_version_is_converted_by_itself_and_the_old_copy_goes(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    opened(policy).close()
    written(tmp_path, SMALL + b"r,c,3\n", version="2")
    assert units(policy) == {"p", "q", "r"}
    assert content(policy) == [".copy", ".json", ".lock"]


def test_a_copy_that_a_session_reads_stays_until_it_is_closed(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    with opened(policy) as session:
        written(tmp_path, SMALL + b"r,c,3\n", version="2")
        assert units(policy) == {"p", "q", "r"}
        assert content(policy) == [".copy", ".copy", ".json", ".lock"]
        session.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
    convert_source(read_policy(policy))
    assert content(policy) == [".copy", ".json", ".lock"]


def test_the_copy_of_a_table_that_the_policy_no_longer_names_goes_and_its_note_stays(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    convert_source(read_policy(policy))
    (tmp_path / "data" / "t.csv").rename(tmp_path / "data" / "s.csv")
    policy.write_text(policy.read_text().replace("[tables.t", "[tables.s"))
    convert_source(read_policy(policy))
    assert content(policy) == [".copy", ".json", ".json", ".lock", ".lock"]


def renamed(policy: Path, version: str) -> None:
    text = policy.read_text()
    policy.write_text(
        text.replace('version = "1"', f'version = "{version}"').replace('version = "2"', f'version = "{version}"')
    )


def test_a_version_used_before_is_refused_where_the_source_has_changed_since(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    opened(policy).close()
    grown(policy)
    renamed(policy, "2")
    assert units(policy) == {"p", "q", "r"}
    renamed(policy, "1")
    for _ in range(2):
        with pytest.raises(PolicyError, match="changed since they were converted"):
            opened(policy)
    renamed(policy, "2")
    assert units(policy) == {"p", "q", "r"}
    renamed(policy, "1")
    convert_source(read_policy(policy))
    assert units(policy) == {"p", "q", "r"}


def test_a_version_used_before_opens_where_the_source_is_as_it_was(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    for version in ("1", "2", "1", "2"):
        renamed(policy, version)
        assert units(policy) == {"p", "q"}
    assert content(policy) == [".copy", ".json", ".lock"]


def test_a_link_that_leads_elsewhere_is_a_change_of_the_source(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    for name in ("1", "2"):
        (tmp_path / "rel" / name).mkdir(parents=True)
        (tmp_path / "rel" / name / "t.csv").write_bytes(SMALL.replace(b"p,", name.encode() + b","))
        os.utime(tmp_path / "rel" / name / "t.csv", ns=(0, 0))
    link = tmp_path / "data" / "t.csv"
    link.unlink()
    link.symlink_to(tmp_path / "rel" / "1" / "t.csv")
    assert units(policy) == {"1", "q"}
    link.unlink()
    link.symlink_to(tmp_path / "rel" / "2" / "t.csv")
    with pytest.raises(PolicyError, match="changed since they were converted"):
        opened(policy)
    renamed(policy, "2")
    assert units(policy) == {"2", "q"}


@pytest.mark.parametrize("way", ["another folder", "the folder is a link", "the policy is reached by a link"])
def test_another_source_of_one_name_is_a_change_whatever_way_leads_to_it(tmp_path: Path, way: str) -> None:
    policy = written(tmp_path, SMALL)
    opened(policy).close()
    kept = (tmp_path / "data" / "t.csv").stat().st_mtime_ns
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "t.csv").write_bytes(SMALL.replace(b"p,", b"z,"))
    os.utime(tmp_path / "other" / "t.csv", ns=(0, kept))
    if way == "another folder":
        policy.write_text(policy.read_text().replace('source = "data"', 'source = "other"'))
    elif way == "the folder is a link":
        (tmp_path / "data").rename(tmp_path / "old")
        (tmp_path / "data").symlink_to(tmp_path / "other")
    else:
        (tmp_path / "here").symlink_to(tmp_path)
        policy = tmp_path / "here" / "policy.toml"
        assert units(policy) == {"p", "q"}
        grown(policy)
    with pytest.raises(PolicyError, match="changed since they were converted"):
        opened(policy)


def test_ledger_and_source_may_be_moved_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(written(tmp_path / "here", SMALL)).close()
    (tmp_path / "here").rename(tmp_path / "there")
    monkeypatch.setattr(copies, "write_records", None)
    assert units(tmp_path / "there" / "policy.toml") == {"p", "q"}


@pytest.mark.parametrize("source", ["data", "other"])
def test_a_check_of_another_policy_with_this_ledger_forgets_nothing_that_this_one_is_bound_to(
    tmp_path: Path, source: str
) -> None:
    policy, other = written(tmp_path, SMALL), tmp_path / "other.toml"
    opened(policy).close()
    (tmp_path / source).mkdir(exist_ok=True)
    (tmp_path / source / "u.csv").write_bytes(SMALL)
    text = policy.read_text().replace("[tables.t", "[tables.u").replace('source = "data"', f'source = "{source}"')
    other.write_text(text)
    convert_source(read_policy(other))
    assert content(policy).count(".copy") == (1 if source == "data" else 2)
    assert units(policy) == {"p", "q"}
    convert_source(read_policy(other))
    grown(policy)
    with pytest.raises(PolicyError, match="changed since they were converted"):
        opened(policy)


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"form": 1}', b'{"form": 2, "known": {}}'])
def test_a_damaged_note_is_refused_until_check_writes_another(tmp_path: Path, damage: bytes) -> None:
    policy = written(tmp_path, SMALL)
    opened(policy).close()
    (note,) = folder_of(policy).glob("*.json")
    note.write_bytes(damage)
    with pytest.raises(PolicyError, match="changed since they were converted"):
        opened(policy)
    convert_source(read_policy(policy))
    assert units(policy) == {"p", "q"}


def test_notes_stay_small_and_forget_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_MOST_VERSIONS", 3)
    source, folder = tmp_path / "t.csv", ledger_folder(tmp_path / "ledger.sqlite")
    source.write_bytes(SMALL)

    def table(version: str) -> CsvTable:
        return CsvTable("t", (source,) * 50, CsvFormat(), version, tmp_path)

    for version in ("a" * 500, "b", "c", "b"):
        current_copy(folder, table(version)).release()
    (note,) = folder.glob("*.json")
    assert len(note.read_bytes()) < 3 * 140 + 500
    for call in (current_copy, copies.convert_anew):
        with pytest.raises(PolicyError, match=r"3 versions of 't' were converted .* begin a new ledger"):
            call(folder, table("d"))
    source.write_bytes(SMALL * 2)
    with pytest.raises(copies.Outdated):
        current_copy(folder, table("a" * 500))


def test_a_source_that_changes_before_a_lost_copy_is_made_again_is_refused(tmp_path: Path, monkeypatch) -> None:
    policy = written(tmp_path, SMALL)
    opened(policy).close()
    next(folder_of(policy).glob("*.copy")).unlink()
    real = copies.header_of

    def late(*given: object) -> list[str]:
        grown(policy)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(copies, "header_of", late)
    with pytest.raises(PolicyError, match="changed since they were converted"):
        opened(policy)
    assert content(policy) == [".json", ".lock"]


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1")])
def test_a_copy_that_is_gone_or_cut_off_is_made_anew(tmp_path: Path, damage) -> None:
    policy = written(tmp_path, SMALL)
    opened(policy).close()
    (path,) = folder_of(policy).glob("*.copy")
    damage(path)
    assert units(policy) == {"p", "q"}


def test_a_source_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = written(tmp_path, SMALL)
    real = conversion.write_records

    def slow(*given: object) -> None:
        real(*given)  # type: ignore[arg-type]
        grown(policy)

    monkeypatch.setattr(copies, "write_records", slow)
    with pytest.raises(PolicyError, match="cannot be read as it is declared"):
        opened(policy)
    assert content(policy) == [".lock"]


def test_a_source_that_is_not_csv_leaves_no_copy(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL + b'z,"never closed')
    for call in (lambda: opened(policy), lambda: convert_source(read_policy(policy))):
        with pytest.raises(PolicyError):
            call()
        assert content(policy) == [".lock"]
    assert not (tmp_path / "ledger.sqlite").exists()


KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    import pyarrow.compute, pyarrow.parquet  # before the fork, once for all children
    from discreet.query.csv_files import conversion, copies
    from discreet.query.csv_files.copies import CsvTable, convert_anew, ledger_folder
    from discreet.query.policy.csv_format import CsvFormat

    folder, conversion._BATCH = ledger_folder(Path(sys.argv[1])), 1000
    table = CsvTable("t", (Path(sys.argv[2]),), CsvFormat(), sys.argv[3], Path(sys.argv[2]).parent)
    left = 0

    def counted(call):
        def step(*given, **named):
            global left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given, **named)
        return step

    for module, name in ((os, "open"), (os, "fsync"), (os, "replace"), (conversion, "_table")):
        setattr(module, name, counted(getattr(module, name)))
    for place in range(1, 100):
        child = os.fork()
        if child == 0:
            left = place
            convert_anew(folder, table)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        left = 0
        note = next(folder.glob("*.json"), None)
        print(place, os.WIFSIGNALED(status), "" if note is None else note.read_text(), flush=True)
        if not os.WIFSIGNALED(status):
            break
    """
)


def test_a_conversion_killed_at_any_step_leaves_the_old_copy_or_the_new_one(tmp_path: Path) -> None:
    source, ledger = tmp_path / "t.csv", tmp_path / "ledger.sqlite"
    source.write_bytes(b"uid,k,x\n" + b"p,a,1\n" * 24)
    folder = ledger_folder(ledger)
    current_copy(folder, CsvTable("t", (source,), CsvFormat(), "old", tmp_path)).release()
    script = [sys.executable, "-c", KILLED, ledger, source, "new"]
    told = subprocess.run(script, check=True, capture_output=True, text=True).stdout.splitlines()  # noqa: S603
    assert len(told) > 10  # it was killed at every one of these steps, and lived through the last
    assert [line.split()[1] for line in told] == ["True"] * (len(told) - 1) + ["False"]
    assert '"version": "old"' in told[0]
    for line in told:
        assert ('"version": "old"' in line) is not ('"version": "new"' in line)
    copy = current_copy(folder, CsvTable("t", (source,), CsvFormat(), "new", tmp_path))
    assert conversion.optional("pyarrow.parquet", extra="sql", purpose="").read_metadata(copy.path).num_rows == 24
    copy.release()
    assert sorted(path.suffix for path in folder.iterdir()) == [".copy", ".json", ".lock"]


AT_ONCE = textwrap.dedent(
    """
    import os, sys
    from pathlib import Path
    import pyarrow.compute, pyarrow.parquet  # before the fork, once for all children
    from discreet.query.csv_files.copies import CsvTable, convert_anew, current_copy, ledger_folder
    from discreet.query.policy.csv_format import CsvFormat

    folder = ledger_folder(Path(sys.argv[1]))
    table = CsvTable("t", (Path(sys.argv[2]),), CsvFormat(), "1", Path(sys.argv[2]).parent)
    here, gate = os.pipe()
    children = []
    for _ in range(4):
        children.append(os.fork())
        if children[-1] == 0:
            os.close(gate)
            os.read(here, 1)  # ends when the parent lets go: all begin at once
            for turn in range(3):
                copy = current_copy(folder, table)
                convert_anew(folder, table)
                os.write(1, b"%d\\n" % pyarrow.parquet.read_metadata(copy.path).num_rows)
                copy.release()
            os._exit(0)
    os.close(gate)
    sys.exit(any(os.waitpid(child, 0)[1] for child in children))
    """
)


def test_four_processes_convert_and_read_one_table_at_once(tmp_path: Path) -> None:
    source, ledger = tmp_path / "t.csv", tmp_path / "ledger.sqlite"
    source.write_bytes(b"uid,k,x\n" + b"p,a,1\n" * 500)
    script = [sys.executable, "-c", AT_ONCE, ledger, source]
    told = subprocess.run(script, check=True, capture_output=True, text=True)  # noqa: S603
    assert told.stdout.split() == ["500"] * 12


def test_four_threads_open_one_table_at_once_and_convert_it_once(tmp_path: Path, monkeypatch) -> None:
    source, folder = tmp_path / "t.csv", ledger_folder(tmp_path / "ledger.sqlite")
    source.write_bytes(SMALL)
    real, calls, gate = conversion.write_records, [], threading.Barrier(4)

    def counted(*given: object) -> None:
        calls.append(1)
        real(*given)  # type: ignore[arg-type]

    def run() -> None:
        gate.wait()
        current_copy(folder, CsvTable("t", (source,), CsvFormat(), "1", tmp_path)).release()

    monkeypatch.setattr(copies, "write_records", counted)
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [1]


def test_a_ledger_in_the_folder_of_the_source_does_not_make_its_copies_tables(tmp_path: Path) -> None:
    policy = written(tmp_path, SMALL)
    policy.write_text(policy.read_text().replace('"ledger.sqlite"', '"data/ledger.sqlite"'))
    assert units(policy) == {"p", "q"}
    assert units(policy) == {"p", "q"}
    assert (tmp_path / "data" / "ledger.sqlite.copies").is_dir()


def test_nothing_that_a_copy_is_bound_to_is_made_from_its_rows(tmp_path: Path) -> None:
    notes = []
    for name, content in (("one", SMALL), ("two", SMALL.replace(b"p,a,1", b"z,y,9"))):
        policy = written(tmp_path / name, content)
        os.utime(tmp_path / name / "data" / "t.csv", ns=(0, 0))
        opened(policy).close()
        (note,) = folder_of(policy).glob("*.json")
        notes.append({**json.loads(note.read_bytes()), "copy": None, "size": None})
    assert notes[0] == notes[1]


def test_a_header_is_read_with_its_line_ends_in_quotes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'uid,"two\nlines"\r\np,a\r\n')
    assert header_of("t", [tmp_path / "t.csv"], CsvFormat()) == ["uid", "two\nlines"]
