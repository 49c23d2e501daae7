/** Corrections of Swagger UI's markup that its components do not offer, by selector. */
const CORRECTIONS: readonly (readonly [selector: string, correct: (element: Element) => void])[] = [
  // A table is no landmark, and several without a name cannot be told apart.
  [".responses-table[role=region]", (table) => table.removeAttribute("role")],
  // The heading of a key that is in use follows an h4.
  [".auth-container h6:not([aria-level])", (heading) => heading.setAttribute("aria-level", "5")],
  // The schema of an answer that is a list has no title.
  [
    ".json-schema-2020-12-accordion:not([aria-label])",
    (button) => {
      if (button.textContent.trim() === "") button.setAttribute("aria-label", "Schema");
    },
  ],
];

/** Corrects the markup in a place now and after each change. */
export function keepCorrected(place: Element): void {
  const correct = () => {
    for (const [selector, change] of CORRECTIONS) place.querySelectorAll(selector).forEach(change);
  };
  new MutationObserver(correct).observe(place, { childList: true, subtree: true });
  correct();
}
