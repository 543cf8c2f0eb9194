"""What a NodeClaim, its Node and its NodePool say is to be done next: from launch to the end of the instance."""
