/**
 * One mixed load over 20 simulated workers: how well they are used, and what tasks wait that want a whole worker. Beside random and first
 * fit on the same load. Nothing is timed by a real clock, so the figures are the same on every machine.
 */
import { DEFAULT_SETTINGS } from '@signalbox/engine';
import { atLeast, atMost } from '../bar.ts';
import { type Figure, quantile } from '../figure.ts';
import { matchedStarts } from './matched.ts';
import { naiveStarts } from './naive.ts';
import { LARGE, mixedTrace, type Trace } from './trace.ts';

/** Of what the processors of the fleet could do: nearly full, and more than they can do, so that something always waits. */
const LOADS = [0.95, 1.1];

interface Result {
  /** Share of processor time that was used while tasks came. */
  readonly used: number;
  /** Seconds. */
  readonly largeP50: number;
  readonly largeP95: number;
  readonly largeMax: number;
  readonly allP50: number;
}

export function placement(count: number): Figure[] {
  return LOADS.flatMap((load) => atLoad(mixedTrace(count, load), `placement at ${Math.round(load * 100)} %`));
}

function atLoad(trace: Trace, what: string): Figure[] {
  const own = resultOf(trace, matchedStarts(trace, DEFAULT_SETTINGS.reserveAfterMs));
  const first = resultOf(trace, naiveStarts(trace, 'first'));
  const others = {
    'without reservations': resultOf(trace, matchedStarts(trace, Number.POSITIVE_INFINITY)),
    'first fit': first,
    'random fit': resultOf(trace, naiveStarts(trace, 'random')),
  };
  const used = atLeast({ must: 0.9 * first.used, goal: first.used });
  const wait = atMost({ must: first.largeP95, goal: first.largeP95 / 4 });
  return (['used', 'largeP95'] as const).flatMap((of) => {
    const name = `${what}: ${of === 'used' ? 'used' : 'wait of large tasks, p95'}`;
    return [
      figure(name, own, of, of === 'used' ? used : wait),
      ...Object.entries(others).map(([how, result]) => figure(`${name}, ${how}`, result, of)),
    ];
  });
}

function figure(what: string, result: Result, of: 'used' | 'largeP95', bar?: Figure['bar']): Figure {
  const { largeP50, largeMax, allP50 } = result;
  const details = of === 'used' ? { 'all p50 s': allP50 } : { 'p50 s': largeP50, 'max s': largeMax };
  return { what, value: result[of], unit: of === 'used' ? 'of processor time' : 's', details, ...(bar && { bar }) };
}

export function resultOf({ tasks, workers, cpu }: Trace, starts: readonly number[]): Result {
  const until = tasks.at(-1)!.at;
  const lost = starts.findIndex((at) => Number.isNaN(at));
  if (lost >= 0) throw new Error(`task ${lost} never started`);
  const used = tasks.reduce((sum, { ask, ms }, no) => {
    const overlap = Math.max(0, Math.min(until, starts[no]! + ms) - starts[no]!);
    return sum + ask.cpu * overlap;
  }, 0);
  const waits = (of: (name: string) => boolean) =>
    tasks.flatMap(({ ask, at }, no) => (of(ask.name) ? [(starts[no]! - at) / 1_000] : []));
  const large = waits((name) => name === LARGE);
  return {
    used: used / (cpu * workers * until),
    largeP50: quantile(large, 0.5),
    largeP95: quantile(large, 0.95),
    largeMax: Math.max(...large),
    allP50: quantile(
      waits(() => true),
      0.5,
    ),
  };
}
