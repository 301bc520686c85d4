#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mqfsd - a small virtio-fs device over vhost-user with many request queues, for tests.

No stock daemon serves more than one request queue. This one does, and it misbehaves on demand: it
delays, refuses or never answers requests, and says a small max_background. With --log it writes
what it did and when, as an account that is independent of the tracer under test.

It serves a tree in memory: f0 .. f63 in the root directory, each 1 MiB, whose 32-bit words are
word number and file number in turn. Files and directories may be added, written and removed.

One thread, one connection: it ends when the frontend leaves. A request is popped, executed at once,
and its reply is pushed at once, or when its delay is over, or on SIGUSR1 if it is held.

An OPCODE is a name as in fuse.h, without FUSE_ (READ, GETATTR), or a number.
"""
import argparse
import errno
import heapq
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

sys.dont_write_bytecode = True    # the checkout stays clean
from mqfsd_tree import Errno, FileSystem, NAMES, OPCODES    # noqa: E402

# --- the rings ------------------------------------------------------------------------------------

class Memory:
    """The guest's memory, as the frontend shared it."""

    def __init__(self, table, fds):
        count, = struct.unpack_from('<I', table)
        self.regions = []
        for n, fd in zip(range(count), fds):
            gpa, size, user, offset = struct.unpack_from('<4Q', table, 8 + 32 * n)
            view = memoryview(mmap.mmap(fd, offset + size))[offset:]
            self.regions.append((gpa, user, size, view))
            os.close(fd)

    def at(self, address, length, user=False):
        """A view of guest memory by guest address, or by the frontend's own (user)."""
        for gpa, uva, size, view in self.regions:
            start = address - (uva if user else gpa)
            if 0 <= start and start + length <= size:
                return view[start:start + length]
        raise ValueError(f'address {address:#x}+{length} is not in guest memory')


class Request:
    """A popped chain: what the device may read, and where its reply goes."""

    def __init__(self, queue, head, readable, writable):
        self.queue, self.head, self.writable = queue, head, writable
        self.epoch = queue.epoch
        self.pop_ns = time.monotonic_ns()
        self.data = b''.join(readable)
        _, self.opcode, self.unique, self.nodeid = struct.unpack_from('<IIQQ', self.data)
        self.reply, self.error = b'', 0


class Queue:
    """One split virtqueue."""

    DESC = struct.Struct('<QIHH')
    fence = threading.Lock()    # taking it is a full barrier; plain stores and loads are not

    def __init__(self, index):
        self.index, self.size, self.last, self.enabled = index, 0, 0, False
        self.kick = self.call = self.ring = None
        self.event_idx = False
        self.epoch = 0    # counts stops: a request of an earlier life must not be pushed

    def map(self, memory, desc, used, avail):
        n = self.size
        self.memory = memory
        self.desc = memory.at(desc, 16 * n, user=True)
        # Native casts, so that an index is one 16-bit load or store.
        self.avail = memory.at(avail, 6 + 2 * n, user=True).cast('H')
        self.used16 = memory.at(used, 6 + 8 * n, user=True).cast('H')
        self.used32 = memory.at(used, 4 + 8 * n, user=True).cast('I')
        self.ring = (desc, used, avail)

    def stop(self):
        self.ring, self.enabled = None, False
        self.epoch += 1

    def barrier(self):
        with self.fence:
            pass

    def chain(self, head):
        table, index, seen = self.desc, head, 0
        while True:
            address, length, flags, following = self.DESC.unpack_from(table, 16 * index)
            seen += 1
            if seen > 4096:
                raise ValueError('a chain without end')
            if flags & 4:    # indirect
                table, index = self.memory.at(address, length), 0
                continue
            yield self.memory.at(address, length), bool(flags & 2)
            if not flags & 1:
                return
            index = following

    def pop(self):
        """The next request, or None."""
        if not self.ring:
            return None
        if self.avail[1] == self.last:
            if not self.event_idx:
                return None
            self.used16[2 + 4 * self.size] = self.last    # ask to be kicked for the next one
            self.barrier()
            if self.avail[1] == self.last:
                return None
        head = self.avail[2 + self.last % self.size]
        self.last = (self.last + 1) & 0xffff
        parts = list(self.chain(head))
        return Request(self, head, [v for v, write in parts if not write],
                       [v for v, write in parts if write])

    def push(self, request):
        """Hand the reply to the guest; returns its length."""
        length, rest = len(request.reply), memoryview(request.reply)
        for view in request.writable:
            part = rest[:len(view)]
            view[:len(part)] = part
            rest = rest[len(part):]
        old = self.used16[1]
        slot = 1 + 2 * (old % self.size)
        self.used32[slot], self.used32[slot + 1] = request.head, length
        new = self.used16[1] = (old + 1) & 0xffff
        self.barrier()
        if self.event_idx:
            wanted = self.avail[2 + self.size]
            notify = (new - wanted - 1) & 0xffff < (new - old) & 0xffff
        else:
            notify = not self.avail[0] & 1
        if notify and self.call is not None:
            os.eventfd_write(self.call, 1)
        return length


