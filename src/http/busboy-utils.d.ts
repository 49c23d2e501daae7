/** The part of busboy that reads the values of headers, each character once. */
declare module "busboy/lib/utils.js" {
  export function parseContentType(
    value: string,
  ): { readonly type: string; readonly subtype: string } | undefined;
  export function parseDisposition(
    value: string,
    decode: (text: string) => string,
  ): { readonly params: Readonly<Record<string, string>> } | undefined;
}
