"""The MySQL protocol to one server of MariaDB or MySQL: password login and text queries, one
connection per client. MySQL wants to see the password itself once after its start, over TLS; whose
the certificate is does not matter on this machine."""

import hashlib
import socket
import ssl
import struct

_CAPABILITIES = (
    0x00000001  # long password
    | 0x00000008  # connect with a database
    | 0x00000200  # protocol 4.1
    | 0x00008000  # secure connection
    | 0x00020000  # several results: a procedure answers its own, then its status
    | 0x00080000  # plugin authentication
)
_SSL = 0x00000800
_UTF8MB4 = 45
_SHA2 = b"caching_sha2_password"
_IN_FULL = b"\x01\x04"  # the server does not know the password's hash yet
_MORE_RESULTS = 0x0008  # of the server's status


class MysqlError(Exception):
    """`number` is the server's error code."""

    def __init__(self, number, text):
        super().__init__(f"{number}: {text}")
        self.number = number


class MysqlClient:
    def __init__(self, port, user, password, database, timeout=30):
        self._status = 0
        for tls in (False, True):
            self._socket = socket.create_connection(("127.0.0.1", port), timeout)
            self._stream = self._socket.makefile("rb")
            self._sequence = 0
            try:
                if self._login(user, password, database, tls):
                    return
            except BaseException:
                self.close()
                raise
            self.close()

    def query(self, sql):
        """Rows as tuples of str or None (numbers come as text); for a statement without a result
        the number of affected rows. Of a procedure's results the first."""
        self._sequence = 0
        self._send(b"\x03" + sql.encode())
        head = self._receive()
        if head[0] == 0x00:
            return _integer(head, 1)[0]
        columns = _integer(head, 0)[0]
        self._until_eof()  # the columns' descriptions
        rows = [_row(packet, columns) for packet in self._until_eof()]
        while self._status & _MORE_RESULTS:
            self._skip_result()
        return rows

    def close(self):
        self._stream.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _login(self, user, password, database, tls):
        """False: it must be over TLS."""
        greeting = self._receive()
        after_version = greeting.index(b"\0", 1) + 1
        nonce = (greeting[after_version + 4:after_version + 12]
                 + greeting[after_version + 31:after_version + 43])
        way = greeting[after_version + 44:].split(b"\0", 1)[0]
        if way == _SHA2:
            scrambled = _scramble_sha2(password, nonce)
        else:
            way, scrambled = b"mysql_native_password", _scramble(password, nonce)
        hello = struct.pack("<IIB23x", _CAPABILITIES | (_SSL if tls else 0), 1 << 24, _UTF8MB4)
        if tls:
            self._send(hello)
            self._speak_tls()
        self._send(hello + user.encode() + b"\0" + bytes([len(scrambled)]) + scrambled
                   + database.encode() + b"\0" + way + b"\0")
        answer = self._receive()
        if answer == _IN_FULL:
            if not tls:
                return False
            self._send(password.encode() + b"\0")
        while answer[0] == 0x01:
            answer = self._receive()
        if answer[0] != 0x00:
            raise ConnectionError("the server asks for another kind of login")
        return True

    def _speak_tls(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self._stream.close()
        self._socket = context.wrap_socket(self._socket)
        self._stream = self._socket.makefile("rb")

    def _skip_result(self):
        head = self._receive()
        if head[0] != 0x00:
            self._until_eof()
            self._until_eof()
            return
        at = _integer(head, _integer(head, 1)[1])[1]  # behind the affected rows and the last id
        self._status = int.from_bytes(head[at:at + 2], "little")

    def _until_eof(self):
        packets = []
        while True:
            packet = self._receive()
            if packet[0] == 0xFE and len(packet) < 9:
                self._status = int.from_bytes(packet[3:5], "little")
                return packets
            packets.append(packet)

    def _send(self, body):
        self._socket.sendall(len(body).to_bytes(3, "little") + bytes([self._sequence]) + body)
        self._sequence += 1

    def _receive(self):
        head = self._exactly(4)
        self._sequence = head[3] + 1
        body = self._exactly(int.from_bytes(head[:3], "little"))
        if body[:1] == b"\xff":
            text = body[9:] if body[3:4] == b"#" else body[3:]  # after the SQL state
            raise MysqlError(int.from_bytes(body[1:3], "little"), text.decode(errors="replace"))
        return body

    def _exactly(self, size):
        data = self._stream.read(size)
        if len(data) != size:
            raise ConnectionError("the server closed the connection")
        return data


def _scramble(password, nonce):
    once = hashlib.sha1(password.encode()).digest()
    mask = hashlib.sha1(nonce + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


def _scramble_sha2(password, nonce):
    once = hashlib.sha256(password.encode()).digest()
    mask = hashlib.sha256(hashlib.sha256(once).digest() + nonce).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


def _integer(data, at):
    """A length-encoded integer and the place after it."""
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(data[at])
    if width is None:
        return data[at], at + 1
    return int.from_bytes(data[at + 1:at + 1 + width], "little"), at + 1 + width


def _row(packet, columns):
    values, at = [], 0
    for _ in range(columns):
        if packet[at] == 0xFB:
            values.append(None)
            at += 1
            continue
        size, at = _integer(packet, at)
        values.append(packet[at:at + size].decode(errors="replace"))
        at += size
    return tuple(values)
