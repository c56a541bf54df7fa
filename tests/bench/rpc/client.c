/*
 * A client of TVM's remote procedure calls that does as little as possible, so that its times are
 * those of the server and the system.
 *
 * usage: client PORT KEY calls COUNT             prints nanoseconds of a call that adds 1 to a number
 *        client PORT KEY copies COUNT BYTES      prints nanoseconds of a copy to the server, and back
 *        client PORT KEY sessions COUNT          prints nanoseconds of a session with one call
 */
#define _POSIX_C_SOURCE 200112L
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 0xFF271, SHUTDOWN = 1, INIT = 2, CALL = 3, RETURN = 4, FROM_REMOTE = 6, TO_REMOTE = 7, ACK = 8, GET_GLOBAL = 9, ALLOCATE = 13 };
enum { INT = 1, DTYPE = 5, DEVICE = 6, TEXT = 8 };

static int peer;

static void check(int holds, const char* message) {
  if (holds) return;
  fprintf(stderr, "client: %s\n", message);
  exit(1);
}

static void send_all(const void* data, size_t size) {
  const char* at = (const char*)data;
  while (size != 0) {
    ssize_t count = send(peer, at, size, 0);
    check(count > 0, "the server does not read");
    at += count;
    size -= (size_t)count;
  }
}

static void receive_all(void* data, size_t size) {
  char* at = (char*)data;
  while (size != 0) {
    ssize_t count = recv(peer, at, size, 0);
    check(count > 0, "the server does not answer");
    at += count;
    size -= (size_t)count;
  }
}

/* ---- packets ------------------------------------------------------------------------------- */

typedef struct Packet {
  char bytes[512];
  size_t size;
} Packet;

static void put(Packet* packet, const void* data, size_t size) {
  check(size <= sizeof(packet->bytes) - packet->size, "a long packet");
  memcpy(packet->bytes + packet->size, data, size);
  packet->size += size;
}

static void put_int32(Packet* packet, int32_t value) { put(packet, &value, sizeof(value)); }
static void put_int64(Packet* packet, int64_t value) { put(packet, &value, sizeof(value)); }

static void begin(Packet* packet, int32_t code) {
  packet->size = 0;
  put_int64(packet, 0);
  put_int32(packet, code);
}

/* Sends a packet, and `further` bytes of it from elsewhere. */
static void send_packet(Packet* packet, const void* data, size_t further) {
  uint64_t length = packet->size - 8 + further;
  memcpy(packet->bytes, &length, sizeof(length));
  send_all(packet->bytes, packet->size);
  send_all(data, further);
}

/* Reads the head of an answer, which must have this code. Returns the number of bytes behind it. */
static size_t receive_head(int32_t wanted) {
  struct {
    uint64_t length;
    int32_t code;
  } head;
  char bytes[12];
  receive_all(bytes, sizeof(bytes));
  memcpy(&head.length, bytes, 8);
  memcpy(&head.code, bytes + 8, 4);
  check(head.code == wanted, "an exception");
  return (size_t)head.length - 4;
}

static int64_t receive_value(void) {
  char bytes[256];
  int64_t value;
  size_t size = receive_head(RETURN);
  check(size <= sizeof(bytes), "a long answer");
  receive_all(bytes, size);
  if (size < 16) return 0;
  memcpy(&value, bytes + size - 8, sizeof(value));
  return value;
}

/* ---- requests ------------------------------------------------------------------------------ */

static void connect_to(int port, const char* key) {
  struct sockaddr_in address;
  int32_t head[2], yes = 1;
  char name[256];
  Packet packet;
  memset(&address, 0, sizeof(address));
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  peer = socket(AF_INET, SOCK_STREAM, 0);
  check(connect(peer, (struct sockaddr*)&address, sizeof(address)) == 0, "nobody listens");
  setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  head[0] = MAGIC;
  head[1] = (int32_t)strlen(key) + 7;
  send_all(head, sizeof(head));
  send_all("client:", 7);
  send_all(key, strlen(key));
  receive_all(head, sizeof(head));
  check(head[0] == MAGIC && (size_t)head[1] <= sizeof(name), "refused");
  receive_all(name, (size_t)head[1]);
  begin(&packet, INIT);
  put_int64(&packet, 5);
  put(&packet, "0.8.0", 5);
  put_int32(&packet, 0);
  send_packet(&packet, NULL, 0);
  receive_value();
}

