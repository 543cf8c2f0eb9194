"""Where machines, live instance types and prices come from: the port to a cloud, and the clouds."""
