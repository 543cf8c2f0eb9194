"""Consolidation beyond Karpenter's: any set of nodes, and a bound on what the best of all ends could cost."""
