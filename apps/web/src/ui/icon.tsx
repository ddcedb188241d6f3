// The page's pictograms: one line each, drawn on a 24 by 24 grid. Always beside or instead of words that name them.

const PATHS = {
  alert: 'M12 8.5v4.5m0 3.5h.01M10.3 3.9 2.4 17.6A2 2 0 0 0 4.1 20.6h15.8a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0Z',
  back: 'M15 5l-7 7 7 7',
  bolt: 'M13 3 5 13.5h6L10 21l8-10.5h-6z',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  chevron: 'M9 6l6 6-6 6',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  down: 'M12 5v14m-6-6 6 6 6-6',
  folder: 'M3.5 6.5h6l2 2.5h9v9.5h-17z',
  gantry: 'M3 7h18M6 7v13M18 7v13M12 7v4m-2.5 0h5v4.5h-5z',
  help: 'M9.2 9.2a2.9 2.9 0 1 1 4.2 2.6c-.9.5-1.4 1-1.4 2m0 3h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  key: 'M14.5 9.5a4 4 0 1 0-3.9 4l1.9-1.9h2v-2h2l3-3M8 9.5h.01',
  message: 'M4 5h16v11.5H9.5L5.5 20v-3.5H4z',
  minus: 'M6 12h12',
  out: 'M10 5H5v14h5M15 8l4 4-4 4m4-4H10',
  plus: 'M12 5v14M5 12h14',
  question: 'M12 3 4 6v6c0 4.5 3.2 7.6 8 9 4.8-1.4 8-4.5 8-9V6zM12 8.5v4m0 3h.01',
  refresh: 'M19.5 12a7.5 7.5 0 1 1-2.2-5.3L19.5 9m0-5v5h-5',
  send: 'M12 19V5m-6 6 6-6 6 6',
  spark: 'M12 3.5l1.9 6.6 6.6 1.9-6.6 1.9L12 20.5l-1.9-6.6L3.5 12l6.6-1.9z',
  stop: 'M7 7h10v10H7z',
  terminal: 'M5 7l5 5-5 5m7 0h7',
  tool: 'M14.5 6.5a4 4 0 0 0-5.2 5.2L4 17l3 3 5.3-5.3a4 4 0 0 0 5.2-5.2L15 12l-3-3z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = 'size-4' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 24 24"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
