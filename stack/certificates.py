"""Certificates for one stack's services, made by openssl when they are wanted: an authority, a key
and certificate for 127.0.0.1 (or other names) that it signed, and an authority nobody here knows."""

import subprocess

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
_DAYS = "2"


class Certificates:
    def __init__(self, folder, names="IP:127.0.0.1"):
        folder.mkdir(mode=0o700)
        self._folder = folder
        self.authority = self._authority("authority")
        self.stranger = self._authority("stranger")
        self.certificate, self.key = folder / "server.pem", folder / "server.key"
        self._sign_server(names)
        # Kafka reads key and certificate from one file.
        self.both = folder / "server-both.pem"
        self.both.write_text(self.key.read_text() + self.certificate.read_text())

    def _authority(self, name):
        path = self._folder / f"{name}.pem"
        _openssl("req", "-x509", *_KEY, "-keyout", self._folder / f"{name}.key", "-out", path,
                 "-days", _DAYS, "-subj", f"/CN={name}")
        return path

    def _sign_server(self, names):
        request, extensions = self._folder / "server.csr", self._folder / "server.names"
        extensions.write_text(f"subjectAltName={names}\n")
        _openssl("req", "-new", *_KEY, "-keyout", self.key, "-out", request,
                 "-subj", "/CN=server")
        _openssl("x509", "-req", "-in", request, "-CA", self.authority,
                 "-CAkey", self._folder / "authority.key", "-set_serial", "1", "-days", _DAYS,
                 "-extfile", extensions, "-out", self.certificate)


def _openssl(*words):
    subprocess.run(["/usr/bin/openssl", *words], check=True, capture_output=True, timeout=60)
