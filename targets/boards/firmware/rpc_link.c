/* rpc_link.c: a link over a serial line that loses and changes bytes; see ferrite/rpc.h.
 *
 * A frame is FLAG, kind, number, payload, CRC-32 of these, FLAG. FLAG and ESCAPE in it are sent as
 * ESCAPE and the byte with bit 5 changed, as in RFC 1662. Each side numbers its DATA frames, and
 * sends the next one only after the peer's NEXT has named it. The peer has the timers: it repeats
 * its DATA, and its NEXT, which makes the board repeat the frame of that number. */
#include <ferrite/rpc.h>
#include <string.h>

enum { FLAG = 0x7E, ESCAPE = 0x7D, CHANGED = 0x20 };
/* RESTART begins a session, which its payload names; the answer is the same frame. */
enum { DATA = 1, NEXT = 2, RESTART = 3 };
enum { HEADER = 2, CHECKSUM = 4 };

/* Adds a byte to a CRC-32 (IEEE 802.3). */
static uint32_t add_to_crc(uint32_t crc, uint8_t byte) {
  int bit;
  crc ^= byte;
  for (bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
  return crc;
}

/* ---- sending ---- */

/* Sends a byte of a frame, and returns the CRC with it. */
static uint32_t send_byte(FerriteRpcLink* link, uint32_t crc, uint8_t byte) {
  if (byte == FLAG || byte == ESCAPE) {
    link->send(link->self, ESCAPE);
    link->send(link->self, byte ^ CHANGED);
  } else {
    link->send(link->self, byte);
  }
  return add_to_crc(crc, byte);
}

static void send_frame(FerriteRpcLink* link, uint8_t kind, uint8_t number, const uint8_t* payload, size_t size) {
  uint32_t crc = 0xFFFFFFFFu;
  size_t at;
  link->send(link->self, FLAG);
  crc = send_byte(link, crc, kind);
  crc = send_byte(link, crc, number);
  for (at = 0; at < size; ++at) crc = send_byte(link, crc, payload[at]);
  crc = ~crc;
  for (at = 0; at < CHECKSUM; ++at) send_byte(link, 0, (uint8_t)(crc >> 8 * at));
  link->send(link->self, FLAG);
}

/* ---- receiving ---- */

/* Waits for a frame, and returns the size of its payload. Others are ignored: their sender repeats
 * them. */
static size_t receive_frame(FerriteRpcLink* link) {
  uint8_t change = 0, byte;
  uint32_t crc = 0xFFFFFFFFu;
  size_t size = 0;
  for (;;) {
    byte = link->receive(link->self);
    if (byte == FLAG) {
      /* The CRC of a frame with its own CRC is a constant. */
      if (crc == 0xDEBB20E3u && size >= HEADER + CHECKSUM && size <= sizeof(link->frame)) {
        return size - HEADER - CHECKSUM;
      }
      crc = 0xFFFFFFFFu;
      size = 0;
      change = 0;
    } else if (byte == ESCAPE) {
      change = CHANGED;
    } else {
      byte ^= change;
      change = 0;
      crc = add_to_crc(crc, byte);
      if (size < sizeof(link->frame)) link->frame[size] = byte;
      ++size;
    }
  }
}

/* Begins a session, unless the frame is a repetition of the one that began it. */
static void restart(FerriteRpcLink* link, size_t size) {
  const uint8_t* name = link->frame + HEADER;
  if (size == sizeof(link->session) && memcmp(link->session, name, size) != 0) {
    memcpy(link->session, name, size);
    link->rx_next = link->tx_next = 0;
    link->tx_size = 0;
    link->is_restarted = 1;
  }
  send_frame(link, RESTART, 0, name, size);
}

/* The peer has the frame that was sent. */
static void complete(FerriteRpcLink* link) {
  if (link->tx_size == 0) return;
  link->tx_size = 0;
  ++link->tx_next;
}

/* Waits for a frame and takes it. The payload of new data stays in `frame` until it is read. */
static void take_frame(FerriteRpcLink* link) {
  size_t size = receive_frame(link);
  uint8_t number = link->frame[1];
  switch (link->frame[0]) {
    case DATA:
      if (number == link->rx_next) {
        /* A request follows the whole answer to the one before, whose NEXT may be lost. */
        complete(link);
        link->rx_next = (uint8_t)(number + 1);
        link->rx_start = HEADER;
        link->rx_size = (uint16_t)size;
      }
      send_frame(link, NEXT, link->rx_next, NULL, 0);
      break;
    case NEXT:
      if (number == (uint8_t)(link->tx_next + 1)) complete(link);
      if (number == link->tx_next && link->tx_size != 0) send_frame(link, DATA, number, link->tx, link->tx_size);
      break;
    case RESTART:
      restart(link, size);
      break;
    default:
      break;
  }
}

/* ---- the stream ---- */

/* Sends what was written, and waits until it has arrived. */
static void flush(FerriteRpcLink* link) {
  if (link->tx_size == 0) return;
  send_frame(link, DATA, link->tx_next, link->tx, link->tx_size);
  while (link->tx_size != 0) take_frame(link);
}

size_t FerriteRpcLinkRead(void* self, void* data, size_t size) {
  FerriteRpcLink* link = self;
  flush(link);
  while (link->rx_size == 0 && !link->is_restarted) take_frame(link);
  if (link->is_restarted) {
    link->is_restarted = 0;
    link->rx_size = 0;
    return 0;
  }
  if (size > link->rx_size) size = link->rx_size;
  memcpy(data, link->frame + link->rx_start, size);
  link->rx_start = (uint16_t)(link->rx_start + size);
  link->rx_size = (uint16_t)(link->rx_size - size);
  return size;
}

int FerriteRpcLinkWrite(void* self, const void* data, size_t size) {
  FerriteRpcLink* link = self;
  const uint8_t* bytes = data;
  for (; size != 0 && !link->is_restarted; --size) {
    link->tx[link->tx_size++] = *bytes++;
    if (link->tx_size == sizeof(link->tx)) flush(link);
  }
  return link->is_restarted ? -1 : 0;
}
