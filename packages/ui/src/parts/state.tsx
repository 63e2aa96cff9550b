import { lookOf, type Shape } from './states.ts';

const fill = { fill: 'currentColor', stroke: 'none' };
const line = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.8,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const;
const onFill = {
  fill: 'none',
  stroke: 'var(--surface)',
  strokeWidth: 1.8,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const;

const DRAWINGS: Readonly<Record<Shape, React.ReactNode>> = {
  check: (
    <>
      <circle cx="8" cy="8" r="7" {...fill} />
      <path d="M4.8 8.2l2.2 2.2 4.2-4.6" {...onFill} />
    </>
  ),
  cross: (
    <>
      <path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" {...fill} />
      <path d="M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8" {...onFill} />
    </>
  ),
  ring: (
    <>
      <circle cx="8" cy="8" r="6" {...line} opacity="0.3" />
      <path d="M8 2a6 6 0 0 1 6 6" {...line} className="spin" />
    </>
  ),
  again: <path d="M13.5 8A5.5 5.5 0 1 1 11.6 3.8M11.6 1.2v2.9H8.7" {...line} />,
  hollow: <circle cx="8" cy="8" r="6" {...line} />,
  dotted: <circle cx="8" cy="8" r="6" {...line} strokeDasharray="1.5 3.2" />,
  pause: <path d="M5.2 3v10M10.8 3v10" {...line} strokeWidth={2.6} />,
  arrow: <path d="M3 4l4 4-4 4M8.5 4l4 4-4 4" {...line} />,
  triangle: (
    <>
      <path d="M8 1.4l7 12.8H1z" {...fill} />
      <path d="M8 6v3.6M8 11.7v.1" {...onFill} />
    </>
  ),
  slash: (
    <>
      <circle cx="8" cy="8" r="6" {...line} />
      <path d="M4 12l8-8" {...line} />
    </>
  ),
  minus: <path d="M3 8h10" {...line} />,
  stack: (
    <>
      <rect x="1.5" y="5" width="9.5" height="9.5" rx="1.5" {...line} />
      <path d="M5 2h8a1.5 1.5 0 0 1 1.5 1.5v8" {...line} />
    </>
  ),
  half: (
    <>
      <circle cx="8" cy="8" r="6" {...line} />
      <path d="M8 2a6 6 0 0 1 0 12z" {...fill} />
    </>
  ),
  diamond: (
    <>
      <path d="M8 .8L15.2 8 8 15.2.8 8z" {...fill} />
      <path d="M8 4.6v4M8 11.1v.1" {...onFill} />
    </>
  ),
};

export function StateIcon({ state, size = 14 }: { readonly state: string; readonly size?: number }) {
  const { word, tone, shape } = lookOf(state);
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" className={`tone-${tone}`} role="img" aria-label={word}>
      {DRAWINGS[shape]}
    </svg>
  );
}

export function State({ state }: { readonly state: string }) {
  const { word, tone } = lookOf(state);
  return (
    <span className={`state tone-${tone}`}>
      <svg width={14} height={14} viewBox="0 0 16 16" aria-hidden="true">
        {DRAWINGS[lookOf(state).shape]}
      </svg>
      {word}
    </span>
  );
}
