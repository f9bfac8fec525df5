"""Exhibits that tell the largest of several scores."""