static void disconnect(void) {
  Packet packet;
  begin(&packet, SHUTDOWN);
  send_packet(&packet, NULL, 0);
  close(peer);
}

static int64_t function(const char* name) {
  Packet packet;
  int64_t found;
  begin(&packet, GET_GLOBAL);
  put_int32(&packet, 1);
  put_int32(&packet, TEXT);
  put_int64(&packet, (int64_t)strlen(name));
  put(&packet, name, strlen(name));
  send_packet(&packet, NULL, 0);
  found = receive_value();
  check(found != 0, "no such function");
  return found;
}

static int64_t call(int64_t callee, int64_t argument) {
  Packet packet;
  begin(&packet, CALL);
  put_int64(&packet, callee);
  put_int32(&packet, 1);
  put_int32(&packet, INT);
  put_int64(&packet, argument);
  send_packet(&packet, NULL, 0);
  return receive_value();
}

static void put_device(Packet* packet) {
  put_int32(packet, 1);
  put_int32(packet, 0);
}

static int64_t allocate(int64_t size) {
  static const unsigned char bytes_type[8] = {1, 8, 1, 0, 0, 0, 0, 0};
  Packet packet;
  begin(&packet, ALLOCATE);
  put_int32(&packet, 4);
  put_int32(&packet, DEVICE);
  put_device(&packet);
  put_int32(&packet, INT);
  put_int64(&packet, size);
  put_int32(&packet, INT);
  put_int64(&packet, 64);
  put_int32(&packet, DTYPE);
  put(&packet, bytes_type, sizeof(bytes_type));
  send_packet(&packet, NULL, 0);
  return receive_value();
}

static void put_copy(Packet* packet, int32_t code, int64_t data, int64_t size) {
  static const unsigned char bytes_type[4] = {1, 8, 1, 0};
  begin(packet, code);
  put_int64(packet, data);
  put_device(packet);
  put_int32(packet, 1);
  put(packet, bytes_type, sizeof(bytes_type));
  put_int64(packet, size);
  put_int64(packet, 0);
  put_int64(packet, size);
}

/* ---- measurements -------------------------------------------------------------------------- */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void calls(long count) {
  int64_t add_one = function("rpc.test.addone");
  double start;
  long i;
  for (i = 0; i < count / 10; ++i) call(add_one, i);
  start = now();
  for (i = 0; i < count; ++i) check(call(add_one, i) == i + 1, "another number");
  printf("%.0f\n", (now() - start) / (double)count);
}

static void copies(long count, int64_t size) {
  int64_t data = allocate(size);
  char* content = (char*)malloc((size_t)size);
  double to = 0, from = 0;
  long i;
  check(content != NULL, "no memory");
  memset(content, 1, (size_t)size);
  for (i = -1; i < count; ++i) {
    Packet packet;
    double start = now(), middle;
    content[0] = (char)i;
    put_copy(&packet, TO_REMOTE, data, size);
    send_packet(&packet, content, (size_t)size);
    receive_value();
    middle = now();
    content[0] = 99;
    put_copy(&packet, FROM_REMOTE, data, size);
    send_packet(&packet, NULL, 0);
    check(receive_head(ACK) == (size_t)size, "another size");
    receive_all(content, (size_t)size);
    check(content[0] == (char)i, "other content");
    /* The first is not measured: the server's memory is new. */
    if (i < 0) continue;
    to += middle - start;
    from += now() - middle;
  }
  printf("%.0f %.0f\n", to / (double)count, from / (double)count);
}

static void sessions(int port, const char* key, long count) {
  double start = now();
  long i;
  for (i = 0; i < count; ++i) {
    connect_to(port, key);
    check(call(function("rpc.test.addone"), i) == i + 1, "another number");
    disconnect();
  }
  printf("%.0f\n", (now() - start) / (double)count);
}

int main(int argc, char** argv) {
  long count;
  check(argc >= 5, "usage: client PORT KEY calls|copies|sessions COUNT [BYTES]");
  count = atol(argv[4]);
  if (strcmp(argv[3], "sessions") == 0) {
    sessions(atoi(argv[1]), argv[2], count);
    return 0;
  }
  connect_to(atoi(argv[1]), argv[2]);
  if (strcmp(argv[3], "calls") == 0)
    calls(count);
  else
    copies(count, argc > 5 ? atol(argv[5]) : 1 << 20);
  disconnect();
  return 0;
}
