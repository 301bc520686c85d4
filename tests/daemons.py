# SPDX-License-Identifier: GPL-2.0-or-later
"""virtio-fs daemons on this machine, for tests and benches that load them by vqload: vqfsd, and the
stock ones as they run here (tests/lab/host-lib.sh says the same to guests)."""
import contextlib
import functools
import os
import signal
import subprocess
import tempfile

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
VQLOAD = os.path.join(BUILD, "vqload")


def c_virtiofsd(socket, share):
    return ["/usr/lib/qemu/virtiofsd", "-f", "--thread-pool-size=0", "-o", "sandbox=chroot",
            "-o", "log_level=err", "--socket-path=" + socket, "-o", "source=" + share]


def rust_virtiofsd(socket, share):
    return [os.path.join(rust_folder(), "run"), "--sandbox", "none", "--log-level", "error",
            "--socket-path=" + socket, "--shared-dir=" + share]


def vqfsd(socket, share):
    return [os.path.join(BUILD, "vqfsd"), "--log-level", "error", "--socket-path=" + socket,
            "--shared-dir=" + share]


@functools.lru_cache(maxsize=None)
def rust_folder():
    """Where fetch.sh has put it, "" when it cannot be fetched."""
    said = subprocess.run([os.path.join(TOP, "tests/lab/fetch.sh"), "rust-virtiofsd"],
                          stdout=subprocess.PIPE, text=True, check=False)
    return said.stdout.strip() if said.returncode == 0 else ""


@contextlib.contextmanager
def daemon(command, options=(), share=None, folder=None, cpu=None):
    """(socket, share, process) of @command with @options, on CPU @cpu, its share made in @folder
    unless there is one; all gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="vqload-e2e.", dir=folder) as work:
        socket = os.path.join(work, "sock")
        share = share or os.path.join(work, "share")
        os.makedirs(share, exist_ok=True)
        process = subprocess.Popen(pinned(cpu, command(socket, share) + list(options)),
                                   start_new_session=True, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            yield socket, share, process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def pinned(cpu, command):
    return ["taskset", "-c", cpu] + command if cpu else command
