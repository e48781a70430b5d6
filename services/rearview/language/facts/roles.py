"""Whose words can state what."""

SPEAKING_ROLES = frozenset(("user", "human", "participant"))
"""Roles whose turns can state facts about their speaker; what assistants, tools and documents say is theirs."""

TOOL_ROLES = frozenset(("tool", "function"))
"""Roles whose structured results hold ids and states."""
