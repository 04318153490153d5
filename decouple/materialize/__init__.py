"""Writes a tree as the RFC draws it: whole files moved, device code cut out, includes rewritten, patches for the rest."""
