"""Does this pod fit there: the one engine that provisioning, disruption, rebalancing and the scheduler stand on."""
