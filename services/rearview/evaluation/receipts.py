"""Waiting for the proof of a forget."""

import time

from rearview.client import Client
from rearview.v1 import forget_pb2

PATIENCE_SECONDS = 60.0


def verified(client: Client, receipt: forget_pb2.ForgetReceipt) -> forget_pb2.ForgetReceipt:
    """Return a receipt as soon as it is VERIFIED, or as it stands when that takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while receipt.state != forget_pb2.FORGET_STATE_VERIFIED and time.monotonic() < deadline:
        time.sleep(0.2)
        receipt = client.get_forget_receipt(receipt.name)
    return receipt


def is_proof(receipt: forget_pb2.ForgetReceipt) -> bool:
    """Whether a receipt is VERIFIED, and says of what."""
    return receipt.state == forget_pb2.FORGET_STATE_VERIFIED and len(receipt.digest) == 64 and bool(receipt.places)


def course(receipt: forget_pb2.ForgetReceipt) -> str:
    """Return which states a receipt came through, and how long after the forget."""
    begun = receipt.tombstone_time.ToDatetime()
    reached = {"PURGED": receipt.purge_time, "VERIFIED": receipt.verify_time}
    later = [
        f"{name} after {(at.ToDatetime() - begun).total_seconds():.1f} s"
        for name, at in reached.items()
        if at.ByteSize()
    ]
    return ", ".join(["TOMBSTONED at once", *later])
