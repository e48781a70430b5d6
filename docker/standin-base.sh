#!/bin/bash
# Makes a STAND-IN for python:3.11-slim-bookworm without a registry: Debian by debootstrap, and the Python that runs here.
# Its Python is not the official build: for tests, not for use.
set -euo pipefail
name="${1:?usage: standin-base.sh IMAGE}"
mirror="${MIRROR:-http://deb.debian.org/debian}"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
libraries=libssl3,libffi8,libsqlite3-0,zlib1g,libbz2-1.0,liblzma5,libreadline8,libuuid1,libncursesw6,libexpat1
debootstrap --variant=minbase --include="ca-certificates,$libraries" bookworm "$root" "$mirror"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}

prefix=$(python3.11 -c 'import sys; print(sys.base_prefix)')
mkdir -p "$root/usr/local/bin" "$root/usr/local/lib"
cp "$(readlink -f "$prefix/bin/python3.11")" "$root/usr/local/bin/python3.11"
ln -s python3.11 "$root/usr/local/bin/python3"
ln -s python3.11 "$root/usr/local/bin/python"
cp "$prefix"/lib/libpython3.11.so* "$root/usr/local/lib/" 2> /dev/null || true
tar -C "$prefix/lib" --exclude=site-packages --exclude=test --exclude='config-3.11*' --exclude=__pycache__ \
  --exclude=idlelib --exclude=tkinter -cf - python3.11 | tar -C "$root/usr/local/lib" -xf -
mkdir -p "$root/usr/local/lib/python3.11/site-packages"
chroot "$root" /sbin/ldconfig
chroot "$root" /usr/local/bin/python -m ensurepip --default-pip

# The PATH is that of the official image, whose builds find groupadd in /usr/sbin.
tar -C "$root" -c . | podman import \
  --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin' \
  --change 'CMD ["python"]' --change 'LABEL io.rearview.standin=true' - "$name"
