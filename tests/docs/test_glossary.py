"""One word has one meaning in all public signatures, and the glossary says which."""

from __future__ import annotations

from tools.pages import glossary
from tools.pages.signatures import Callee, attributes, parameters


def test_the_page_is_current():
    assert glossary.main(["--check"]) == 0, "run `make glossary`"


def test_a_word_that_many_signatures_share_has_an_entry():
    assert glossary.missing() == []


def test_no_parameter_and_no_attribute_has_a_name_that_another_word_stands_for():
    assert glossary.misused() == []


def test_every_exception_has_its_reason_and_its_use():
    assert glossary.idle() == []
    assert all(reason for word in glossary.avoided() for reason in word.allowed.values())


def test_a_word_that_is_explained_and_avoided_has_exceptions():
    explained = {term.word for term in glossary.terms()}
    assert all(word.allowed for word in glossary.avoided() if word.word in explained)


def test_parameters_of_functions_constructors_and_methods_are_found():
    found = {word: {one.name for one in takers} for word, takers in parameters().items()}
    assert {"Laplace", "mean"} <= found["epsilon"]
    assert "Session.sql" in found["sql"]


def test_a_misused_word_is_reported(monkeypatch):
    monkeypatch.setattr(glossary, "avoided", lambda _root: [glossary.Avoided("epsilon", "price", {"m*": "so"})])
    told = glossary.misused()
    assert any("Laplace takes epsilon=, write price" in line for line in told)
    assert not any("statistics.mean:" in line for line in told)


def test_properties_fields_slots_and_what_methods_assign_are_attributes():
    found = {word: {one.name for one in holders} for word, holders in attributes().items()}
    assert "Reconstruction" in found["wrong"]  # a property
    assert "Enclosure" in found["lower"]  # a field
    assert "Race" in found["places"]  # assigned by __init__
    assert not any(word.startswith("_") for word in found)


def test_a_misused_attribute_is_reported(monkeypatch):
    held = {"fraction": [Callee("Reconstruction", "discreet.attacks.Reconstruction")]}
    monkeypatch.setattr(glossary, "attributes", lambda: held)
    assert any("Reconstruction has .fraction, write" in line for line in glossary.misused())
