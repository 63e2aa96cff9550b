/**
 * A. Dependence on the past: no task of a window is claimed before the same task of an earlier window was good, and none waits for
 * ever that could go on.
 */
import type { AttemptClaimed, Change, RunId } from '@signalbox/engine';
import { isHeldByPast, type RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { taskSpecOf } from './map-book.ts';
import { stateOf } from './task-states.ts';

/** Longer than anything takes that a well cluster has to do before a task is let go. */
const STANDS_STILL_MS = 20_000;

export function past(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  /** Runs for windows, in the order of their creation, by schedule. */
  const bySchedule = new Map<string, RunBook[]>();
  /** `schedule/window/task`: it has been good at some time. With `+` at the end its direct downstream tasks, too. */
  const good = new Set<string>();
  const touched = new Set<RunId>();
  const stuckSince = new Map<RunId, number>();

  const scheduleOf = ({ created: { dagId, scheduleNo } }: RunBook) => `${dagId}/${scheduleNo ?? 1}`;
  const isGood = (run: RunBook, no: number) => ['succeeded', 'skipped'].includes(stateOf(run, no));

  /** The tasks that wait for this one directly; what closes a run does not count. */
  function isGoodBelow(run: RunBook, no: number): boolean {
    return run.spec.tasks.every((task, below) => {
      if (!task.needs.includes(no) || task.teardown !== undefined || task.hook !== undefined) return true;
      return task.undoes !== undefined || isGood(run, below);
    });
  }

  /** Some version of its dag does. */
  function dependsOnPast({ created }: RunBook): boolean {
    const { versions } = ledger.dag(created.dagId);
    return [...versions.values()].some(({ tasks }) => tasks.some((task) => task.past !== undefined));
  }

  function note(): void {
    for (const runId of touched) {
      const run = ledger.runs.get(runId);
      // Keys of events that wait name a run that is still to be made.
      if (run === undefined || run.created.firesAt === null || !dependsOnPast(run)) continue;
      const window = `${scheduleOf(run)}/${run.created.firesAt}`;
      run.spec.tasks.forEach(({ name }, no) => {
        if (!isGood(run, no)) return;
        good.add(`${window}/${name}`);
        if (isGoodBelow(run, no)) good.add(`${window}/${name}+`);
      });
    }
    touched.clear();
  }

  /** Runs of earlier windows that were there when this one was created. */
  function earlierThan(run: RunBook): RunBook[] {
    const { runId, firesAt } = run.created;
    const others = bySchedule.get(scheduleOf(run)) ?? [];
    return others.filter(({ created }) => created.runId < runId && created.firesAt! < firesAt!);
  }

  function checkClaim(change: AttemptClaimed): void {
    const run = ledger.run(change.runId);
    const { name, past: how } = taskSpecOf(run, change.taskNo);
    if (how === undefined || run.created.firesAt === null) return;
    note();
    const earlier = earlierThan(run);
    if (earlier.length === 0) return;
    const newest = Math.max(...earlier.map(({ created }) => created.firesAt!));
    // Runs of windows between the two may have been created before it was looked for: each of them may be the one.
    const between = (bySchedule.get(scheduleOf(run)) ?? []).filter(
      ({ created }) => created.firesAt! >= newest && created.firesAt! < run.created.firesAt!,
    );
    const isMet = between.some((other) => {
      if (!other.spec.tasks.some((task) => task.name === name)) return true;
      const key = `${scheduleOf(run)}/${other.created.firesAt}/${name}`;
      return good.has(how === 'downstream' ? `${key}+` : key);
    });
    if (!isMet) scene.fail('I30', `task ${change.runId}/${change.taskNo} was claimed before that of window ${newest}`);
  }

  /** What the newest run of the window that it waits for has made good lets it go. */
  function checkStuck(): void {
    if (health.wellForMs() < STANDS_STILL_MS) return stuckSince.clear();
    for (const run of ledger.live) {
      const { runId } = run.created;
      if (!isStuck(run)) {
        stuckSince.delete(runId);
        continue;
      }
      const since = stuckSince.get(runId) ?? world.now;
      stuckSince.set(runId, since);
      if (world.now - since > STANDS_STILL_MS) scene.fail('I29', `run ${runId} waits for a window that is good`);
    }
  }

  function isStuck(run: RunBook): boolean {
    if (run.phase !== 'open' || run.isSetAside) return false;
    const held = run.spec.tasks.flatMap((_, no) => (isHeldByPast(run, no) ? [no] : []));
    if (held.length === 0) return false;
    if (run.past === null) return true;
    const newest = (bySchedule.get(scheduleOf(run)) ?? []).findLast(({ created }) => created.firesAt === run.past?.at);
    if (newest === undefined) return true;
    return held.some((no) => {
      const { name, past: how } = run.spec.tasks[no]!;
      const there = newest.spec.tasks.findIndex((task) => task.name === name);
      if (there < 0) return true;
      return isGood(newest, there) && (how !== 'downstream' || isGoodBelow(newest, there));
    });
  }

  return {
    invariants: ['I29', 'I30'],
    onChange(change: Change) {
      if (change.kind === 'AttemptClaimed') checkClaim(change);
      // Its first version that depends on the past: of runs before it nothing was noted.
      if (change.kind === 'DagDeployed' && change.spec.tasks.some((task) => task.past !== undefined)) {
        for (const run of [...bySchedule.values()].flat())
          if (run.created.dagId === change.dagId) touched.add(run.created.runId);
      }
      if (change.kind === 'RunReopened') stuckSince.delete(change.runId);
      if ('runId' in change && typeof change.runId === 'number' && change.kind !== 'RunCreated')
        touched.add(change.runId);
    },
    onCommit({ changes }) {
      for (const change of changes) {
        if (change.kind !== 'RunCreated' || change.firesAt === null) continue;
        const run = ledger.run(change.runId);
        const list = bySchedule.get(scheduleOf(run)) ?? [];
        list.push(run);
        bySchedule.set(scheduleOf(run), list);
        touched.add(change.runId);
      }
      note();
    },
    onLook: checkStuck,
  };
}
