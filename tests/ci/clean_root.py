"""A Debian system with nothing but its base packages, in which the first sessions of the book run as on a new machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

RELEASE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
# Files about the network of a machine: names of hosts, package sources, certificates.
NETWORK = ["/etc/resolv.conf", "/etc/hosts", "/etc/apt/apt.conf.d", "/etc/pip.conf", "/etc/ssl/certs", "/usr/local/share/ca-certificates"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Parameters: root, toolchains, their programs, folder in the home, command. Toolchains stay where
# they are, since one may be a link to another. The mounts end with the command, as they are made in
# a mount namespace of its own.
ENTER = """
mount -t proc proc "$1/proc"
mount --bind /sys "$1/sys"
mount --rbind /dev "$1/dev"
if [ -n "$2" ]; then
  mkdir -p "$1$2" "$1$3"
  mount --bind "$2" "$1$2"
  mount --bind "$3" "$1$3"
  mount -o remount,bind,ro "$1$2"
  mount -o remount,bind,ro "$1$3"
fi
exec chroot "$1" /bin/bash -eu -o pipefail -c 'cd "$HOME/$1"; eval "$2"' session "$4" "$5"
"""


def base(folder):
    """Return the base system in a folder, which is made by debootstrap unless it is there."""
    root = folder / RELEASE
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        sys.exit("error: needs root and debootstrap: apt-get install debootstrap")
    if not root.exists():
        made = folder / f"{RELEASE}.new"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        command = ["debootstrap", "--variant=minbase", "--include=ca-certificates", RELEASE, str(made), MIRROR]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        copy_network(made)
        made.rename(root)
    return root


def copy_network(root):
    for name in NETWORK:
        source, copy = Path(name), root / name.lstrip("/")
        if source.is_dir():
            copy.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "--archive", f"{source}/.", str(copy)], check=True)
        elif source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


class CleanRoot:
    """A copy of the base system, for one session: it is deleted at the end of a `with` block."""

    def __init__(self, systems, name, with_rust):
        self.root = systems / name
        self.work = self.root / "root"
        self.toolchain = toolchain() if with_rust else ("", "")
        self.environment = {"HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb", "PATH": PATH, "FERRITE": "/root/ferrite"}
        if with_rust:
            toolchains, programs = self.toolchain
            self.environment |= {"RUSTUP_HOME": toolchains, "PATH": f"{programs}:{PATH}"}
        shutil.rmtree(self.root, ignore_errors=True)
        subprocess.run(["cp", "--archive", "--reflink=auto", str(base(systems)), str(self.root)], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def install(self, packages):
        """Install Debian packages."""
        return self.run(f"apt-get -qq update\nDEBIAN_FRONTEND=noninteractive apt-get -qq install {packages}", ".", subprocess.STDOUT)

    def run(self, command, folder, errors=subprocess.PIPE):
        """Run a bash command in a folder of the user's home; return its exit status, output and standard error."""
        enter = ["unshare", "--mount", "bash", "-eu", "-c", ENTER, "enter", str(self.root), *self.toolchain, folder, command]
        return subprocess.run(
            enter, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
        )


def toolchain():
    """Return the folders of this machine's Rust toolchains and of the programs cargo and rustc."""
    home = Path.home()
    cargo = Path(os.environ.get("CARGO_HOME", home / ".cargo"))
    return os.environ.get("RUSTUP_HOME", str(home / ".rustup")), str(cargo / "bin")
