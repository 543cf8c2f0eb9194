"""What carries decisions out: objects written, machines launched and ended, pods evicted."""
