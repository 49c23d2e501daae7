/** A note about the attachments of a text message, of which only number and types are known. */
export function attachmentNote(count: number, types: readonly string[] = []): string {
  const pictures = types.length === count && types.every((type) => type.startsWith("image/"));
  const one = pictures ? "a picture" : "an attachment";
  const many = pictures ? `${count} pictures` : `${count} attachments`;
  return `(The person sent ${count === 1 ? one : many}, which can't be seen here.)`;
}
