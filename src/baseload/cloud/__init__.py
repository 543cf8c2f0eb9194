"""Clouds: where instance types, prices and machines come from."""
