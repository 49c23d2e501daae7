type Properties<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], "style">>;

/** Creates an element with properties and children; strings become text, never HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Properties<K> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}
