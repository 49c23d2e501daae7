import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

type Purpose = "encryption" | "lookup" | "token" | "link" | "digest";

interface Derived extends Readonly<Record<Purpose, Buffer>> {
  /** Public name of the key, so that a sealed value tells which key opens it. */
  readonly id: string;
}

/** What the ENCRYPTION_KEYS protect: secrets at rest, the index of credentials, tokens and links. The first key writes, all of them read. */
export class Crypto {
  private readonly keys: readonly [Derived, ...Derived[]];

  constructor(masters: readonly string[]) {
    const [first, ...others] = masters.map(derive);
    if (!first) throw new Error("ENCRYPTION_KEYS holds no key");
    this.keys = [first, ...others];
  }

  /** AES-256-GCM; `context` (an organization, a table) is authenticated: the value opens nowhere else. */
  seal(plain: string, context: string): string {
    const [{ id, encryption }] = this.keys;
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", encryption, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${id}.${sealed.toString("base64url")}`;
  }

  /** @throws Error when the value was sealed with a key that is not here, for another context, or was changed */
  open(sealed: string, context: string): string {
    const [id, body = ""] = sealed.split(".");
    const key = this.keys.find((key) => key.id === id);
    if (!key)
      throw new Error(
        `ENCRYPTION_KEYS lacks the key ${id} that a stored secret was encrypted with. Keep a former key behind the new one: new,old.`,
      );
    const bytes = Buffer.from(body, "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key.encryption, bytes.subarray(0, 12))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-16));
    return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
  }

  /** Public names of the keys, the writing one first. */
  get ids(): string[] {
    return this.keys.map(({ id }) => id);
  }

  /** By each key's id, a digest that only its owner can compute: tells whether two installations have the same keys. */
  checkValues(): Record<string, string> {
    return Object.fromEntries(this.keys.map(({ id, lookup }) => [id, mac(lookup, `check ${id}`)]));
  }

  /** What a credential is found by in the database, under the newest key. */
  lookup(value: string): string {
    return mac(this.keys[0].lookup, value);
  }

  /** What it may be stored under after rotations, newest first. */
  lookups(value: string): string[] {
    return this.keys.map(({ lookup }) => mac(lookup, value));
  }

  /** The key that signs tokens, and its id. */
  get tokenKey(): { readonly id: string; readonly key: Buffer } {
    return { id: this.keys[0].id, key: this.keys[0].token };
  }

  tokenKeyById(id: string | undefined): Buffer | undefined {
    return this.keys.find((key) => key.id === id)?.token;
  }

  /** Keyed digest that stands for a person's words or identifier: it tells them only to who has the key and guesses them. */
  digest(text: string): string {
    return digestUnder(this.keys[0], text);
  }

  /** The same under every key, newest first, for finding what was digested before rotations. */
  digests(text: string): string[] {
    return this.keys.map((key) => digestUnder(key, text));
  }

  /** Signs what stands in a link. */
  sign(text: string): string {
    return mac(this.keys[0].link, text);
  }

  verify(text: string, signature: string): boolean {
    return this.keys.some(({ link }) => sameText(mac(link, text), signature));
  }
}

/** Compares in constant time. */
export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

export const randomText = (bytes: number): string => randomBytes(bytes).toString("base64url");

const mac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest("base64url");

const digestUnder = ({ id, digest }: Derived, text: string) => `${id}.${mac(digest, text)}`;

function derive(master: string): Derived {
  const sub = (purpose: Purpose | "id", length: number) =>
    Buffer.from(hkdfSync("sha256", master, "parley", purpose, length));
  return {
    id: sub("id", 6).toString("base64url"),
    encryption: sub("encryption", 32),
    lookup: sub("lookup", 32),
    token: sub("token", 32),
    link: sub("link", 32),
    digest: sub("digest", 32),
  };
}
