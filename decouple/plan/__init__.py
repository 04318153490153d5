"""Where each finding goes: this repository's packages, and the RFC's directories."""
