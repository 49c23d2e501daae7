import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** How near its end counts as at its end, in pixels. */
const NEAR = 48;

interface Pinned {
  readonly log: RefObject<HTMLDivElement | null>;
  /** Whether the newest is out of sight. */
  readonly away: boolean;
  readonly toEnd: () => void;
  readonly onScroll: () => void;
}

/** Keeps a log at its end while it grows, unless its reader has scrolled back. */
export function usePinned(grown: unknown): Pinned {
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
    // The frame grows and shrinks with the page's dialog and with a phone's keyboard.
    const resized = new ResizeObserver(() => following.current && toEnd());
    resized.observe(current);
    return () => resized.disconnect();
  }, []);
  const onScroll = () => {
    const { current } = log;
    if (!current) return;
    following.current = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR;
    setAway(!following.current);
  };
  return { log, away, toEnd, onScroll };
}
