/** G. Limits that span shards: no slot is given twice, and none is lost. */
import type { AttemptClaimed, LimitName, SlotsGranted, SlotsHeld, SpeculativeClaimed } from '@signalbox/engine';
import { NOBODY } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

/** Until what nobody needs is back, after the last run has ended. */
const BACK_MS = 15_000;

export function slots(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const { slots: book } = ledger;

  function checkClaim(change: AttemptClaimed | SpeculativeClaimed): void {
    if (change.workerId === NOBODY) return;
    const run = ledger.run(change.runId);
    for (const { limit, slots: taken } of book.takenBy(run, change.taskNo)) {
      // Critical tasks take kept slots.
      if (limit.startsWith('kept/') && run.priority === 'critical') continue;
      const what = `task ${change.runId}/${change.taskNo} was claimed`;
      const hold = book.hold(run.shard, limit);
      if (hold?.isLimited === true && book.used(limit, run.shard) + taken > haveOf(hold))
        scene.fail('I44', `${what}, shard ${run.shard} has ${haveOf(hold)} slots of ${limit}`);
      // Critical tasks use more of these than there are: what all shards use says nothing.
      if (limit.startsWith('kept/')) continue;
      const most = book.limits.get(limit)?.slots ?? null;
      if (most !== null && book.holdsFirmly(limit) && book.used(limit) + taken > most)
        scene.fail('I44', `${what}, ${limit} has ${most} slots and ${book.used(limit)} are in use`);
      if (change.kind === 'AttemptClaimed' && limit.startsWith('pool/') && hold === undefined)
        scene.fail('I44', `${what} without a slot of ${limit}`);
    }
  }

  function checkGrant(change: SlotsGranted): void {
    const { holder, limit, given, seized, returned } = change;
    const before = book.grant(holder, limit) ?? { given: 0, seized: 0, returned: 0 };
    const hold = book.hold(holder, limit) ?? { seized: 0, returned: 0 };
    const what = `${limit} of shard ${holder}`;
    if (given < before.given || seized < before.seized || returned < before.returned)
      scene.fail('I45', `a sum of ${what} fell`);
    if (returned > hold.returned || seized > hold.seized)
      scene.fail('I45', `more of ${what} is back than the shard has given back`);
    const most = book.limits.get(limit)?.slots ?? 0;
    const out = book.out(limit) + given - before.given + seized - before.seized - (returned - before.returned);
    if (given > before.given && out > most) scene.fail('I44', `${out} slots of ${limit} are out, it has ${most}`);
  }

  function checkHold(change: SlotsHeld): void {
    const { shard, limit, taken, returned } = change;
    const before = book.hold(shard, limit) ?? { taken: 0, seized: 0, returned: 0 };
    const what = `${limit} of shard ${shard}`;
    if (taken < before.taken || change.seized < before.seized || returned < before.returned)
      scene.fail('I45', `a sum of ${what} fell`);
    if (taken > (book.grant(shard, limit)?.given ?? 0))
      scene.fail('I44', `the shard took more of ${what} than was given`);
    const used = book.used(limit, shard);
    if (change.isLimited && haveOf(change) < used && !limit.startsWith('kept/'))
      scene.fail('I45', `${used} slots of ${what} are in use, it has ${haveOf(change)}`);
  }

  /** Nothing runs and nothing waits: all slots are back. */
  function checkLeft(limit: LimitName): void {
    const out = book.out(limit);
    if (book.limits.get(limit)?.slots != null && out > 0) scene.fail('I45', `${out} slots of ${limit} never came back`);
  }

  return {
    invariants: ['I44', 'I45', 'I46'],
    onChange(change) {
      if (change.kind === 'AttemptClaimed' || change.kind === 'SpeculativeClaimed') {
        if (book.holds.size > 0 || book.limits.size > 0) checkClaim(change);
      } else if (change.kind === 'SlotsGranted') checkGrant(change);
      else if (change.kind === 'SlotsHeld') checkHold(change);
    },
    atEnd() {
      if (ledger.live.size > 0 || health.wellForMs() < 2 * BACK_MS || world.now - ledger.at < BACK_MS) return;
      for (const limit of book.limits.keys()) checkLeft(limit);
    },
  };
}

function haveOf({ taken, seized, returned }: SlotsHeld): number {
  return taken + seized - returned;
}
