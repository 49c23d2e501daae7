import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import type * as Age from "age-encryption";
import type { BackupPlace } from "../platform/ports/backup-place";
import { load } from "../platform/providers/load";
import type { BackupKey } from "./backup-key";

/** Encrypts the parts of a backup, or decrypts them. Decrypting fails on content that was changed or cut off. */
export type Encryption = (content: Readable) => Promise<Readable>;

/** Extension of encrypted parts. */
export const ENCRYPTED = ".age";
/** A secret key that is made for one backup, encrypted with the passphrase: so the slow derivation happens once. */
export const KEY_PATH = `key${ENCRYPTED}`;

const age = (): typeof Age => load<typeof Age>("age-encryption");

/** Prepares the encryption of a new backup. With a passphrase, writes the backup's own key into it. */
export async function encryptionOf(key: BackupKey): Promise<{ encrypt: Encryption; ownKey?: Buffer }> {
  const { Encrypter, generateX25519Identity, identityToRecipient } = age();
  const encrypter = new Encrypter();
  const encrypt: Encryption = (content) => through((stream) => encrypter.encrypt(stream), content);
  if (key.passphrase === undefined) {
    await checked(key, async () => {
      const own = await Promise.all(key.identities.map(identityToRecipient));
      for (const recipient of [...key.recipients, ...own]) encrypter.addRecipient(recipient);
    });
    return { encrypt };
  }
  const identity = await generateX25519Identity();
  encrypter.addRecipient(await identityToRecipient(identity));
  const wrapper = new Encrypter();
  wrapper.setPassphrase(key.passphrase);
  return { encrypt, ownKey: Buffer.from(await wrapper.encrypt(`${identity}\n`)) };
}

/**
 * Opens the encryption of a backup.
 * @throws Error if the key is of another kind than the backup needs; `decrypt` fails if it is another key
 */
export async function decryptionOf(key: BackupKey | undefined, place: BackupPlace): Promise<Encryption> {
  const { Decrypter } = age();
  const ownKey = await place.read(KEY_PATH);
  const needed = ownKey === undefined ? "the secret key of age (AGE-SECRET-KEY-…)" : "the passphrase";
  if (key === undefined)
    throw new Error(
      `The backup in ${place.name} is encrypted. Set BACKUP_KEY to ${needed}, or name a file that has it with --key-file. Nothing was changed.`,
    );
  if ((key.passphrase === undefined) !== (ownKey === undefined) || isPublic(key))
    throw new Error(
      `The backup in ${place.name} needs ${needed}; ${key.source} has ${kindOf(key)}. Set BACKUP_KEY, or name a file with --key-file. Nothing was changed.`,
    );
  const identities = ownKey ? [await unwrapped(ownKey, key, place)] : key.identities;
  const decrypter = new Decrypter();
  await checked(key, () => identities.forEach((identity) => decrypter.addIdentity(identity)));
  return (content) =>
    through((stream) => decrypter.decrypt(stream), content).catch((error: unknown) => {
      throw isOtherKey(error) ? otherKey(key, place) : error;
    });
}

/** The backup's own key. */
async function unwrapped(content: Readable, key: BackupKey, place: BackupPlace): Promise<string> {
  const decrypter = new (age().Decrypter)();
  decrypter.addPassphrase(key.passphrase!);
  try {
    return (await text(await through((stream) => decrypter.decrypt(stream), content))).trim();
  } catch (cause) {
    if (isOtherKey(cause)) throw otherKey(key, place);
    throw new Error(`The backup in ${place.name} is damaged: ${KEY_PATH} was changed. Use another backup.`, {
      cause,
    });
  }
}

const isPublic = (key: BackupKey): boolean => key.passphrase === undefined && key.identities.length === 0;

const kindOf = (key: BackupKey): string => {
  if (key.passphrase !== undefined) return "a passphrase";
  return isPublic(key) ? "public keys, which only encrypt" : "a secret key of age";
};

/** Code of the error about a key of another backup. */
export const OTHER_KEY = "OTHER_KEY";

const otherKey = ({ source }: BackupKey, { name }: BackupPlace): Error =>
  Object.assign(
    new Error(
      `The key in ${source} does not decrypt the backup in ${name}. Use the key that encrypted it. Nothing was changed.`,
    ),
    { code: OTHER_KEY },
  );

/** The package has no other sign of it. */
const isOtherKey = (error: unknown): boolean => /^no identity matched/.test((error as Error).message);

async function checked(key: BackupKey, use: () => unknown): Promise<void> {
  try {
    await use();
  } catch (error) {
    throw new Error(`${key.source} contains a key of age that is not valid. Copy it again as a whole.`, {
      cause: error,
    });
  }
}

type WebStream = globalThis.ReadableStream<Uint8Array>;

/** Node and the standard library of TypeScript declare the same streams separately. */
const through = async (
  work: (stream: WebStream) => Promise<WebStream>,
  content: Readable,
): Promise<Readable> =>
  Readable.fromWeb((await work(Readable.toWeb(content) as WebStream)) as ReadableStream);
