"""What drives coroutines through time."""
