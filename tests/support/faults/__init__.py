"""Killing the lifecycle's work at its named fault points, and what must hold afterwards.

A new fault point is named in `rearview.lifecycle.fault_points.FAULT_POINTS` and reached by `FaultPoints.reach`; work of
a new kind gets a scenario in `scenarios.py`. The matrix then has the point, and fails as long as nothing reaches it.
"""
