"""The one-machine stack: PostgreSQL, Valkey and an S3 server from wheels, and the supervisor of the services.

One foreground process (`supervisor.py`) owns every other process of a stack. All that a stack keeps lies in one data
folder (`paths.py`); deleting that folder while the stack is down deletes the stack.
"""
