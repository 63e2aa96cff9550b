/** B. Events that wait for others: each that was accepted is in exactly one run. */
import type { EventHeld, HoldEvent, RunUid } from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import type { Checker, Scene } from './checker.ts';

interface Group {
  readonly isDebounced: boolean;
  readonly ids: string[];
  /** When its last event was stored. */
  at: number;
  isReleased: boolean;
  runs: number;
}

/** Longer than any trigger of a history lets events wait, and than a healed world takes to notice. */
const LONG_MS = 60_000;

/** Params are written by the senders of `world/senders.ts`. */
const idIn = (params: string | null): string => {
  const { events, last } = JSON.parse(params ?? '{}') as { events?: string[]; last?: string };
  return last ?? events?.[0] ?? '';
};

export function heldEvents(scene: Scene): Checker {
  const { world } = scene;
  const groups = new Map<RunUid, Group>();
  /** Which run an event is for, by its key. */
  const placed = new Map<string, RunUid>();
  let isHealed = false;

  function hold(change: EventHeld, at: number): void {
    const id = idIn(change.params);
    const key = `${change.dagId}/${id}`;
    if (placed.has(key)) return scene.fail('I11', `event ${id} is held a second time`);
    placed.set(key, change.uid);
    const group = groups.get(change.uid) ?? {
      isDebounced: change.isDebounced,
      ids: [],
      at,
      isReleased: false,
      runs: 0,
    };
    if (group.isReleased) scene.fail('I10', `event ${id} joins run ${change.uid}, which is made already`);
    group.ids.push(id);
    group.at = at;
    groups.set(change.uid, group);
  }

  function checkRun(uid: RunUid, group: Group, params: string | null): void {
    group.runs += 1;
    if (group.runs > 1) scene.fail('I10', `the events of run ${uid} have a second one`);
    const { events, last } = JSON.parse(params ?? '{}') as { events?: string[]; last?: string };
    const [found, wanted] = group.isDebounced ? [last, group.ids.at(-1)] : [events?.join(), group.ids.join()];
    if (found !== wanted) scene.fail('I10', `run ${uid} has the events ${found}, accepted were ${wanted}`);
  }

  function checkAnswer({ dagId, params }: HoldEvent, result: Routed): void {
    if (result.status !== 'answered' || !result.answer.ok) return;
    const id = idIn(params);
    const uid = placed.get(`${dagId}/${id}`);
    const told = result.answer.kind === 'held' ? result.answer.uid : null;
    if (uid === undefined || told !== uid) scene.fail('I10', `event ${id} was told run ${told}, it is in ${uid}`);
  }

  return {
    invariants: ['I10', 'I11', 'I53'],
    onHappening(happening) {
      if (happening.kind === 'told' && happening.ask.command.kind === 'HoldEvent')
        checkAnswer(happening.ask.command, happening.result);
    },
    onChange(change, { committedAt }) {
      if (change.kind === 'EventHeld') return hold(change, committedAt);
      if (change.kind === 'RunCreated') {
        const group = groups.get(change.uid);
        return group === undefined ? undefined : checkRun(change.uid, group, change.params);
      }
      if (change.kind !== 'EventsReleased') return;
      const group = groups.get(change.uid);
      if (group === undefined || group.isReleased)
        return scene.fail('I10', `run ${change.uid} has no events to release`);
      group.isReleased = true;
      if (change.eventCount !== group.ids.length)
        scene.fail('I10', `run ${change.uid} says ${change.eventCount} events, accepted were ${group.ids.length}`);
    },
    onHealed() {
      isHealed = true;
    },
    atEnd() {
      const held = new Set(world.database.tables.described.all('heldEvents').map(({ uid }) => uid));
      for (const [uid, group] of groups) {
        if (group.isReleased ? group.runs !== 1 : !held.has(uid))
          scene.fail('I10', `the events ${group.ids.join()} of run ${uid} are lost`);
        if (isHealed && !group.isReleased && world.events.now() - group.at > LONG_MS)
          scene.fail('I53', `the events ${group.ids.join()} wait for ever for run ${uid}`);
      }
    },
  };
}
