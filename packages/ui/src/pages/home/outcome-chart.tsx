/** How many runs ended in each of the last hours, and how. */
import type { Stats } from '@signalbox/protocol';
import { plural } from '../../parts/format.ts';

const WIDTH = 8;
const HEIGHT = 40;
const TONES = [
  ['succeeded', 'ok'],
  ['failed', 'bad'],
  ['cancelled', 'idle'],
] as const;

export function OutcomeChart({ stats }: { readonly stats: Stats | undefined }) {
  if (stats === undefined) return <span className="faint">–</span>;
  const { steps, total } = stats;
  const ended = (step: Stats['total']) => TONES.reduce((sum, [field]) => sum + step[field], 0);
  const most = Math.max(1, ...steps.map(ended));
  const label = `${plural(ended(total), 'run')} ended in the last ${steps.length} hours, ${total.failed} failed`;
  return (
    <figure aria-label={label}>
      <svg
        viewBox={`0 0 ${steps.length * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="bars"
        role="img"
        aria-label={label}
      >
        {steps.map((step, at) => {
          let top = HEIGHT;
          return (
            <g key={step.from}>
              <title>{`${new Date(step.from).toLocaleTimeString([], { timeStyle: 'short' })}: ${ended(step)} ended, ${step.failed} failed`}</title>
              {TONES.map(([field, tone]) => {
                const height = (step[field] / most) * (HEIGHT - 1);
                top -= height;
                return height === 0 ? null : (
                  <rect
                    key={tone}
                    x={at * WIDTH + 1}
                    y={top}
                    width={WIDTH - 2}
                    height={height}
                    className={`bar-${tone}`}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <figcaption className="small faint">{label}</figcaption>
    </figure>
  );
}
