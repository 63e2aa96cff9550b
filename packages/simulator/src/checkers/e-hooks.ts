/** E. Hooks that run each time that something happens: for a retry, for what is slow. Once for each, none is lost, none twice. */
import type { Change, RunEnded, TaskCleared } from '@signalbox/engine';
import type { RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { numberNear, taskSpecOf } from './map-book.ts';
import { timesOf } from './task-states.ts';

type Repeating = { readonly of: number | null; readonly on: 'retry' | 'slow' };

function repeatingHook(run: RunBook, taskNo: number): Repeating | null {
  const { hook } = taskSpecOf(run, taskNo);
  if (hook?.on !== 'retry' && hook?.on !== 'slow') return null;
  // In a map, of its own instance; of one that is gone there is nothing to tell.
  const of = hook.of === null ? null : numberNear(run, taskNo, hook.of);
  return hook.of !== null && of === null ? null : { of, on: hook.on };
}

export function hooks(scene: Scene): Checker {
  const { ledger } = scene;
  /** How often a hook was cleared for the next time, by run and number. */
  const cleared = new Map<string, number>();

  /** The server clears nothing by itself but a hook that has more to tell. */
  function checkCleared({ runId, taskNo, actor }: TaskCleared): void {
    if (actor !== 'system') return;
    const run = ledger.run(runId);
    const hook = repeatingHook(run, taskNo);
    const what = `task ${runId}/${taskNo}`;
    if (hook === null) return scene.fail('I32', `${what} was cleared by the server, and is no hook that repeats`);
    const again = (cleared.get(what) ?? 0) + 1;
    cleared.set(what, again);
    const times = timesOf(run, hook.on, hook.of);
    if (again + 1 > times) scene.fail('I32', `${what} runs for the ${again + 1}. time, it happened ${times} times`);
  }

  /** A hook that ran has told of all, unless a person has said what became of it; retries may be taken back by a mark. */
  function checkEnded({ runId }: RunEnded): void {
    const run = ledger.run(runId);
    if (run.isForced || run.isSetAside) return;
    for (const [taskNo, { state, ended }] of run.tasks) {
      const hook = repeatingHook(run, taskNo);
      if (hook === null || ended.size === 0 || (state !== 'succeeded' && state !== 'failed')) continue;
      const what = `task ${runId}/${taskNo}`;
      const [ran, times] = [(cleared.get(what) ?? 0) + 1, timesOf(run, hook.on, hook.of)];
      if (ran < times) scene.fail('I53', `${what} ran for ${ran} of ${times} times, and its run has ended`);
    }
  }

  return {
    invariants: ['I32', 'I53'],
    onChange(change: Change) {
      if (change.kind === 'TaskCleared') checkCleared(change);
      if (change.kind === 'RunEnded') checkEnded(change);
    },
  };
}
