"""Why a pod has no place, as something that can be acted on: what clashes, what comes nearest, what to change."""
