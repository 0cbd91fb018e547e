"""How a policy file becomes a `Policy`: read, extended, checked, and prepared for the core."""
