"""Trackers with unmodified servers and clients of TVM: `ferrite rpc tracker` with TVM's, and servers and the list of `ferrite rpc` with
TVM's tracker.

usage: tracker.py [TEST...]
"""

import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
from tvm import rpc
from tvm.rpc import base

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))

import servers  # noqa: E402

OURS, UPSTREAMS = servers.Ferrite(), servers.Upstream()
SECONDS = 60


def wait_until(condition):
    """Wait for what other processes do soon."""
    end = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
    return found


def connect(tracker):
    return rpc.connect_tracker("127.0.0.1", tracker.port)


def counts(client, key="board"):
    queue = client.summary()["queue_info"].get(key, {"free": 0, "pending": 0})
    return queue["free"], queue["pending"]


def request_only(client, key="board"):
    """Ask for a server, and do not connect to it."""
    base.sendjson(client._sock, [base.TrackerCode.REQUEST, key, "", 1])
    return base.recvjson(client._sock)[1]


class Pairs:
    """Tests of every pair of tracker and server, but TVM's with TVM's."""

    tracker_of = server_of = None

    def setUp(self):
        self.tracker = self.enterContext(self.tracker_of.tracker())
        self.client = connect(self.tracker)

    def serve(self):
        server = self.enterContext(self.server_of.serve(key="board", tracker=self.tracker.port))
        wait_until(lambda: counts(self.client)[0] == 1)
        return server

    def test_a_client_gets_a_server_and_the_next_one_gets_it_afterwards(self):
        server = self.serve()
        (info,) = self.client.summary()["server_info"]
        self.assertEqual(info, {"key": "server:board", "addr": ["127.0.0.1", server.port]})
        self.assertIn("server:board", self.client.text_summary())
        for value in (1, 2):
            remote = self.client.request("board", session_timeout=SECONDS)
            self.assertEqual(remote.get_function("testing.echo")(value), value)
            self.assertEqual(counts(self.client), (0, 0))
            del remote

    def test_higher_priorities_are_served_first(self):
        self.serve()
        remote = self.client.request("board")
        order, threads = [], []

        def wait_for_server(priority):
            mine = connect(self.tracker).request("board", priority=priority)
            order.append(priority)
            del mine

        for index, priority in enumerate((1, 9)):
            threads.append(threading.Thread(target=wait_for_server, args=(priority,)))
            threads[-1].start()
            wait_until(lambda: counts(self.client) == (0, index + 1))
        del remote
        for thread in threads:
            thread.join(SECONDS)
        self.assertEqual(order, [9, 1])

    def test_a_server_whose_client_does_not_come_is_offered_again(self):
        self.serve()
        unused = request_only(self.client)[2]
        host, port, match_key = request_only(self.client)
        self.assertNotEqual(match_key, unused)
        with self.assertRaises(Exception):
            rpc.connect(host, port, unused)
        self.assertEqual(rpc.connect(host, port, match_key).get_function("testing.echo")(3), 3)

    def test_a_server_that_ends_is_gone(self):
        server = self.serve()
        server.terminate()
        wait_until(lambda: self.client.summary()["server_info"] == [])
        self.assertEqual(counts(self.client), (0, 0))

    def test_requests_of_clients_that_vanish_are_forgotten(self):
        vanishing = subprocess.Popen(
            [sys.executable, "-c", f"from tvm import rpc; rpc.connect_tracker('127.0.0.1', {self.tracker.port}).request('other')"]
        )
        wait_until(lambda: counts(self.client, "other") == (0, 1))
        os.kill(vanishing.pid, signal.SIGKILL)
        vanishing.wait()
        if self.tracker_of is OURS:
            wait_until(lambda: counts(self.client, "other") == (0, 0))

    def test_the_list_shows_the_server(self):
        server = self.serve()
        arguments = [*OURS.program, "rpc", "list", "--json", "--tracker", f"127.0.0.1:{self.tracker.port}"]
        listed = json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
        self.assertEqual(listed["queue_info"]["board"], {"free": 1, "pending": 0})
        self.assertEqual(listed["server_info"][0]["addr"], ["127.0.0.1", server.port])


class OursWithOurs(Pairs, unittest.TestCase):
    tracker_of, server_of = OURS, OURS

    def test_a_server_comes_back_with_its_tracker(self):
        self.serve()
        port = self.tracker.port
        self.tracker.terminate()
        self.tracker = self.enterContext(OURS.tracker(port=port))
        self.client = connect(self.tracker)
        wait_until(lambda: counts(self.client) == (1, 0))
        self.assertEqual(self.client.request("board").get_function("testing.echo")(4), 4)

    def test_a_silent_connection_keeps_nobody_out(self):
        with socket.create_connection(("127.0.0.1", self.tracker.port)) as silent:
            silent.sendall(struct.pack("<ii", base.RPC_TRACKER_MAGIC, 100))
            self.serve()
            self.assertEqual(self.client.request("board").get_function("testing.echo")(5), 5)


class OursWithUpstreams(Pairs, unittest.TestCase):
    tracker_of, server_of = OURS, UPSTREAMS


class UpstreamsWithOurs(Pairs, unittest.TestCase):
    tracker_of, server_of = UPSTREAMS, OURS


class Tokens(unittest.TestCase):
    def test_a_token_follows_the_key_of_a_request(self):
        token = "0123456789abcdef"
        with servers.folder() as folder, OURS.tracker() as tracker:
            file = folder / "token"
            file.write_text(token)
            options = ("--allow-code", "--token", str(file))
            with OURS.serve(*options, key="board", tracker=tracker.port, code=False):
                client = connect(tracker)
                wait_until(lambda: counts(client) == (1, 0))
                with self.assertRaises(RuntimeError):
                    client.request("board", max_retry=1)
                remote = client.request(f"board token={token}")
                self.assertEqual(remote.get_function("testing.echo")(6), 6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
