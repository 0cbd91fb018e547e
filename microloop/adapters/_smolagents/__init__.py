"""What the guarded agents and tools of the smolagents adapter are made of."""
