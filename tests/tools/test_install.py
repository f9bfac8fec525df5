"""Setting up says how far it is, changes no pinned package, and shows pip's words where it fails."""

from __future__ import annotations

from importlib.metadata import version

from tools.install import install, main, pins, stage

HERE = f"pytest=={version('pytest')}"


def test_pins_are_read_without_hashes_and_extras():
    text = "# words\n--only-binary :all:\nnumpy==2.4.6 \\\n    --hash=sha256:00\npsycopg[binary]==3.3.8\nloose>=1\n"
    assert pins(text) == ["numpy==2.4.6", "psycopg==3.3.8"]


def test_a_stage_is_read_from_what_pip_says():
    said = ["Collecting torch==2.13.0\n", "  Downloading torch.whl (1 MB)\n", "Processing ./pyspark.tar.gz\n"]
    assert stage([]) == "0 packages found"
    assert stage(said) == "2 packages found"
    said.append("  Building wheel for pyspark (pyproject.toml): started\n")
    assert stage(said) == "building pyspark"
    said.append("Installing collected packages: torch, pyspark\n")
    assert stage(said) == "unpacking 2 packages"


def test_progress_is_printed_while_pip_works(tmp_path, capfd):
    listed = tmp_path / "listed.txt"
    listed.write_text(HERE, encoding="utf-8")
    assert install(listed, options=["--no-index"], every=0.01) == 0
    first, *between, last = capfd.readouterr().out.splitlines()
    assert first == f"installing {listed} (1 packages)"
    assert between
    assert all(line.endswith(" s: 0 packages found") for line in between)
    assert last.endswith(f" s: {listed} is installed")


def test_what_pip_says_is_shown_when_it_fails(tmp_path, capfd):
    listed = tmp_path / "listed.txt"
    listed.write_text("a-package-nobody-has==1", encoding="utf-8")
    assert main([str(listed), "--no-index"]) != 0
    error = capfd.readouterr().err
    assert "No matching distribution found for a-package-nobody-has==1" in error
    assert f"pip could not install {listed}" in error


def test_no_package_of_the_other_file_is_changed(tmp_path, capfd):
    listed, kept = tmp_path / "listed.txt", tmp_path / "kept.txt"
    listed.write_text(HERE, encoding="utf-8")
    kept.write_text(f"{HERE} \\\n    --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    assert main([str(listed), "--no-index", "--within", str(kept)]) == 0
    kept.write_text("pytest==0.1\n", encoding="utf-8")
    assert main([str(listed), "--no-index", "--within", str(kept)]) != 0
    assert "pytest==0.1" in capfd.readouterr().err
