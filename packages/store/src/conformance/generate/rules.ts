/** The rules of all kinds. A kind without a special one gets its ids by its fields, and all else is drawn. */
import { CHANGE_KINDS } from '@signalbox/engine';
import { attemptRules } from './attempt-rules.ts';
import { backfillRules } from './backfill-rules.ts';
import { dagRules } from './dag-rules.ts';
import type { ChangeKindName } from './draw-change.ts';
import { heldRules } from './held-rules.ts';
import { manualRules } from './manual-rules.ts';
import { mapRules } from './map-rules.ts';
import type { Rule, Rules } from './rule.ts';
import { runRules } from './run-rules.ts';
import { speculativeRules } from './speculative-rules.ts';
import type { World } from './world.ts';

const SPECIAL: Rules = {
  ...dagRules,
  ...runRules,
  ...attemptRules,
  ...speculativeRules,
  ...manualRules,
  ...mapRules,
  ...heldRules,
  ...backfillRules,
};

export interface AnyRule {
  readonly kind: ChangeKindName;
  readonly weight: number;
  /** Emits a change of the kind; false where none is valid now. */
  readonly emit: (world: World) => boolean;
}

export const RULES: readonly AnyRule[] = CHANGE_KINDS.map(({ kind, fields }) => {
  const rule = (SPECIAL[kind] ?? ruleOf(Object.keys(fields))) as Rule<ChangeKindName>;
  return {
    kind,
    weight: rule.weight ?? 1,
    emit(world) {
      const given = rule.given(world);
      if (given === null) return false;
      const change = world.emit(kind, given);
      rule.then?.(world, change);
      return true;
    },
  };
});

/** By its fields a change is about an attempt that runs, an open run, a dag, or a shard: that gives it its ids. */
function ruleOf(fields: readonly string[]): Rule<ChangeKindName> {
  const has = (...names: string[]) => names.every((name) => fields.includes(name));
  const only = (subject: object | null) =>
    subject === null ? null : Object.fromEntries(Object.entries(subject).filter(([name]) => fields.includes(name)));
  return {
    given(world) {
      if (has('runId', 'taskNo', 'fence')) {
        const found = world.runningTask();
        if (found === null) return null;
        const { attemptNo, fence, taskNo, workerId, claimedAt } = found.task;
        return only({ runId: found.run.runId, taskNo, attemptNo, fence, workerId, claimedAt });
      }
      if (has('runId', 'taskNo')) throw new Error(`A kind with ${fields.join(', ')} needs a rule.`);
      if (has('runId')) {
        const run = world.openRun();
        return run === null ? null : only({ runId: run.runId });
      }
      const { shard, tenantId, dagId } = world.dag();
      return only({ shard, tenantId, dagId, workerId: world.chance.one(world.workers) });
    },
  };
}
