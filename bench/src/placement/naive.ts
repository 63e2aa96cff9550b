/**
 * What others do, in a few lines: the oldest task that fits anywhere goes to the first worker that has room, or to any of them by chance.
 * As with the engine, a task that fits nowhere holds back nobody.
 */
import { type Ask, mulberry, type Trace } from './trace.ts';

interface Place {
  slots: number;
  cpu: number;
  memory: number;
}

/** When each task of the trace starts. */
export function naiveStarts(trace: Trace, how: 'first' | 'random'): number[] {
  const { tasks } = trace;
  const random = mulberry(7);
  const places: Place[] = Array.from({ length: trace.workers }, () => ({ ...trace }));
  const waiting = new Map<Ask, number[]>();
  const ends: { readonly at: number; readonly place: Place; readonly no: number }[] = [];
  const starts = tasks.map(() => Number.NaN);

  const placeFor = (ask: Ask): Place | undefined => {
    const able = places.filter(({ slots, cpu, memory }) => slots > 0 && cpu >= ask.cpu && memory >= ask.memory);
    return how === 'first' ? able[0] : able[Math.floor(random() * able.length)];
  };

  const place = (now: number): void => {
    const unfit = new Set<Ask>();
    for (;;) {
      let next: Ask | undefined;
      for (const [ask, nos] of waiting)
        if (nos.length > 0 && !unfit.has(ask) && (next === undefined || nos[0]! < waiting.get(next)![0]!)) next = ask;
      if (next === undefined) return;
      const found = placeFor(next);
      if (found === undefined) {
        unfit.add(next);
        continue;
      }
      const no = waiting.get(next)!.shift()!;
      starts[no] = now;
      take(found, next, 1);
      ends.push({ at: now + tasks[no]!.ms, place: found, no });
    }
  };

  for (let come = 0; come < tasks.length || ends.length > 0; ) {
    const end = ends.reduce<(typeof ends)[number] | undefined>(
      (a, b) => (a !== undefined && a.at <= b.at ? a : b),
      undefined,
    );
    const task = tasks[come];
    if (task !== undefined && (end === undefined || task.at < end.at)) {
      waiting.set(task.ask, [...(waiting.get(task.ask) ?? []), come]);
      come += 1;
      place(task.at);
    } else {
      ends.splice(ends.indexOf(end!), 1);
      take(end!.place, tasks[end!.no]!.ask, -1);
      place(end!.at);
    }
  }
  return starts;
}

function take(place: Place, { cpu, memory }: Ask, by: 1 | -1): void {
  place.slots -= by;
  place.cpu -= by * cpu;
  place.memory -= by * memory;
}
