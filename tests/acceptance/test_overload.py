"""Four times as many recalls as the stack can answer: each is answered or told when to come back; then all is well."""

from loadtest.open_load import ANSWERED, SHED
from loadtest.overload import filled_namespace, overload
from rearview.client import Client
from rearview.embedded.endpoints import Endpoints
from tests.support.supervised_stack import SupervisedStack


async def test_every_call_is_answered_or_told_when_to_come_back(
    stack: SupervisedStack, endpoints: Endpoints, admin: Client
) -> None:
    namespace, questions = filled_namespace(admin)
    run = await overload(
        endpoints, stack.folder, namespace, questions, peak_seconds=1.0, seconds=6.0, recovery_seconds=2.0
    )
    assert run.wrong_endings() == []
    assert run.overload.counts[ANSWERED] > 0
    assert run.overload.counts[SHED] > 0
    assert set(run.rss_mib) == {"gateway", "retriever", "writer", "lifecycle"}
    assert set(run.recovery.counts) <= {ANSWERED, SHED}
    assert admin.recall(questions[0], namespace=namespace, no_cache=True).hits
