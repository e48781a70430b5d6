"""Load tests: agents that talk, ask and forget over gRPC, as Locust users."""
