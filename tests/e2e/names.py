#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""names.py DIR: names and attributes of all kinds below DIR, as JSON: what was seen."""
import errno
import json
import os
import stat
import sys

FILES = 1000


def refusal(function, *args):
    """The name of the error that it ends with."""
    try:
        function(*args)
    except OSError as e:
        return errno.errorcode[e.errno]
    return None


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def extended():
    write("x", "")
    os.setxattr("x", "user.a", b"1")
    os.setxattr("x", "user.b", b"2" * 1000)
    os.setxattr("x", "user.a", b"3", os.XATTR_REPLACE)
    seen = {"list": sorted(n for n in os.listxattr("x") if n.startswith("user.")),
            "a": os.getxattr("x", "user.a").decode(), "b": len(os.getxattr("x", "user.b")),
            "again": refusal(os.setxattr, "x", "user.a", b"", os.XATTR_CREATE)}
    os.removexattr("x", "user.a")
    seen["removed"] = refusal(os.getxattr, "x", "user.a")
    return seen


def links():
    write("target", "text")
    os.symlink("target", "symbolic")
    os.link("target", "hard")
    seen = {"read": os.readlink("symbolic"), "followed": read("symbolic"),
            "links": os.stat("hard").st_nlink, "same": os.path.samefile("target", "hard"),
            "loop": None}
    os.symlink("loop", "loop")
    seen["loop"] = refusal(os.stat, "loop")
    os.unlink("target")
    seen["left"] = [os.stat("hard").st_nlink, read("hard"), refusal(os.stat, "symbolic")]
    return seen


def renamed():
    write("old", "old")
    write("new", "new")
    os.rename("old", "new")
    os.makedirs("from/below")
    write("from/below/file", "moved")
    os.mkdir("to")
    os.rename("from", "to")
    return {"file": read("new"), "gone": refusal(os.stat, "old"), "below": read("to/below/file"),
            "full": refusal(os.rename, "new", "to"), "into": refusal(os.rename, "to", "to/below/x"),
            "not_empty": refusal(os.rmdir, "to")}


def modes():
    os.umask(0o027)
    fd = os.open("made", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o777)
    seen = {"umask": oct(stat.S_IMODE(os.fstat(fd).st_mode))}
    os.fchmod(fd, 0o4755)
    os.fchown(fd, 1234, 4321)
    st = os.fstat(fd)
    seen["owner"], seen["cleared"] = [st.st_uid, st.st_gid], oct(stat.S_IMODE(st.st_mode))
    os.utime("made", ns=(1_000_000_001, 2_000_000_002))
    seen["times"] = [os.stat("made").st_atime_ns, os.stat("made").st_mtime_ns]
    os.write(fd, b"unlinked")
    os.unlink("made")
    seen["unlinked"] = [os.pread(fd, 100, 0).decode(), os.fstat(fd).st_nlink]
    os.close(fd)
    os.mkfifo("pipe", 0o600)
    seen["fifo"] = stat.S_ISFIFO(os.stat("pipe").st_mode)
    os.umask(0o022)
    return seen


def as_another():
    """What another user may not do; in a process of its own."""
    os.mkdir("open")
    os.chmod("open", 0o777)
    write("secret", "root's")
    os.chmod("secret", 0o600)
    reader, writer = os.pipe()
    if not os.fork():
        os.setgroups([])
        os.setgid(1000)
        os.setuid(1000)
        write("open/mine", "")
        st = os.stat("open/mine")
        os.write(writer, json.dumps({"owner": [st.st_uid, st.st_gid],
                                     "secret": refusal(read, "secret"),
                                     "closed": refusal(write, "not_mine", "")}).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    return json.loads(os.read(reader, 1000).decode() or "null")


def directory():
    os.mkdir("many")
    names = ["%04d-%s" % (i, "n" * (i % 60)) for i in range(FILES)]
    for name in names:
        os.close(os.open("many/" + name, os.O_CREAT | os.O_WRONLY))
    listed = sorted(e.name for e in os.scandir("many"))
    seen = {"listed": len(listed), "same": listed == sorted(names)}
    # Removed while it is listed: each name is seen once all the same.
    with os.scandir("many") as entries:
        gone = []
        for e in entries:
            gone.append(e.name)
            os.unlink("many/" + e.name)
    seen["removed"] = sorted(gone) == sorted(names)
    seen["empty"] = os.listdir("many")
    os.rmdir("many")
    return seen


def space():
    st = os.statvfs(".")
    return {"bytes": st.f_blocks * st.f_frsize, "files": st.f_files, "name_max": st.f_namemax}


def main():
    os.mkdir(sys.argv[1])
    os.chdir(sys.argv[1])
    seen = {}
    for part in (extended, links, renamed, modes, as_another, directory, space):
        try:
            seen[part.__name__] = part()
        except OSError as e:
            seen[part.__name__] = "%s: %s" % (type(e).__name__, e)
    print(json.dumps(seen))


main()