# --- vhost-user -----------------------------------------------------------------------------------

class Device:
    """The vhost-user side: messages, requests on their way, and the misbehaviour."""

    VERSION_1, EVENT_IDX, INDIRECT, PROTOCOL = 1 << 32, 1 << 29, 1 << 28, 1 << 30
    PROTOCOL_FEATURES = 1 << 0 | 1 << 3    # MQ, REPLY_ACK

    def __init__(self, options):
        self.options = options
        self.fs = FileSystem(options)
        self.queues = [Queue(n) for n in range(options.queues + 1)]
        self.memory = None
        self.features = self.VERSION_1 | self.INDIRECT | self.PROTOCOL
        if options.event_idx:
            self.features |= self.EVENT_IDX
        self.delayed, self.held, self.holding = [], [], set(options.hold)
        self.counts = {}
        self.busy = set()    # queues that may hold requests
        self.log = open(options.log, 'w', buffering=1 << 16) if options.log else None

    def serve(self):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.options.socket)
        listener.listen(1)
        self.socket, _ = listener.accept()
        os.unlink(self.options.socket)
        wake, signal_fd = os.pipe2(os.O_NONBLOCK)
        signal.set_wakeup_fd(signal_fd)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        while True:
            kicks = {q.kick: q for q in self.queues if q.kick is not None}
            if self.log:
                self.log.flush()
            # select, because its timeout is in microseconds; epoll's is in milliseconds.
            ready, _, _ = select.select([self.socket, wake, *kicks], [], [], self.timeout())
            for fd in ready:
                if fd == wake:
                    os.read(wake, 64)
                    self.release()
                elif fd in kicks:
                    os.eventfd_read(fd)
                    self.busy.add(kicks[fd])
            for queue in list(self.busy):
                self.drain(queue)
            while self.delayed and self.delayed[0][0] <= time.monotonic_ns():
                self.finish(heapq.heappop(self.delayed)[2])
            if self.socket in ready and not self.message():
                return

    def timeout(self):
        if self.busy:
            return 0
        if self.delayed:
            return max(self.delayed[0][0] - time.monotonic_ns(), 0) / 1e9
        return None

    def drain(self, queue):
        """A few requests of a queue, so that no queue starves the others."""
        for _ in range(8):
            request = queue.pop() if queue.enabled else None
            if not request:
                self.busy.discard(queue)
                return
            self.execute(request)

    def execute(self, request):
        opcode = request.opcode
        nth = self.counts[opcode] = self.counts.get(opcode, 0) + 1
        room = sum(map(len, request.writable))
        body = b''
        error, every = self.options.error.get(opcode, (0, 1))
        try:
            if error and nth % every == 0:
                raise Errno(error)
            body = self.fs.run(opcode, request.nodeid, request.data[40:], room - 16)
        except Errno as e:
            request.error = e.args[0]
        except struct.error:
            request.error = errno.EIO    # too short for its opcode
        if room:    # FORGET has none
            header = struct.pack('<IiQ', 16 + len(body), -request.error, request.unique)
            request.reply = header + body
            if len(request.reply) > room:
                request.error = errno.EIO
                request.reply = struct.pack('<IiQ', 16, -errno.EIO, request.unique)
        delay = self.options.delay.get(opcode, self.options.delay.get(None, 0))
        if opcode in self.holding:
            self.held.append(request)
        elif delay:
            heapq.heappush(self.delayed, (request.pop_ns + delay * 1000, id(request), request))
        else:
            self.finish(request)

    def finish(self, request):
        queue = request.queue
        if request.epoch != queue.epoch:
            return    # the ring was stopped meanwhile
        push_ns = time.monotonic_ns()
        length = queue.push(request)
        if self.log:
            json.dump({'queue': queue.index, 'opcode': request.opcode,
                       'op': NAMES.get(request.opcode, '?'), 'unique': request.unique,
                       'nodeid': request.nodeid, 'pop_ns': request.pop_ns, 'push_ns': push_ns,
                       'in': len(request.data), 'out': length, 'error': request.error}, self.log)
            self.log.write('\n')

    def release(self):
        self.holding = set()
        held, self.held = self.held, []
        for request in held:
            self.finish(request)

    def message(self):
        """Receive and obey one message; False when the frontend is gone."""
        try:
            header, fds, _, _ = socket.recv_fds(self.socket, 12, 16)
        except ConnectionError:
            return False
        if len(header) < 12:
            return False
        kind, flags, size = struct.unpack('<3I', header)
        payload = self.socket.recv(size, socket.MSG_WAITALL) if size else b''
        reply = self.obey(kind, payload, fds)
        if reply is None and flags & 8:
            reply = struct.pack('<Q', 0)
        if reply is not None:
            self.socket.sendall(struct.pack('<3I', kind, 1 | 4, len(reply)) + reply)
        return True

    def obey(self, kind, payload, fds):
        number, = struct.unpack_from('<Q', payload) if len(payload) >= 8 else (0,)
        if kind == 1:      # GET_FEATURES
            return struct.pack('<Q', self.features)
        if kind == 2:      # SET_FEATURES
            for queue in self.queues:
                queue.event_idx = bool(number & self.EVENT_IDX)
                queue.enabled = not number & self.PROTOCOL
        elif kind == 5:    # SET_MEM_TABLE
            self.memory = Memory(payload, fds)
            for queue in self.queues:
                if queue.ring:
                    queue.map(self.memory, *queue.ring)
        elif kind == 15:   # GET_PROTOCOL_FEATURES
            return struct.pack('<Q', self.PROTOCOL_FEATURES)
        elif kind == 17:   # GET_QUEUE_NUM
            return struct.pack('<Q', len(self.queues))
        elif kind in (12, 13, 14):    # SET_VRING_KICK, CALL, ERR: index in the low byte
            self.set_fd(kind, self.queues[number & 0xff], fds)
        elif kind in (8, 9, 10, 11, 18):
            return self.vring(kind, payload)
        elif kind not in (3, 4, 16):  # SET_OWNER, RESET_OWNER, SET_PROTOCOL_FEATURES: nothing to do
            print(f'mqfsd: message {kind} ignored', file=sys.stderr)
        return None

    def vring(self, kind, payload):
        index, value = struct.unpack_from('<II', payload)
        queue = self.queues[index]
        if kind == 8:      # SET_VRING_NUM
            queue.size = value
        elif kind == 9:    # SET_VRING_ADDR
            queue.map(self.memory, *struct.unpack_from('<3Q', payload, 8))
        elif kind == 10:   # SET_VRING_BASE
            queue.last = value
        elif kind == 11:   # GET_VRING_BASE: stops the ring
            queue.stop()
            self.set_fd(12, queue, [])
            return struct.pack('<II', index, queue.last)
        elif kind == 18:   # SET_VRING_ENABLE
            queue.enabled = bool(value)
            self.busy.add(queue)
        return None

    def set_fd(self, kind, queue, fds):
        fd = fds[0] if fds else None
        if kind == 14:     # never used
            old = fd
        elif kind == 12:
            old, queue.kick = queue.kick, fd
        else:
            old, queue.call = queue.call, fd
        if old is not None:
            os.close(old)
        if kind == 12:
            self.busy.add(queue)    # what came before the kick had a descriptor


