"""Loads for the speed figures of docs/benchmarks.md; nothing here is part of the installed package."""
