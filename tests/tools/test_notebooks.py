"""The notebooks are the tutorials, executed."""

from __future__ import annotations

import json
import re

import pytest

from tools.pages import notebooks
from tools.pages.cells import Raised, run_cell

PAGE = """# A story

See {py:class}`Laplace <discreet.Laplace>` and [why](../concepts/law.md#one), or [the paper](https://papers.example/1).

```{toctree}
hidden
```

:::{note}
Take care.
:::

```python
>>> x = 20
>>> y = 22
>>> x + y
42
>>> print("hello")  # doctest: +ELLIPSIS
h...
>>> 1 / 0
Traceback (most recent call last):
ZeroDivisionError: division by zero
```

```python
z = 3
```
"""


@pytest.fixture
def repository(tmp_path):
    """A repository with one tutorial."""
    (tmp_path / "docs" / "tutorials").mkdir(parents=True)
    (tmp_path / "docs" / "tutorials" / "story.md").write_text(PAGE)
    (tmp_path / "docs" / "tutorials" / "index.md").write_text("# Tutorials\n")
    return tmp_path


def test_the_notebooks_are_current():
    assert notebooks.main(["--check"]) == 0, "run `make notebooks`"


def test_a_notebook_holds_the_words_the_code_and_its_outputs(repository):
    assert notebooks.main(["--root", str(repository)]) == 0
    made = json.loads((repository / "examples" / "story.ipynb").read_text())
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert [cell["cell_type"] for cell in made["cells"]] == ["markdown", "markdown", "code", "code", "code", "code"]
    prose, note, total, greeting, failing, last = made["cells"]
    assert "`Laplace` and [why](../docs/concepts/law.md#one)" in "".join(prose["source"])
    assert "[the paper](https://papers.example/1)" in "".join(prose["source"])
    assert "".join(note["source"]) == "> **Note**\n>\n> Take care."
    assert "".join(total["source"]) == "x = 20\ny = 22\nx + y"
    assert total["outputs"][0]["data"] == {"text/plain": ["42"]}
    assert (greeting["source"], greeting["outputs"][0]["text"]) == (['print("hello")'], ["hello\n"])
    assert failing["outputs"][0]["ename"] == "ZeroDivisionError"
    assert (last["execution_count"], last["outputs"]) == (4, [])


def test_cell_ids_are_valid_unique_and_stay_when_another_cell_changes(repository):
    page = repository / "docs" / "tutorials" / "story.md"
    before = [identity for identity, _ in notebooks.identified(notebooks.cells(page))]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", identity) for identity in before)
    page.write_text(PAGE.replace("z = 3", "z = 4").replace("# A story", "# A tale") + "\n```python\nz = 4\n```\n")
    after = [identity for identity, _ in notebooks.identified(notebooks.cells(page))]
    assert after[1:5] == before[1:5]
    assert len(set(after)) == len(after)


def test_check_ignores_outputs_but_not_sources(repository):
    root = ["--root", str(repository)]
    assert notebooks.main(["--check", *root]) == 1
    assert notebooks.main(root) == 0
    path = repository / "examples" / "story.ipynb"
    made = json.loads(path.read_text())
    made["cells"][2]["outputs"] = []
    path.write_text(json.dumps(made))
    assert notebooks.main(["--check", *root]) == 0
    made["cells"][2]["source"] = ["x + 1"]
    path.write_text(json.dumps(made))
    assert notebooks.main(["--check", *root]) == 1


def test_check_names_a_notebook_without_a_tutorial(repository, capsys):
    notebooks.main(["--root", str(repository)])
    (repository / "docs" / "tutorials" / "story.md").unlink()
    assert notebooks.main(["--check", "--root", str(repository)]) == 1
    assert "examples/story.ipynb is not made from a tutorial" in capsys.readouterr().err


def test_an_exception_the_page_does_not_show_stops_the_making(repository, capsys):
    (repository / "docs" / "tutorials" / "story.md").write_text("```python\n>>> 1 / 0\n1\n```\n")
    assert notebooks.main(["--root", str(repository)]) == 1
    assert "docs/tutorials/story.md: cell 1 raised ZeroDivisionError" in capsys.readouterr().err


def test_html_and_figures_are_kept(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names = {}
    source = "class Shown:\n    def _repr_html_(self): return '<b>1</b>'\n    def __repr__(self): return '1'\nShown()"
    assert run_cell(source, names, 1)[0]["data"] == {"text/plain": ["1"], "text/html": ["<b>1</b>"]}
    outputs = run_cell("import matplotlib.pyplot as plt\nfigure = plt.figure()", names, 2)
    assert [list(output["data"]) for output in outputs] == [["image/png"]]
    assert run_cell("1", names, 3)[1:] == []


def test_a_cell_that_raises_unannounced_is_refused():
    with pytest.raises(Raised, match="NameError"):
        run_cell("nothing", {}, 1)


def test_a_shell_block_and_a_file_become_cells_that_jupyter_runs(repository):
    written = "```{code-block} text\n:caption: a.txt\n\none\n```\n"
    (repository / "docs" / "tutorials" / "story.md").write_text(written + "```console\n$ cat a.txt\none\n```\n")
    assert notebooks.main(["--root", str(repository)]) == 0
    made = json.loads((repository / "examples" / "story.ipynb").read_text())
    assert ["".join(cell["source"]) for cell in made["cells"]] == ["%%writefile a.txt\none", "!cat a.txt"]
    assert ["".join(cell["outputs"][0]["text"]) for cell in made["cells"]] == ["Writing a.txt\n", "one\n"]
