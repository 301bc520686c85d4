# SPDX-License-Identifier: GPL-2.0-or-later
"""The file system that mqfsd serves: a tree in memory, and FUSE's encoding of it.

FileSystem.run() takes a request apart, changes the tree and returns the reply's body, or raises
Errno. It knows nothing of queues or time. Structures are those of Linux's include/uapi/linux/fuse.h.
"""
import array
import errno
import mmap
import os
import stat
import struct
import time

OPCODES = {
    'LOOKUP': 1, 'FORGET': 2, 'GETATTR': 3, 'SETATTR': 4, 'READLINK': 5, 'SYMLINK': 6, 'MKNOD': 8,
    'MKDIR': 9, 'UNLINK': 10, 'RMDIR': 11, 'RENAME': 12, 'LINK': 13, 'OPEN': 14, 'READ': 15,
    'WRITE': 16, 'STATFS': 17, 'RELEASE': 18, 'FSYNC': 20, 'SETXATTR': 21, 'GETXATTR': 22,
    'LISTXATTR': 23, 'REMOVEXATTR': 24, 'FLUSH': 25, 'INIT': 26, 'OPENDIR': 27, 'READDIR': 28,
    'RELEASEDIR': 29, 'FSYNCDIR': 30, 'GETLK': 31, 'SETLK': 32, 'SETLKW': 33, 'ACCESS': 34,
    'CREATE': 35, 'INTERRUPT': 36, 'BMAP': 37, 'DESTROY': 38, 'IOCTL': 39, 'POLL': 40,
    'BATCH_FORGET': 42, 'FALLOCATE': 43, 'READDIRPLUS': 44, 'RENAME2': 45, 'LSEEK': 46,
    'COPY_FILE_RANGE': 47, 'SETUPMAPPING': 48, 'REMOVEMAPPING': 49, 'SYNCFS': 50, 'TMPFILE': 51,
    'STATX': 52,
}
NAMES = {number: name for name, number in OPCODES.items()}
FILE_SIZE = 1 << 20
MAX_WRITE = 1 << 20


class Node:
    """A file (data) or a directory (children: name -> Node)."""

    def __init__(self, ino, mode, data=b''):
        self.ino, self.mode, self.uid, self.gid = ino, mode, 0, 0
        self.children = {} if stat.S_ISDIR(mode) else None
        self.data = bytearray(data)
        self.atime = self.mtime = self.ctime = time.time_ns()


class Errno(Exception):
    """Raised by an operation to answer with an error."""


