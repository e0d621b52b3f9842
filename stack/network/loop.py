"""Calls back when a socket is readable or writable, or a time has come. One thread."""

import heapq
import itertools
import select
import time


class Loop:
    READ, WRITE = select.EPOLLIN, select.EPOLLOUT

    def __init__(self):
        self._epoll = select.epoll()
        self._watched = {}  # (mask, callback) by descriptor
        self._timers = []
        self._order = itertools.count()

    def watch(self, sock, mask, call):
        """`call(events)` whenever the socket is ready for one of `mask`, or broken; 0: not even
        when it is broken."""
        number = sock.fileno()
        before, _ = self._watched.get(number, (0, None))
        if mask and not before:
            self._epoll.register(number, mask)
        elif mask != before and mask:
            self._epoll.modify(number, mask)
        elif mask != before:
            self._epoll.unregister(number)
        if mask:
            self._watched[number] = (mask, call)
        else:
            self._watched.pop(number, None)

    def forget(self, sock):
        """Call it before the socket is closed."""
        self.watch(sock, 0, None)

    def at(self, when, call):
        """`call()` once time.monotonic() is past `when`."""
        heapq.heappush(self._timers, (when, next(self._order), call))

    def run(self):
        while True:
            for number, events in self._epoll.poll(self._until_next()):
                # One that was forgotten by a callback of this round may still be in it. One that
                # took its number is told of events not its own: it finds nothing to do.
                if number in self._watched:
                    self._watched[number][1](events)
            while self._timers and self._timers[0][0] <= time.monotonic():
                heapq.heappop(self._timers)[2]()

    def _until_next(self):
        return max(0, self._timers[0][0] - time.monotonic()) if self._timers else None
