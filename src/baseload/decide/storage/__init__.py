"""Which volume a claim gets, where one is made for it, and on which nodes volumes are attached."""
