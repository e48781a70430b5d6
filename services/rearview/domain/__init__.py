"""What memories, events and forgets are, and the mathematics of finding them. Standard library and numpy only."""
