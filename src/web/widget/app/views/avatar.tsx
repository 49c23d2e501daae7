import { useState } from "preact/hooks";
import type { Theme } from "../theme";

/** The assistant's picture, or the first letter of its title if there is none or it cannot be loaded. */
export function Avatar({ theme: { avatarUrl, title }, large }: { theme: Theme; large?: boolean }) {
  const [broken, setBroken] = useState<string>();
  const letter = Array.from(title)[0]?.toLocaleUpperCase() ?? "";
  return (
    <span class={large ? "avatar large" : "avatar"} aria-hidden="true">
      {avatarUrl && avatarUrl !== broken ? (
        <img src={avatarUrl} alt="" referrerPolicy="no-referrer" onError={() => setBroken(avatarUrl)} />
      ) : (
        letter
      )}
    </span>
  );
}
