/** How many times a second the next time of an expression is found, beside the cron libraries that others use. */
import { compileTimetable, type Instant, windowAfter } from '@signalbox/engine';
import { zoneData } from '@signalbox/protocol/zones';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
import { atLeast } from '../bar.ts';
import { type Figure, quantile } from '../figure.ts';

const EXPRESSIONS = ['*/5 * * * *', '30 2 * * *', '0 9 * * 1-5', '0 0 1 * *', '15 3 * 1,7 SUN', '0 12 29 2 *'] as const;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const;
const FROM = Date.UTC(2027, 0, 1);
const ROUNDS = 5;

type Next = (after: number) => number;
type Maker = (cron: string, zone: string) => Next;

const makers: Readonly<Record<string, Maker>> = {
  ours(cron, zone) {
    const compiled = compileTimetable({ cron, zone, gap: 'fire_after' }, 'bench');
    if (!compiled.ok) throw new Error(compiled.fault.message);
    const { timetable } = compiled;
    return (after) => windowAfter(timetable, after as Instant, zoneData)!.at;
  },
  croner(cron, timezone) {
    const job = new Cron(cron, { timezone, paused: true });
    return (after) => job.nextRun(new Date(after))!.getTime();
  },
  'cron-parser'(cron, tz) {
    const expression = CronExpressionParser.parse(cron, { tz, currentDate: new Date(FROM) });
    // It goes on from where it is: that is the fastest way to ask it for the next one after the last.
    return () => expression.next().getTime();
  },
};

/** Each asks all expressions in all zones, the next one after the last, in turns, so that a busy machine slows all of them. */
export function nextTimes(scale: number): Figure[] {
  const perSecond = new Map(Object.keys(makers).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, maker] of Object.entries(makers)) {
      const steps = Math.max(2, Math.round((name === 'ours' ? 5_000 : 50) * scale));
      perSecond.get(name)?.push(speed(maker, steps));
    }
  }
  const best = (name: string) => quantile(perSecond.get(name) ?? [], 0.5);
  const ours = best('ours');
  const [croner, parser] = [best('croner'), best('cron-parser')];
  const ratio = { name: 'of the faster library', value: ours / Math.max(croner, parser) };
  return [
    {
      what: `next() of ${EXPRESSIONS.length} expressions in ${ZONES.length} zones`,
      ...{ value: ours, unit: 'a second', bar: atLeast({ goal: 10, of: ratio }) },
      details: { croner, 'cron-parser': parser, 'times croner': ours / croner, 'times cron-parser': ours / parser },
    },
  ];
}

function speed(maker: Maker, steps: number): number {
  const all = ZONES.flatMap((zone) => EXPRESSIONS.map((cron) => maker(cron, zone)));
  let asked = 0;
  const began = performance.now();
  for (const next of all) {
    let at = FROM;
    for (let step = 0; step < steps; step++) {
      // Not beyond the years that matter, and that zone data is made for.
      at = at > FROM + FIVE_YEARS_MS ? FROM : next(at);
      asked += 1;
    }
  }
  return (asked / (performance.now() - began)) * 1_000;
}

const FIVE_YEARS_MS = 5 * 365.25 * 86_400_000;
