const PATHS = {
  send: "M12 19V5m-6 6 6-6 6 6",
  close: "M6 6l12 12M18 6 6 18",
  back: "M15 5l-7 7 7 7",
  history: "M12 7v5l3.5 2M3.5 12a8.5 8.5 0 1 0 2.6-6.1L3.5 8.4M3.5 4v4.4h4.4",
  compose:
    "M12.5 5H6.2A2.2 2.2 0 0 0 4 7.2v10.6A2.2 2.2 0 0 0 6.2 20h10.6a2.2 2.2 0 0 0 2.2-2.2v-6.3M18.2 3.8a1.8 1.8 0 0 1 2.5 2.5L13 14l-3.5 1 1-3.5Z",
  mic: "M12 3.5a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0v-5a3 3 0 0 1 3-3ZM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5v3",
  muted:
    "M15 10.8V6.5a3 3 0 0 0-5.7-1.3M9 9v2.5a3 3 0 0 0 4.6 2.5M5.5 11a6.5 6.5 0 0 0 10.3 5.3M18.5 11a6.5 6.5 0 0 1-.7 3M12 17.5v3M4 4l16 16",
  phone:
    "M5 4h3.6l1.6 4.4-2.2 1.5a12 12 0 0 0 6.1 6.1l1.5-2.2L20 15.4V19a1.6 1.6 0 0 1-1.8 1.6A16 16 0 0 1 3.4 5.8 1.6 1.6 0 0 1 5 4Z",
  stop: "M7.5 7.5h9v9h-9z",
  down: "M12 5v14m-6-6 6 6 6-6",
  chat: "M20.5 11.6a8 8 0 0 1-11.8 7L4 20l1.5-4.3A8 8 0 1 1 20.5 11.6Z",
} as const;

export type IconName = keyof typeof PATHS;

/** Decorative, always next to a label. The style sheet mirrors arrows for right-to-left languages. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg viewBox="0 0 24 24" aria-hidden="true" class={`icon icon-${name}`}>
    <path d={PATHS[name]} />
  </svg>
);

interface IconButtonProps {
  readonly name: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly class?: string;
  readonly pressed?: boolean;
}

export const IconButton = ({ name, label, onClick, pressed, class: className = "" }: IconButtonProps) => (
  <button
    type="button"
    class={`icon-button ${className}`}
    aria-label={label}
    title={label}
    aria-pressed={pressed}
    onClick={onClick}
  >
    <Icon name={name} />
  </button>
);
