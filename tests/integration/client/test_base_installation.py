"""The client imports without the packages of the extras."""

import subprocess
import sys

BLOCKED = [
    "jwt", "cryptography", "prometheus_client", "opentelemetry", "uvloop", "numpy", "psycopg", "psycopg_pool", "redis",
    "minio", "pgvector", "procrastinate", "yoyo", "grpc_health", "grpc_reflection", "grpc_channelz", "onnxruntime",
    "torch", "spacy", "jieba", "langgraph", "langchain_core", "agents", "openai",
]  # fmt: skip

SCRIPT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(name + " is not of the base installation", name=name)
        return None

BLOCKED = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Blocked())
import rearview.client
import rearview.rpc.channel, rearview.rpc.errors, rearview.rpc.call_context, rearview.rpc.scopes
import rearview.rpc.convert.events, rearview.rpc.convert.memories, rearview.rpc.convert.recalls
import rearview.rpc.convert.forgets, rearview.rpc.convert.tenancy, rearview.rpc.convert.namespaces
import rearview.telemetry.logs
import rearview.client.openai_agents
rearview.client.Client.connect("localhost:1", "k").close()
try:
    import rearview.client.langgraph
except ModuleNotFoundError as error:
    assert "install rearview-memory[langgraph]" in str(error), error
try:
    import rearview.rpc.identity
except ImportError:
    print("ok")
"""


def test_the_client_needs_no_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, ",".join(BLOCKED)],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "ok"), done.stderr
