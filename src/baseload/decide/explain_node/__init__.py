"""Why one node is given up or kept, and the nearest change that would free it."""
