"""`make bench`: one report of what Rearview takes and gives, alone and beside what a user would pick instead."""
