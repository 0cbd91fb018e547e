"""What every adapter does alike: check a call, run it, record what came of it."""