class FileSystem:
    """One method for each opcode: from a request's (nodeid, body, room) to the reply's body."""

    IN_READ = struct.Struct('<QQIIQI4x')    # WRITE, READDIR: the same
    OUT_INIT = struct.Struct('<4I2H2I2H7I4x')
    FLAGS = (1 << 0 | 1 << 3 | 1 << 5       # ASYNC_READ, ATOMIC_O_TRUNC, BIG_WRITES,
             | 1 << 13 | 1 << 14            # DO_READDIRPLUS, READDIRPLUS_AUTO,
             | 1 << 15 | 1 << 18 | 1 << 22)  # ASYNC_DIO, PARALLEL_DIROPS, MAX_PAGES

    def __init__(self, options):
        self.options = options
        self.nodes = {}
        root = self.add(None, None, stat.S_IFDIR | 0o755)
        for n in range(64):
            words = array.array('I', [n]) * (FILE_SIZE // 4)
            words[0::2] = array.array('I', range(FILE_SIZE // 8))
            self.add(root, b'f%d' % n, stat.S_IFREG | 0o644, words.tobytes())

    def add(self, parent, name, mode, data=b''):
        node = Node(len(self.nodes) + 1, mode, data)    # never reused
        self.nodes[node.ino] = node
        if parent:
            parent.children[name] = node
        return node

    def node(self, ino):
        if ino not in self.nodes:
            raise Errno(errno.ESTALE)
        return self.nodes[ino]

    def directory(self, ino):
        node = self.node(ino)
        if node.children is None:
            raise Errno(errno.ENOTDIR)
        return node

    def run(self, opcode, *request):
        method = getattr(self, NAMES.get(opcode, 'none').lower(), None)
        if not method:
            raise Errno(errno.ENOSYS)
        return method(*request)

    def pack_attr(self, node):
        size = 0 if node.children is not None else len(node.data)
        times = [divmod(t, 10**9) for t in (node.atime, node.mtime, node.ctime)]
        return struct.pack('<6Q10I', node.ino, size, (size + 511) // 512, *(t[0] for t in times),
                           *(t[1] for t in times), node.mode, 2 if node.children is not None else 1,
                           node.uid, node.gid, 0, 4096, 0)

    def pack_valid(self):
        return divmod(int(self.options.valid * 10**9), 10**9)

    def pack_entry(self, node):
        sec, nsec = self.pack_valid()
        return struct.pack('<4Q2I', node.ino, 0, sec, sec, nsec, nsec) + self.pack_attr(node)

    def init(self, _, body, room):
        major, minor, readahead, flags = struct.unpack_from('<4I', body)
        background = self.options.max_background
        return self.OUT_INIT.pack(major, min(minor, 36), readahead, flags & self.FLAGS, background,
                                  max(background * 3 // 4, 1), MAX_WRITE, 1,
                                  MAX_WRITE // mmap.PAGESIZE, 0, *[0] * 7)

    def lookup(self, ino, body, room):
        node = self.directory(ino).children.get(body.split(b'\0')[0])
        if not node:
            raise Errno(errno.ENOENT)
        return self.pack_entry(node)

    def getattr(self, ino, body, room):
        return struct.pack('<QII', *self.pack_valid(), 0) + self.pack_attr(self.node(ino))

    def setattr(self, ino, body, room):
        node = self.node(ino)
        valid, size, atime, mtime = struct.unpack_from('<I12xQ8xQQ', body)
        atimensec, mtimensec, mode, uid, gid = struct.unpack_from('<II4xI4xII', body, 56)
        if valid & 1 << 0:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        node.uid = uid if valid & 1 << 1 else node.uid
        node.gid = gid if valid & 1 << 2 else node.gid
        if valid & 1 << 3:
            self.resize(node, size)
        if valid & 1 << 4:
            node.atime = time.time_ns() if valid & 1 << 7 else atime * 10**9 + atimensec
        if valid & 1 << 5:
            node.mtime = time.time_ns() if valid & 1 << 8 else mtime * 10**9 + mtimensec
        node.ctime = time.time_ns()
        return self.getattr(ino, body, room)

    @staticmethod
    def resize(node, size):
        if size > 64 * FILE_SIZE:
            raise Errno(errno.EFBIG)
        del node.data[size:]
        node.data.extend(bytes(size - len(node.data)))

    def open(self, ino, body, room):
        node = self.node(ino)
        if struct.unpack_from('<I', body)[0] & os.O_TRUNC:
            self.resize(node, 0)
        return struct.pack('<QIi', 0, 1 if self.options.direct_io else 0, 0)

    def opendir(self, ino, body, room):
        self.directory(ino)
        return bytes(16)

    def read(self, ino, body, room):
        _, offset, size, *_ = self.IN_READ.unpack_from(body)
        return self.node(ino).data[offset:offset + min(size, room)]

    def write(self, ino, body, room):
        node = self.node(ino)
        _, offset, size, *_ = self.IN_READ.unpack_from(body)
        data = body[self.IN_READ.size:self.IN_READ.size + size]
        if offset + len(data) > len(node.data):
            self.resize(node, offset + len(data))
        node.data[offset:offset + len(data)] = data
        node.mtime = node.ctime = time.time_ns()
        return struct.pack('<II', len(data), 0)

    def readdir(self, ino, body, room, plus=False):
        _, offset, size, *_ = self.IN_READ.unpack_from(body)
        directory, reply = self.directory(ino), bytearray()
        entries = [(b'.', directory), (b'..', directory), *directory.children.items()]
        for index, (name, node) in enumerate(entries[offset:], offset + 1):
            entry = struct.pack('<QQII', node.ino, index, len(name), node.mode >> 12) + name
            if plus:
                # "." and ".." are not looked up: an entry without a node
                entry = (bytes(128) if index <= 2 else self.pack_entry(node)) + entry
            entry += bytes(-len(entry) % 8)
            if len(reply) + len(entry) > min(size, room):
                break
            reply += entry
        return reply

    def readdirplus(self, ino, body, room):
        return self.readdir(ino, body, room, plus=True)

    def mkdir(self, ino, body, room):
        mode, umask = struct.unpack_from('<II', body)
        return self.make(ino, body[8:], stat.S_IFDIR | mode & ~umask)

    def create(self, ino, body, room):
        _, mode, umask, _ = struct.unpack_from('<4I', body)
        entry = self.make(ino, body[16:], stat.S_IFREG | stat.S_IMODE(mode) & ~umask)
        return entry + struct.pack('<QIi', 0, 1 if self.options.direct_io else 0, 0)

    def make(self, ino, name, mode):
        name, parent = name.split(b'\0')[0], self.directory(ino)
        if name in parent.children:
            raise Errno(errno.EEXIST)
        return self.pack_entry(self.add(parent, name, mode))

    def unlink(self, ino, body, room):
        if not self.directory(ino).children.pop(body.split(b'\0')[0], None):
            raise Errno(errno.ENOENT)
        return b''

    rmdir = unlink

    def statfs(self, ino, body, room):
        return struct.pack('<5Q4I24x', 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096, 0)

    def nothing(self, ino, body, room):
        return b''

    release = releasedir = flush = fsync = fsyncdir = access = destroy = syncfs = nothing
    forget = batch_forget = nothing    # nodes are never freed
