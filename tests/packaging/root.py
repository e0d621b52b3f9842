"""A folder as the root of a program: with mounts of its own, as the user who is named, with the environment that is
given and no other. What a container or a unit does besides (namespaces of the network, filters of system calls) is
not done here. Needs root."""

import os
import shlex
import subprocess

# $1: the folder, $2: ro or rw, $3: user:group, $4: how many binds; then source and target of each; then words.
# The marks of the stack are passed on, so that it finds what it has to end.
_ENTER = r"""
set -eu
root=$1 mode=$2 user=$3 binds=$4; shift 4
mount --bind "$root" "$root"
while [ "$binds" -gt 0 ]; do
  mount --bind "$1" "$root$2"
  shift 2; binds=$((binds - 1))
done
[ ! -d "$root/proc" ] || mount -t proc proc "$root/proc"
[ "$mode" = rw ] || mount -o remount,bind,ro "$root"
exec env -i $(env | grep ^FANLINE_STACK_TAG_ || true) /usr/bin/setpriv --no-new-privs -- \
  /usr/sbin/chroot --userspec="$user" --groups= "$root" "$@"
"""


class Root:
    """`binds`: {path inside: what is seen there}; the paths inside exist."""

    def __init__(self, folder):
        self.folder = folder

    def argv(self, words, user="0:0", environment=(), binds=(), read_only=False):
        """A command line that is that program inside: the same process, so signals reach it."""
        bound = [word for inside, outside in dict(binds).items() for word in (outside, inside)]
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in dict(environment).items())
        script = _ENTER.replace("env -i ", f"env -i {given} ")
        return ["/usr/bin/unshare", "--mount", "--propagation", "private", "--", "/bin/sh", "-c", script, "enter",
                str(self.folder), "ro" if read_only else "rw", user, str(len(bound) // 2), *map(str, bound), *map(str, words)]

    def run(self, *words, check=True, **how):
        """(code, what it said)."""
        done = subprocess.run(self.argv(words, **how), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, check=False)
        assert not check or done.returncode == 0, f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}"
        return done.returncode, done.stdout
