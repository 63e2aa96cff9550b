/** E. Maps: each expands once, from what has ended above it, into as many instances as there are items (I34). */
import type { Change } from '@signalbox/engine';
import { naiveName } from '@signalbox/engine/testing';
import type { Checker, Scene } from './checker.ts';
import { mapBook, pathOf } from './map-book.ts';
import { instancesOf } from './task-states.ts';

export function maps(scene: Scene): Checker {
  const { ledger } = scene;

  function checkChange(change: Change): void {
    if (change.kind !== 'MapExpanded' && change.kind !== 'MapUnfolded' && change.kind !== 'MapRemoved') return;
    const run = ledger.run(change.runId);
    const what = `map ${change.runId}/${change.firstNo}`;
    if (run.phase !== 'open') scene.fail('I42', `${what} goes on though its run is ${run.phase}`);
    const known = run.maps.find(({ firstNo }) => firstNo === change.firstNo);
    if (change.kind === 'MapExpanded') {
      const { members, group, scope, total } = mapBook(change, run.spec);
      const last = run.maps.at(-1);
      const free =
        last === undefined ? run.spec.tasks.length : last.firstNo + Math.max(1, last.total * last.members.length);
      if (change.firstNo < free) scene.fail('I34', `${what} takes numbers that were given`);
      const path = scope === null ? [] : pathOf(run, scope);
      if (path === null) return scene.fail('I34', `${what} expands in an instance that is gone`);
      const isTwice = run.maps.some((map) => map.group === group && map.scope === scope && !map.isRemoved);
      if (isTwice) scene.fail('I34', `${what} expands a second time`);
      // By the books it has expanded as soon as it could.
      const size = instancesOf(run, members[0]!, path);
      if (size !== total) scene.fail('I34', `${what} has ${total} instances, there are ${size} items`);
    } else if (known === undefined || known.isRemoved) {
      scene.fail('I34', `${what} goes on though it is not there`);
    } else if (change.kind === 'MapUnfolded' && (change.until <= known.unfolded || change.until > known.total)) {
      scene.fail('I34', `${what} is unfolded from ${known.unfolded} to ${change.until} of ${known.total}`);
    }
  }

  /** At the end of a run that was not stopped each map has all of its instances. */
  function checkEnd(change: Change): void {
    if (change.kind !== 'RunClosing' || change.outcome === 'cancelled') return;
    const run = ledger.run(change.runId);
    if (run.spec.onFailure === 'fail_fast') return;
    for (const map of run.maps) {
      if (map.isRemoved || map.unfolded === map.total || pathOf(run, map.firstNo) === null) continue;
      scene.fail('I34', `run ${change.runId} ended with ${map.unfolded} of ${map.total} of ${naiveName(map.group)}`);
    }
  }

  return {
    invariants: ['I34'],
    onChange(change) {
      checkChange(change);
      checkEnd(change);
    },
  };
}
