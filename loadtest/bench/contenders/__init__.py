"""The contenders, a file each; every one runs in an environment of its own and is imported there only."""
