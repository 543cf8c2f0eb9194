"""Storage: claims and volumes, the disks behind them, and what of them is attached to which node.

It stands for kube-controller-manager's controllers of volumes and of attachments, and for the sidecars of CSI drivers.
"""
