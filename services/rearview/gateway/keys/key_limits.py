"""A key that is limited to some namespaces cannot make or take over one that reaches further."""

from rearview.domain.errors import NamespaceDenied


def check_within_limits(own: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Check that a key limited to `own` (empty: not limited) may dispose of one limited to `others`.

    Raises:
        NamespaceDenied: the other key reaches further.
    """
    if not own:
        return
    beyond = [name for name in others if name not in own]
    if beyond or not others:
        name = beyond[0] if beyond else ""
        raise NamespaceDenied(
            "this key is limited to some namespaces, and the other one reaches further", namespace=name, access="write"
        )
