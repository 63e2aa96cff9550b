/** A square for each day: how many runs, and whether some failed. */
import type { Stats } from '@signalbox/protocol';
import { plural } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { type Day, weeksOf } from './history-figures.ts';

export const WEEKS = 26;
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const monthName = new Intl.DateTimeFormat(undefined, { month: 'short' });

export function Calendar({ steps }: { readonly steps: Stats['steps'] }) {
  const now = useNow();
  const weeks = weeksOf(steps, now, WEEKS);
  const most = Math.max(1, ...weeks.flat().map(({ total }) => total));
  return (
    <div className="scroll-x">
      <table className="calendar" aria-label="Runs by day">
        <thead>
          <tr>
            <td />
            {weeks.map((week, at) => (
              <th key={week[0]?.noonMs} scope="col">
                {monthAt(weeks, at)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {WEEKDAYS.map((weekday, at) => (
            <tr key={weekday}>
              <th scope="row">{weekday}</th>
              {weeks.map((week) => {
                const day = week[at] as Day;
                const text = textOf(day);
                return (
                  <td key={day.noonMs} title={text}>
                    <i className={lookOf(day, most)} />
                    <span className="visually-hidden">{text}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="calendar-keys small faint">
        <span>
          <i className="day level-1" />
          <i className="day level-2" />
          <i className="day level-3" /> more runs
        </span>
        <span>
          <i className="day some-failed" /> some failed
        </span>
        <span>
          <i className="day all-failed" /> all failed
        </span>
      </div>
    </div>
  );
}

/** The name of a month stands above the first week that begins in it. */
function monthAt(weeks: readonly (readonly Day[])[], at: number): string {
  const month = (week: readonly Day[] | undefined) =>
    week?.[0] === undefined ? null : new Date(week[0].noonMs).getMonth();
  const first = weeks[at]?.[0];
  const isNew = month(weeks[at]) !== month(weeks[at - 1]);
  // One that has a single week here would run into the next name.
  const hasRoom = month(weeks[at]) === month(weeks[at + 1]);
  return first !== undefined && isNew && hasRoom ? monthName.format(first.noonMs) : '';
}

function textOf({ noonMs, total, failed, isUnknown }: Day): string {
  const name = dayName.format(noonMs);
  if (isUnknown) return `${name}: nothing is known`;
  return `${name}: ${plural(total, 'run')}${failed > 0 ? `, ${failed} failed` : ''}`;
}

function lookOf({ total, failed, isUnknown }: Day, most: number): string {
  if (isUnknown) return 'day unknown';
  if (total === 0) return 'day';
  if (failed === total) return 'day all-failed';
  if (failed > 0) return 'day some-failed';
  return `day level-${Math.min(3, 1 + Math.floor((2.99 * total) / most))}`;
}