def opcode_of(text):
    number = OPCODES.get(text.upper())
    return number if number is not None else int(text, 0)


def parse_options():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__)
    add = parser.add_argument
    add('--socket', required=True, metavar='PATH')
    add('--tag', default='', help='accepted and unused: QEMU tells the guest the tag')
    add('--queues', type=int, default=4, metavar='N', help='request queues (4)')
    add('--max-background', type=int, default=64, metavar='N', help='in the INIT reply (64)')
    add('--delay-us', action='append', default=[], metavar='N[:OPCODE]',
        help='push each reply (of OPCODE) N microseconds after its request was popped')
    add('--error', action='append', default=[], metavar='OPCODE=ERRNO[/NTH]',
        help='refuse (every NTH) request of OPCODE; ERRNO is a name or a number')
    add('--hold', action='append', default=[], type=opcode_of, metavar='OPCODE',
        help='never answer OPCODE, until SIGUSR1')
    add('--valid', type=float, default=1, metavar='S', help='attributes and entries live so long (1)')
    add('--direct-io', action='store_true', help='every read and write of the guest reaches us')
    add('--event-idx', action='store_true', help='offer VIRTIO_F_EVENT_IDX')
    add('--log', metavar='FILE', help='one JSON object for each request pushed')
    options = parser.parse_args()
    delays, errors = options.delay_us, options.error
    options.delay, options.error = {}, {}
    for us, _, opcode in (text.partition(':') for text in delays):
        options.delay[opcode_of(opcode) if opcode else None] = int(us)
    for opcode, _, error in (text.partition('=') for text in errors):
        name, _, every = error.partition('/')
        number = getattr(errno, name, None) or int(name)
        options.error[opcode_of(opcode)] = (number, int(every or 1))
    return options


if __name__ == '__main__':
    device = Device(parse_options())
    try:
        device.serve()
    finally:
        if device.log:
            device.log.close()
