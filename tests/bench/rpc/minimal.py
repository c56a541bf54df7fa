"""Serve sessions of TVM's minimal server at a TCP port. It serves two descriptors, which are the connection's here.

usage: minimal.py PROGRAM PORT    PROGRAM: posix_popen_server.cc
"""

import os
import signal
import socket
import struct
import sys

MAGIC = 0xFF271


def greet(connection):
    """Read the client's key and accept it."""
    head = connection.recv(8, socket.MSG_WAITALL)
    connection.recv(struct.unpack("<ii", head)[1], socket.MSG_WAITALL)
    name = b"server:device"
    connection.sendall(struct.pack("<ii", MAGIC, len(name)) + name)


def main():
    program, port = sys.argv[1:]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.create_server(("127.0.0.1", int(port)))
    print(f"serving at 127.0.0.1:{port}", flush=True)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if os.fork() == 0:
            greet(connection)
            number = str(connection.fileno())
            os.set_inheritable(connection.fileno(), True)
            os.execv(program, [program, number, number])
        connection.close()


main()
