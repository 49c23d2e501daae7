import type { Look } from "../protocol";
import { hex, readableOn } from "./color";
import type { Theme } from "./theme";
import { say } from "./words";

/** The part of the theme that the launcher on the page needs. */
export const lookOf = (theme: Theme): Look => ({
  color: hex(theme.primary),
  onColor: hex(readableOn(theme.primary)),
  fontFamily: theme.fontFamily,
  position: theme.position,
  radius: theme.radius,
  launcherText: theme.launcherText,
  title: theme.title || say("conversation"),
  words: { open: say("open"), close: say("close"), unread: say("unread") },
});
