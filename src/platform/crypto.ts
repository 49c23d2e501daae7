import {
  createCipheriv,
  createDecipheriv,
  hash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { mistake } from "./mistake";

type Purpose = "encryption" | "lookup" | "token" | "link" | "digest";

interface DerivedKeys extends Readonly<Record<Purpose, Buffer>> {
  /** Public id of the key. Every sealed value begins with it, to find the key that opens the value. */
  readonly id: string;
}

/** Encrypts secrets, digests credentials and signs tokens and links with ENCRYPTION_KEYS. The first key writes, all keys read. */
export class Crypto {
  private readonly keys: readonly [DerivedKeys, ...DerivedKeys[]];

  /** @param file the file that has the keys, instead of the setting */
  constructor(
    masters: readonly string[],
    private readonly file?: string,
  ) {
    const [first, ...others] = masters.map(derive);
    if (!first) throw mistake(new Error("ENCRYPTION_KEYS is empty: set at least one key."));
    this.keys = [first, ...others];
  }

  /**
   * Encrypts with AES-256-GCM.
   * @param context authenticated but not stored, such as the organization and the table: the value opens with the same context only
   */
  seal(plain: string, context: string): string {
    const [{ id, encryption }] = this.keys;
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", encryption, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${id}.${sealed.toString("base64url")}`;
  }

  /** @throws Error if the value was sealed with an unknown key or for another context, or has been changed */
  open(sealed: string, context: string): string {
    const [id = "", body = ""] = sealed.split(".");
    const { encryption } = this.keyNamed(id);
    const bytes = Buffer.from(body, "base64url");
    try {
      const decipher = createDecipheriv("aes-256-gcm", encryption, bytes.subarray(0, 12))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
    } catch (cause) {
      throw new Error(
        `The encrypted value of ${context} was changed in the database, or is that of another record.`,
        { cause },
      );
    }
  }

  /** The key with which a value was sealed. @param id the part of the value before the point. @throws Error if it is unknown */
  keyNamed(id: string): DerivedKeys {
    const key = this.keys.find((key) => key.id === id);
    if (key) return key;
    throw mistake(
      new Error(
        this.file === undefined
          ? `ENCRYPTION_KEYS lacks the key ${id}, with which a stored secret was encrypted. List former keys after the new one: new,old.`
          : `The file ${this.file} lacks the key ${id}, with which a stored secret was encrypted. Restore the file from your copy.`,
      ),
    );
  }

  /** Public ids of the keys, the writing key first. */
  get ids(): string[] {
    return this.keys.map(({ id }) => id);
  }

  /** A digest for each key id that only the owner of the key can compute; shows whether two installations have the same keys. */
  checkValues(): Record<string, string> {
    return Object.fromEntries(this.keys.map(({ id, lookup }) => [id, mac(lookup, `check ${id}`)]));
  }

  /** Digest under which a credential is stored and found in the database; made with the newest key. */
  lookup(value: string): string {
    return mac(this.keys[0].lookup, value);
  }

  /** Digests under every key, newest first: after a rotation a credential may be stored under an older one. */
  lookups(value: string): string[] {
    return this.keys.map(({ lookup }) => mac(lookup, value));
  }

  /** The key that signs new tokens, and its id. */
  get tokenKey(): { readonly id: string; readonly key: Buffer } {
    return { id: this.keys[0].id, key: this.keys[0].token };
  }

  tokenKeyById(id: string | undefined): Buffer | undefined {
    return this.keys.find((key) => key.id === id)?.token;
  }

  /** Keyed digest that replaces personal text or an identifier. Only the owner of the key can test a guess against it. */
  digest(text: string): string {
    return digestUnder(this.keys[0], text);
  }

  /** Digests of `text` under every key, newest first, to find records that were digested before a rotation. */
  digests(text: string): string[] {
    return this.keys.map((key) => digestUnder(key, text));
  }

  /** Signature for the content of a link. */
  sign(text: string): string {
    return mac(this.keys[0].link, text);
  }

  verify(text: string, signature: string): boolean {
    return this.keys.some(({ link }) => sameText(mac(link, text), signature));
  }
}

/** Compares in constant time. */
export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(a), digest(b));
}

export const randomText = (bytes: number): string => randomBytes(bytes).toString("base64url");

const mac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest("base64url");

const digestUnder = ({ id, digest }: DerivedKeys, text: string) => `${id}.${mac(digest, text)}`;

function derive(master: string): DerivedKeys {
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
