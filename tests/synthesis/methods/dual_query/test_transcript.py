"""Transcripts: rounds are kept before they are used, read back as they were, and never drawn twice."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import LedgerError, LedgerMismatch, LedgerTampered, NotCopyable, ParameterError
from discreet.synthesis.methods.dual_query.transcript import MemoryTranscript, Round, Transcript
from discreet.synthesis.sessions.file_transcript import FileTranscript
from tests.conftest import Rounds

TERMS = {"workload": "ages", "rounds": 5, "eta": "4/5"}
ROUNDS = tuple(Round(number, [number, 0, 7 * number], [1, -1, 1]) for number in range(1, 6))


def begun(path: Path, rounds: int) -> Path:
    with FileTranscript(path) as transcript:
        transcript.begin(TERMS)
        for one in ROUNDS[:rounds]:
            transcript.append(one)
    return path


def kept(path: Path) -> tuple[Round, ...]:
    with FileTranscript(path) as transcript:
        return transcript.rounds


@pytest.fixture(params=["memory", "file"])
def transcript(request: pytest.FixtureRequest, tmp_path: Path) -> Transcript:
    return MemoryTranscript() if request.param == "memory" else FileTranscript(tmp_path / "draws")


@pytest.mark.theorem("Transcript.privacy")
def test_rounds_come_back_as_they_were_drawn_and_in_order(transcript: Transcript) -> None:
    transcript.begin(TERMS)
    for one in ROUNDS:
        transcript.append(one)
    assert transcript.rounds == ROUNDS
    transcript.begin(dict(reversed(TERMS.items())))


@pytest.mark.theorem("Transcript.privacy")
def test_no_round_is_kept_twice_and_none_is_left_out(transcript: Transcript) -> None:
    transcript.begin(TERMS)
    transcript.append(ROUNDS[0])
    for wrong in (ROUNDS[0], ROUNDS[2]):
        with pytest.raises(LedgerError, match="round 2 comes next"):
            transcript.append(wrong)
    assert transcript.rounds == ROUNDS[:1]


def test_a_transcript_belongs_to_one_release(transcript: Transcript) -> None:
    transcript.begin(TERMS)
    with pytest.raises(LedgerMismatch, match="another release"):
        transcript.begin({**TERMS, "eta": "1"})


def test_a_transcript_is_not_copied(transcript: Transcript) -> None:
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            copied(transcript)


def test_a_file_is_begun_before_its_first_round_and_not_written_when_closed(tmp_path: Path) -> None:
    transcript = FileTranscript(tmp_path / "draws")
    with pytest.raises(LedgerError, match="begun"):
        transcript.append(ROUNDS[0])
    transcript.begin(TERMS)
    transcript.close()
    transcript.close()
    with pytest.raises(LedgerError, match="closed"):
        transcript.append(ROUNDS[0])


@pytest.mark.theorem("Transcript.privacy")
def test_another_opening_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    path = begun(tmp_path / "draws", 2)
    with FileTranscript(path) as again:
        assert (again.rounds, again.torn, dict(again.terms or {})) == (ROUNDS[:2], False, TERMS)
        again.begin(TERMS)
        again.append(ROUNDS[2])
    assert kept(path) == ROUNDS[:3]


def test_two_openings_at_once_are_refused(tmp_path: Path) -> None:
    path = begun(tmp_path / "draws", 1)
    with FileTranscript(path), pytest.raises(LedgerError, match="another process"):
        FileTranscript(path)
    assert kept(path) == ROUNDS[:1]


@pytest.mark.theorem("Transcript.privacy")
def test_wherever_a_crash_cuts_the_file_what_is_left_is_whole_rounds(tmp_path: Path) -> None:
    whole = begun(tmp_path / "draws", 3).read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for cut in sorted(
        {*range(0, len(whole), 29), *(end + step for end in ends for step in (-1, 0, 1))} - {len(whole) + 1}
    ):
        path = tmp_path / "cut"
        path.write_bytes(whole[:cut])
        lines = sum(end <= cut for end in ends)
        with FileTranscript(path) as transcript:
            assert transcript.rounds == ROUNDS[: max(lines - 1, 0)]
            assert transcript.torn == (cut > 0 and cut not in ends)
            assert (transcript.terms is None) == (lines == 0)
            transcript.begin(TERMS)
            transcript.append(ROUNDS[max(lines - 1, 0)])
        assert kept(path) == ROUNDS[: max(lines - 1, 0) + 1]


def test_a_changed_byte_is_noticed_or_is_the_end_of_a_lost_last_round(tmp_path: Path) -> None:
    path = begun(tmp_path / "draws", 2)
    content = path.read_bytes()
    ends = {place for place, byte in enumerate(content) if byte in b" \n"}
    for place in sorted(ends | {*range(0, len(content), 5)}):
        byte = content[place]
        for other in {ord("\n"), byte ^ 1} - {byte}:
            path.write_bytes(content[:place] + bytes([other]) + content[place + 1 :])
            try:
                found = kept(path)
            except (LedgerTampered, LedgerMismatch):
                continue
            assert place == len(content) - 1
            assert found == ROUNDS[:1]


def test_blocks_that_never_reached_the_disk_are_a_lost_last_round(tmp_path: Path) -> None:
    content = begun(tmp_path / "draws", 2).read_bytes()
    last = content[:-1].rfind(b"\n") + 1
    for hole in (content[:last] + b"\0" * 40, content[:last] + b"\0" * 30 + content[last + 30 :]):
        (tmp_path / "draws").write_bytes(hole)
        with FileTranscript(tmp_path / "draws") as transcript:
            assert (transcript.rounds, transcript.torn) == (ROUNDS[:1], True)
        assert (tmp_path / "draws").read_bytes() == content[:last]
    (tmp_path / "draws").write_bytes(content[: last - 9] + b"\0" * 8 + content[last - 1 :])
    with pytest.raises(LedgerTampered):
        FileTranscript(tmp_path / "draws")


@pytest.mark.parametrize(
    "content", [b"a key\n", b"one line", b"\n", b"\0" * 40, b"0" * 66, b"0" * 64 + b" [1]\n", b"ab\ncd"]
)
def test_a_file_that_is_no_transcript_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine"
    path.write_bytes(content)
    with pytest.raises((LedgerMismatch, LedgerTampered)):
        FileTranscript(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("words", ["[1]", "7", "null", "{" * 5000, "[" * 200_000])
def test_a_first_line_that_states_no_terms_is_refused(tmp_path: Path, words: str) -> None:
    path = tmp_path / "draws"
    with FileTranscript(path) as transcript:
        transcript._write(words)
    with pytest.raises((LedgerMismatch, LedgerTampered)):
        FileTranscript(path)


def test_pipes_devices_folders_and_impossible_names_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (
        tmp_path / "pipe",
        Path("/dev/null"),
        Path("/dev/zero"),
        tmp_path,
        tmp_path / "a\0b",
        tmp_path / ("x" * 300),
    ):
        with pytest.raises((LedgerError, LedgerMismatch)):
            FileTranscript(path)


def test_a_fork_cannot_go_on_with_a_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FileTranscript(tmp_path / "draws") as transcript:
        transcript.begin(TERMS)
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            with pytest.raises(LedgerError, match="forked"):
                transcript.append(ROUNDS[0])
        transcript.append(ROUNDS[0])
        assert transcript.rounds == ROUNDS[:1]


def test_lines_are_not_exchanged_or_taken_out(tmp_path: Path) -> None:
    path = begun(tmp_path / "draws", 3)
    lines = path.read_bytes().splitlines(keepends=True)
    for changed in ([0, 2, 1, 3], [0, 2, 3], [1, 2, 3]):
        path.write_bytes(b"".join(lines[place] for place in changed))
        with pytest.raises((LedgerMismatch, LedgerTampered)):
            FileTranscript(path)


@pytest.mark.parametrize(
    ("number", "queries", "signs"),
    [(0, [1], [1]), (True, [1], [1]), (1, [-1], [1]), (1, [1, 2], [1]), (1, [1], [0]), (1, [1], [-128])],
)  # fmt: skip
def test_what_is_no_round_is_refused(number: int, queries: list[int], signs: list[int]) -> None:
    with pytest.raises(ParameterError):
        Round(number, np.array(queries), np.array(signs, dtype=np.int8))


def test_a_round_is_read_only_and_compared_by_its_draws() -> None:
    one = Round(1, [3, 3], [1, -1])
    with pytest.raises(ValueError, match="read-only"):
        one.queries[0] = 4
    assert one == Round(1, [3, 3], [1, -1])
    assert len({one, Round(1, [3, 3], [1, -1]), Round(1, [3, 3], [1, 1])}) == 2
    assert one != "a round"


def test_a_file_that_cannot_be_opened_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be opened"):
        FileTranscript(tmp_path / "nowhere" / "draws")


KILLED = """
    import os, signal, sys
    from discreet.synthesis.sessions import file_transcript
    from discreet.synthesis.sessions.file_transcript import FileTranscript
    from discreet.synthesis.methods.dual_query.transcript import Round

    path, round_number, point = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    write, synchronize, writes = os.write, file_transcript.synchronize, [0]

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    def counted(place, line):
        writes[0] += 1
        if writes[0] == round_number + 1:  # the first is the header
            if point == "before":
                die()
            if point == "half":
                write(place, line[: len(line) // 2])
                die()
        return write(place, line)

    def synchronized(place):
        if writes[0] == round_number + 1 and point == "written":
            die()
        synchronize(place)
        if writes[0] == round_number + 1 and point == "durable":
            die()

    file_transcript.os.write, file_transcript.synchronize = counted, synchronized
    kept = FileTranscript(path)
    kept.begin({"workload": "ages"})
    for number in range(1, 6):
        kept.append(Round(number, [number, number], [1, -1]))
        print(number, flush=True)
"""


POINTS = [(3, "half"), (1, "half"), (3, "before"), (3, "written"), (5, "durable")]


@pytest.mark.theorem("Transcript.privacy")
def test_a_killed_process_leaves_every_round_that_it_used(tmp_path: Path, rounds: Rounds) -> None:
    for number, point in POINTS[: rounds(sample=1, full=len(POINTS))]:
        path = tmp_path / f"{point} {number}"
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, "-c", textwrap.dedent(KILLED), str(path), str(number), point],
            capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL, done.stderr
        used = [int(line) for line in done.stdout.split()]
        with FileTranscript(path) as transcript:
            found = [one.number for one in transcript.rounds]
            assert transcript.torn == (point == "half")
        assert used == list(range(1, number))
        assert found == used + ([number] if point in ("written", "durable") else [])
