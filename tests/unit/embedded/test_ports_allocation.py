"""Ports: free ones only, remembered, never two stacks on one."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from rearview.embedded import ports_allocation
from rearview.embedded.errors import NoFreePort
from rearview.embedded.ports_allocation import LOOPBACK, PortNeed, allocate, is_free

NEEDS = (PortNeed("one"), PortNeed("two", with_second=True), PortNeed("three"))
SECOND_PORT_DISTANCE = 500


@pytest.fixture(autouse=True)
def _own_range(monkeypatch: pytest.MonkeyPatch, worker_id: str) -> None:
    """Ports that no stack of another test takes meanwhile: below theirs, and apart for each test process."""
    first = 2_000 + 1_000 * (int(worker_id.removeprefix("gw")) % 9 if worker_id != "master" else 9)
    monkeypatch.setattr(ports_allocation, "FIRST_PORT", first)
    monkeypatch.setattr(ports_allocation, "LAST_PORT", first + SECOND_PORT_DISTANCE)
    monkeypatch.setattr(ports_allocation, "SECOND_PORT_DISTANCE", SECOND_PORT_DISTANCE)


def listen_on(port: int) -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((LOOPBACK, port))
    server.listen(1)
    return server


def test_ports_are_distinct_and_free_with_their_seconds(tmp_path: Path) -> None:
    with allocate(NEEDS, tmp_path / "ports.json") as lease:
        ports = list(lease.as_mapping().values())
        assert len(set(ports)) == len(NEEDS)
        assert all(is_free(port) for port in ports)
        assert is_free(lease["two"] + SECOND_PORT_DISTANCE)


def test_ports_are_remembered(tmp_path: Path) -> None:
    with allocate(NEEDS, tmp_path / "ports.json") as lease:
        first = lease.as_mapping()
    with allocate(NEEDS, tmp_path / "ports.json") as lease:
        assert lease.as_mapping() == first


def test_a_port_taken_meanwhile_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    with allocate(NEEDS, tmp_path / "ports.json") as lease:
        first = lease.as_mapping()
    with listen_on(first["one"]), allocate(NEEDS, tmp_path / "ports.json") as lease:
        assert lease["one"] != first["one"]
        assert (lease["two"], lease["three"]) == (first["two"], first["three"])


def test_a_port_whose_second_is_taken_is_not_used(tmp_path: Path) -> None:
    with allocate(NEEDS, tmp_path / "ports.json") as lease:
        first = lease.as_mapping()
    with listen_on(first["two"] + SECOND_PORT_DISTANCE), allocate(NEEDS, tmp_path / "ports.json") as lease:
        assert lease["two"] != first["two"]


def test_two_stacks_that_remember_the_same_ports_do_not_share_them(tmp_path: Path) -> None:
    with allocate(NEEDS, tmp_path / "a.json"):
        (tmp_path / "b.json").write_bytes((tmp_path / "a.json").read_bytes())
        with allocate(NEEDS, tmp_path / "a.json") as one, allocate(NEEDS, tmp_path / "b.json") as other:
            assert not set(one.as_mapping().values()) & set(other.as_mapping().values())


def test_the_preferred_port_is_taken_when_it_is_free(tmp_path: Path) -> None:
    with allocate([PortNeed("any")], tmp_path / "ports.json") as lease:
        wanted = lease["any"]
    needs = [PortNeed("gateway", preferred=wanted)]
    with allocate(needs, tmp_path / "a.json") as lease:
        assert lease["gateway"] == wanted
        with allocate(needs, tmp_path / "b.json") as other:
            assert other["gateway"] != wanted


@pytest.mark.parametrize("content", ["", "[]", '{"one": "text", "two": 0, "three": 70000}'])
def test_a_damaged_memory_of_ports_is_forgotten(tmp_path: Path, content: str) -> None:
    (tmp_path / "ports.json").write_text(content, encoding="utf-8")
    with allocate(NEEDS, tmp_path / "ports.json") as lease:
        assert all(1024 <= port < 65_536 - SECOND_PORT_DISTANCE for port in lease.as_mapping().values())


def test_a_full_range_is_reported_and_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with allocate([PortNeed("any")], tmp_path / "any.json") as lease:
        port = lease["any"]
    monkeypatch.setattr(ports_allocation, "FIRST_PORT", port)
    monkeypatch.setattr(ports_allocation, "LAST_PORT", port + 1)
    with pytest.raises(NoFreePort, match="for two"):
        allocate([PortNeed("one"), PortNeed("two")], tmp_path / "ports.json")
    with allocate([PortNeed("one")], tmp_path / "ports.json") as lease:
        assert lease["one"] == port
