"""AWS. boto3 is imported by the call that needs it; everything else here works on what its clients return."""
