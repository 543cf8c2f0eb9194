"""The provisioning decision: which nodes would be launched for what is pending, and why a pod can go nowhere."""
