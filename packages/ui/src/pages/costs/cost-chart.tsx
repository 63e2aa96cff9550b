import type { Costs } from '@signalbox/protocol';
import { money } from './money.ts';

const WIDTH = 8;
const HEIGHT = 60;
const DAY_MS = 86_400_000;

interface CostChartProps {
  readonly from: string;
  readonly days: number;
  readonly costs: Costs;
}

/** A bar for each day, also for those without costs. */
export function CostChart({ from, days, costs: { items, total, currency } }: CostChartProps) {
  const costOf = new Map(items.map(({ name, cost }) => [name, cost]));
  const most = Math.max(...items.map(({ cost }) => cost), Number.MIN_VALUE);
  const label = `${money(total.cost)} ${currency} in ${days} days, at most ${money(items.length === 0 ? 0 : most)} on a day`;
  return (
    <figure aria-label={label}>
      <svg
        viewBox={`0 0 ${days * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="bars cost-bars"
        role="img"
        aria-label={label}
      >
        {Array.from({ length: days }, (_, at) => {
          const day = new Date(Date.parse(from) + at * DAY_MS).toISOString().slice(0, 10);
          const cost = costOf.get(day) ?? 0;
          const height = (cost / most) * (HEIGHT - 1);
          return (
            <g key={day}>
              <title>{`${day}: ${money(cost)} ${currency}`}</title>
              <rect x={at * WIDTH} y={0} width={WIDTH} height={HEIGHT} fill="transparent" />
              <rect x={at * WIDTH + 1} y={HEIGHT - height} width={WIDTH - 2} height={height} className="bar-cost" />
            </g>
          );
        })}
      </svg>
      <figcaption className="small faint">{label}</figcaption>
    </figure>
  );
}
