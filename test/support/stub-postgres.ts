import { createServer, type AddressInfo, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";

/** A key and a self-signed certificate of db.example.com, which only tests use; valid until 2126. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBpDCCAUqgAwIBAgIUcCyfRvRSxf+59cfiHpEfvo9JNLowCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOZGIuZXhhbXBsZS5jb20wIBcNMjYxMTIzMDEyMDU0WhgPMjEy
NjEwMzAwMTIwNTRaMBkxFzAVBgNVBAMMDmRiLmV4YW1wbGUuY29tMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEXgV8+XyZPy49kSiakZHLQ82jGhOHOv4m4GuttQk3
WPaP7OGImO3NMCgIE3bdn6WXoWejkguhAOGPtEy7pX3Z7qNuMGwwHQYDVR0OBBYE
FB4lMMeX2TOH/ymugvt88cpsIYQjMB8GA1UdIwQYMBaAFB4lMMeX2TOH/ymugvt8
8cpsIYQjMA8GA1UdEwEB/wQFMAMBAf8wGQYDVR0RBBIwEIIOZGIuZXhhbXBsZS5j
b20wCgYIKoZIzj0EAwIDSAAwRQIhAIA/SpzYZHN1jd1lph+vj8hNAlWUImjTiy/U
GFONZzXPAiBt5NVPNNuHtafRa5kQIDajL8hv8I7rGwCWRbbo1GksfQ==
-----END CERTIFICATE-----
`;
/** The same, valid from 2099 on. */
export const FUTURE_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBcjCCARigAwIBAgIBATAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5kYi5leGFt
cGxlLmNvbTAiGA8yMDk5MDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAZMRcw
FQYDVQQDDA5kYi5leGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BF4FfPl8mT8uPZEompGRy0PNoxoThzr+JuBrrbUJN1j2j+zhiJjtzTAoCBN23Z+l
l6Fno5ILoQDhj7RMu6V92e6jTTBLMBkGA1UdEQQSMBCCDmRiLmV4YW1wbGUuY29t
MA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFB4lMMeX2TOH/ymugvt88cpsIYQj
MAoGCCqGSM49BAMCA0gAMEUCIBmQdI8Uo/LSg6vtIyJGDkFYgeiXJw4w/stj3wOu
s+QfAiEA+RUXHJ+Dx29wvdrT1838qzEput15nw6CdDoqLtlHfuk=
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSCOBxjYYAEx6qS08
c7v/YNV0qY+LyJV1h3JOYSWRfDahRANCAAReBXz5fJk/Lj2RKJqRkctDzaMaE4c6
/ibga621CTdY9o/s4YiY7c0wKAgTdt2fpZehZ6OSC6EA4Y+0TLulfdnu
-----END PRIVATE KEY-----
`;

const SSL_REQUEST = 80_877_103;

/** Behavior of a stub: the row that it returns for every statement; TLS with a certificate; or other bytes. */
export interface StubBehavior {
  readonly row?: Readonly<Record<string, string>>;
  readonly tls?: string;
  /** Sent instead of an answer in PostgreSQL's protocol; nothing if it is empty. */
  readonly bytes?: string;
}

/** A server that speaks enough of PostgreSQL's protocol to be connected to and asked one question. @returns its URL */
export async function stubPostgres({ row = {}, tls, bytes }: StubBehavior) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("data", (first: Buffer) => {
      if (bytes !== undefined) return void (bytes && socket.end(bytes));
      if (first.readInt32BE(4) !== SSL_REQUEST) return converse(socket, row);
      socket.write(tls ? "S" : "N");
      if (tls) secure(socket, tls);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `postgres://parley:a-secret@127.0.0.1:${(server.address() as AddressInfo).port}/parley`,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function secure(socket: Socket, cert: string): void {
  const secureContext = createSecureContext({ key: KEY, cert });
  new TLSSocket(socket, { isServer: true, secureContext }).on("error", () => undefined);
}

const message = (type: string, ...parts: readonly (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number) =>
  Buffer.from([value >> 24, value >> 16, value >> 8, value].map((n) => n & 255));

const TEXT = int32(25);
const READY = message("Z", "I");

/** Accepts any password, and answers each batch of messages with the row. */
function converse(socket: Socket, row: Readonly<Record<string, string>>): void {
  const names = Object.keys(row);
  const fields = names.map((name) =>
    Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), TEXT, int16(-1), int32(-1), int16(0)]),
  );
  const values = Object.values(row).map((value) => Buffer.concat([int32(value.length), Buffer.from(value)]));
  const answer = Buffer.concat([
    ...[message("1"), message("2"), message("T", int16(names.length), ...fields)],
    ...[message("D", int16(names.length), ...values), message("C", "SELECT 1\0"), READY],
  ]);
  socket.write(Buffer.concat([message("R", int32(0)), READY]));
  socket.on("data", (chunk: Buffer) => void (chunk[0] === 0x58 ? socket.end() : socket.write(answer)));
}
