"""Measuring Rearview through its public client only: evaluations, benchmarks and the demo."""
