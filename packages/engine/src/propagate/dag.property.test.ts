import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Graph } from '../model/dag/graph.ts';
import { scenario } from '../testing/scenario.ts';
import { dag, task } from '../testing/specs.ts';
import { deriveTaskStates } from './derive.ts';

type Ending = 'succeeded' | 'permanent';

/** Edges go from lower to higher numbers; the numbers are shuffled afterwards, so that order of declaration proves nothing. */
const dags = fc
  .integer({ min: 1, max: 12 })
  .chain((count) =>
    fc.record({
      needs: fc.tuple(
        ...Array.from({ length: count }, (_, no) => fc.subarray(Array.from({ length: no }, (_, up) => up))),
      ),
      order: fc.shuffledSubarray(
        Array.from({ length: count }, (_, no) => no),
        { minLength: count },
      ),
      endings: fc.array(fc.constantFrom<Ending>('succeeded', 'succeeded', 'succeeded', 'permanent'), {
        minLength: count,
        maxLength: count,
      }),
      picks: fc.array(fc.nat(), { minLength: count, maxLength: count }),
    }),
  )
  .map(({ needs, order, ...rest }) => {
    const shuffled: number[][] = [];
    needs.forEach((ups, no) => {
      shuffled[order[no]!] = ups.map((up) => order[up]!);
    });
    return { needs: shuffled, ...rest };
  });

/** Rescans everything, each time: slow and plainly right. */
function naive(needs: readonly (readonly number[])[], ended: ReadonlyMap<number, Ending>): string[] {
  const states: string[] = needs.map((_, no) =>
    ended.has(no) ? (ended.get(no) === 'succeeded' ? 'succeeded' : 'failed') : 'blocked',
  );
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    needs.forEach((ups, no) => {
      if (states[no] !== 'blocked') return;
      const failed = ups.some((up) => states[up] === 'failed' || states[up] === 'upstream_failed');
      const ready = ups.every((up) => states[up] === 'succeeded');
      if (!failed && !ready) return;
      states[no] = failed ? 'upstream_failed' : 'ready';
      isChanged = true;
    });
  }
  return states;
}

describe('any dag with any outcomes', () => {
  test('is decided as a rescan of everything would, after each end (I30), and derived from its rows alike (D4)', () => {
    fc.assert(
      fc.property(dags, ({ needs, endings, picks }) => {
        const box = scenario({ dag: dag(needs.map((ups, no) => task(`t${no}`, ups))) });
        const [runId, graph] = [box.lastRun(), new Graph({ tasks: needs.map((ups) => ({ needs: ups })) })];
        const ended = new Map<number, Ending>();
        const states = () => needs.map((_, no) => box.task(`t${no}`, runId).state as string);
        const stored = () => box.node.store.runsStored().find((run) => run.runId === runId)!;
        for (const pick of picks) {
          expect(states()).toEqual(naive(needs, ended));
          const ready = states().flatMap((state, no) => (state === 'ready' ? [no] : []));
          if (ready.length === 0) break;
          // All that are ready run at once, and one of them ends.
          const attempts = ready.map(() => box.tryClaim()!);
          const attempt = attempts[pick % attempts.length]!;
          for (const other of attempts) if (other !== attempt) box.refuse(other);
          const no = attempt.claim.taskNo;
          ended.set(no, endings[no]!);
          box.hold().report(attempt, endings[no]!);
          const isOver = box.run(runId).phase !== 'open';
          if (isOver) expect(states()).toEqual(naive(needs, ended));
          box.settle();
          expect(deriveTaskStates(graph, stored().tasks, stored())).toEqual(naive(needs, ended));
          if (isOver) break;
        }
        const final = naive(needs, ended);
        expect(final).not.toContain('ready');
        expect(stored().phase).toBe('ended');
        expect(stored().outcome).toBe(final.every((state) => state === 'succeeded') ? 'succeeded' : 'failed');
      }),
      { numRuns: 150 },
    );
  });

  test('comes out the same for each order of arrival (I31)', () => {
    fc.assert(
      fc.property(dags, fc.array(fc.nat(), { minLength: 12, maxLength: 12 }), ({ needs, endings, picks }, others) => {
        expect(play(needs, endings, picks)).toEqual(play(needs, endings, others));
      }),
      { numRuns: 100 },
    );
  });
});

function play(needs: readonly (readonly number[])[], endings: readonly Ending[], picks: readonly number[]) {
  const box = scenario({ dag: dag(needs.map((ups, no) => task(`t${no}`, ups))), audit: false });
  const running = [];
  for (let i = 0; ; i++) {
    for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) running.push(next);
    const [attempt] = running.splice(picks[i % picks.length]! % Math.max(1, running.length), 1);
    if (attempt === undefined) break;
    box.report(attempt, endings[attempt.claim.taskNo]!);
  }
  const [run] = box.node.store.runsStored();
  const graph = new Graph({ tasks: needs.map((ups) => ({ needs: ups })) });
  return { outcome: run!.outcome, states: deriveTaskStates(graph, run!.tasks, run!) };
}

test('a run is open, then closing with its outcome fixed, then ended with nothing left (I33)', () => {
  const box = scenario({ dag: dag([task('a'), task('b'), task('c', [0, 1])]) });
  const [a, b] = [box.claim('a'), box.claim('b')];
  box.report(a, 'permanent');
  expect(box.task('c').state).toBe('upstream_failed'); // decided, though b still runs (I30)
  expect(box.run().phase).toBe('open');
  box.report(b, 'succeeded');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  expect(box.node.journal.slice(-3).map(({ kind }) => kind)).toEqual(['AttemptEnded', 'RunClosing', 'RunEnded']);
});

test('a run keeps the version it started with (I35)', () => {
  const box = scenario({ dag: dag([task('a'), task('b', [0])]) });
  const old = box.lastRun();
  box.deploy(dag([task('x')]));
  box.submit();
  box.report(box.claim('a'), 'succeeded');
  box.killOwner();
  expect(box.task('b', old).state).toBe('ready');
  expect(box.task('x').state).toBe('ready');
});
