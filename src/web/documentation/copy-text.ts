/**
 * Copies the text of an element. Pages have the clipboard only with HTTPS or on the server's machine; elsewhere the
 * text is selected and copied by a command.
 * @returns false if the browser refuses both; the text is then selected
 */
export async function copyText(element: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection()!.selectAllChildren(element);
    return document.execCommand("copy");
  }
}
