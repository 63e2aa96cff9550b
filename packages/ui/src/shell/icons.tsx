/** Small drawings of one line weight. */
const PATHS = {
  home: 'M2.5 7.5L8 3l5.5 4.5V13a.5.5 0 0 1-.5.5H9.8V10H6.2v3.5H3a.5.5 0 0 1-.5-.5z',
  dags: 'M3 2.5h3v3H3zM10 10.5h3v3h-3zM10 2.5h3v3h-3zM6 4h4M11.5 5.5v5M4.5 5.5V12H10',
  runs: 'M4 3.2v9.6L13 8z',
  schedules: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.8V8l2.4 1.6',
  backfills: 'M13.5 3.5v9M11 8H3M6 4.8L2.8 8 6 11.2',
  assets: 'M8 1.8l5.5 3v6.4L8 14.2l-5.5-3V4.8zM2.5 4.8L8 7.8l5.5-3M8 7.8v6.4',
  sources: 'M2.5 8h8M7.5 5l3 3-3 3M8.5 2.5h5v11h-5',
  jobs: 'M2.5 5.5h11v7.5h-11zM5.8 5.5V3.2h4.4v2.3M2.5 9h11',
  tenants: 'M2.5 13.5V3.5h6v10M8.5 7h5v6.5M1.5 13.5h13M4.5 6h2M4.5 8.5h2M4.5 11h2M10.5 9.5h1',
  letters: 'M2 4h12v8.5H2zM2 4.5l6 4.5 6-4.5',
  breakers: 'M2 11.5h3.5L11 5M11 11.5h3M5.5 11.5v.1',
  workers: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1',
  queues: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  limits: 'M3 13.5V7a5 5 0 0 1 10 0v6.5M5.5 13.5V8.5M8 13.5V6.5M10.5 13.5V8.5M2 13.5h12',
  costs: 'M11 4.2A4.6 4.6 0 0 0 4.6 8a4.6 4.6 0 0 0 6.4 3.8M2.5 7h6M2.5 9.2h6',
  events: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  system:
    'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1',
  moon: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z',
  auto: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  play: 'M4.5 3v10l8-5z',
  pause: 'M5.2 3.5v9M10.8 3.5v9',
  stop: 'M4 4h8v8H4z',
  again: 'M13 8a5 5 0 1 1-1.8-3.8M11.5 1.5v3h-3',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  download: 'M8 2.5v8M4.8 7.5L8 10.7l3.2-3.2M3 13.2h10',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  callbacks: 'M13.5 3.5h-7a3.5 3.5 0 0 0 0 7h6M9.8 7.2L13 10.5l-3.2 3.3',
  link: 'M6.5 9.5l3-3M7 4.8l1.3-1.3a2.8 2.8 0 0 1 4 4L11 8.8M9 11.2l-1.3 1.3a2.8 2.8 0 0 1-4-4L5 7.2',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

export function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M9 28V4" stroke="var(--ink)" strokeWidth="3" strokeLinecap="round" />
      <path d="M9 5l17 5.6-1.2 4.4L9 10.4z" fill="var(--bad-fill)" />
      <circle cx="9" cy="21" r="4" fill="var(--ok-fill)" />
    </svg>
  );
}
