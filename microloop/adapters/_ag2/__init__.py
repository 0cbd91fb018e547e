"""The parts of the AG2 adapter."""
