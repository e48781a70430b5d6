"""A LangGraph store whose items are memories.

    with Client.from_endpoints(namespace="agents") as client:
        store = RearviewStore(client)
        store.put(("users", "u1"), "likes", {"text": "我喜欢靠窗的座位"})
        store.search(("users",), query="Where does she like to sit?")

Needs the extra `langgraph`.
"""

try:
    from rearview.client.langgraph.store import RearviewStore
except ModuleNotFoundError as absent:
    if (absent.name or "").partition(".")[0] != "langgraph":
        raise
    raise ModuleNotFoundError(
        "the LangGraph adapter needs langgraph-checkpoint: install rearview-memory[langgraph]", name=absent.name
    ) from absent

__all__ = ["RearviewStore"]
