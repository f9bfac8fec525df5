"""Attacks on models, plain and private: inversion, membership, an audit of a training, extraction of text."""
