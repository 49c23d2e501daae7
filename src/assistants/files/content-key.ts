import { hash } from "node:crypto";

/** Names that every storage keeps as they are. Names of digests are left out, so that none is taken. */
const SAFE = /^(?!sha256-)[\da-z][\da-z-]{0,99}$/;
const DIGEST = /^sha256-[\da-f]{64}$/;

/** SQL of the name of a file's content in a storage, if its id cannot be the name. */
export const DIGEST_OF_ID = "'sha256-' || encode(sha256(convert_to(id, 'UTF8')), 'hex')";

/**
 * Key of a file's content in the storage. Ids of imported files may have any form: they may be long, contain slashes, or
 * differ only by case, which folders of some systems ignore.
 */
export const contentKey = (organizationId: string, id: string): string => `${organizationId}/${nameOf(id)}`;

const nameOf = (id: string): string => (SAFE.test(id) ? id : `sha256-${hash("sha256", id, "hex")}`);

/** Whether the id of the file is not in the name of its content. */
export const isDigest = (name: string): boolean => DIGEST.test(name);
