"""Prompts: the agent guide, in Chinese and in English."""

import mcp_types as types

from rearview.domain.errors import invalid_field
from rearview.mcp_adapter.guide import Guide

_PROMPTS = {
    "memory_guide_zh": ("zh", "记忆使用指南", "什么时候查、什么时候存、什么时候不要用记忆：触发词与反例。"),
    "memory_guide_en": (
        "en",
        "Guide to using memory",
        "When to search, when to store, and when not to call memory: trigger words and counter-examples.",
    ),
}


def list_prompts() -> types.ListPromptsResult:
    """Return the prompts; they take no arguments."""
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(name=name, title=title, description=description, arguments=[])
            for name, (_, title, description) in _PROMPTS.items()
        ]
    )


def get_prompt(guide: Guide, name: str) -> types.GetPromptResult:
    """Return a prompt. Raises: InvalidFields: there is none of this name."""
    if name not in _PROMPTS:
        raise invalid_field("name", f"{name[:64]!r} is none of {', '.join(_PROMPTS)}")
    language, _, description = _PROMPTS[name]
    content = types.TextContent(type="text", text=guide.text(language))
    return types.GetPromptResult(description=description, messages=[types.PromptMessage(role="user", content=content)])
