"""LlamaIndex: guarded agents and workflows, and the guarded tools that they are made of."""
