import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Distance from the end that still counts as the end, in pixels. */
const END_MARGIN_PX = 48;

interface PinnedLog {
  readonly log: RefObject<HTMLDivElement | null>;
  /** Whether the newest message is out of sight. */
  readonly away: boolean;
  readonly toEnd: () => void;
  readonly onScroll: () => void;
}

/** Keeps a log scrolled to its end while it grows, unless the reader has scrolled back. */
export function usePinned(grown: unknown): PinnedLog {
  const log = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  const following = useRef(true);
  const toEnd = () => {
    following.current = true;
    const { current } = log;
    if (current) current.scrollTop = current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (following.current) toEnd();
  }, [grown]);
  useLayoutEffect(() => {
    const { current } = log;
    if (!current) return;
    // The frame is resized with the page's dialog and the on-screen keyboard.
    const resized = new ResizeObserver(() => following.current && toEnd());
    resized.observe(current);
    return () => resized.disconnect();
  }, []);
  const onScroll = () => {
    const { current } = log;
    if (!current) return;
    following.current = current.scrollHeight - current.scrollTop - current.clientHeight < END_MARGIN_PX;
    setAway(!following.current);
  };
  return { log, away, toEnd, onScroll };
}
