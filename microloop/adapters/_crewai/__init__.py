"""What the hooks and the guarded tools of the CrewAI adapter are made of."""
