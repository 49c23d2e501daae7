/** busboy's header parsers, which take linear time. */
declare module "busboy/lib/utils.js" {
  export function parseContentType(
    value: string,
  ): { readonly type: string; readonly subtype: string } | undefined;
  export function parseDisposition(
    value: string,
    decode: (text: string) => string,
  ): { readonly params: Readonly<Record<string, string>> } | undefined;
}
