/** The rules of all kinds. A kind without a special one gets its ids by its fields, and all else is drawn. */
import {
  type AnyChangeKind,
  type AnyRow,
  type AnyTable,
  CHANGE_KINDS,
  TABLES,
  type TableName,
} from '@signalbox/engine';
import { Violation } from '@signalbox/engine/testing';
import { assetRules } from './asset-rules.ts';
import { attemptRules } from './attempt-rules.ts';
import { backfillRules } from './backfill-rules.ts';
import { dagRules } from './dag-rules.ts';
import { type ChangeKindName, drawChange } from './draw-change.ts';
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
  ...assetRules,
};

const TABLE_NAMES = Object.keys(TABLES) as TableName[];

export interface AnyRule {
  readonly kind: ChangeKindName;
  readonly weight: number;
  /** Emits a change of the kind; false where none is valid now. */
  readonly emit: (world: World) => boolean;
}

export const RULES: readonly AnyRule[] = CHANGE_KINDS.map((described) => {
  const { kind, fields, tables } = described;
  const plain = () => ruleOf(Object.keys(fields));
  const rule = (SPECIAL[kind] ??
    (tables === undefined ? plain() : ofTable(described, plain()))) as Rule<ChangeKindName>;
  return {
    kind,
    weight: rule.weight ?? 1,
    emit(world) {
      const given = rule.given(world);
      if (given === null) return false;
      try {
        const change = world.emit(kind, given);
        rule.then?.(world, change);
        return true;
      } catch (error) {
        // A kind that writes a described table may have met a row that is there, or missed one that is not.
        if (tables === undefined || !(error instanceof Violation)) throw error;
        return false;
      }
    },
  };
});

/** Now about a row that is there, now about one that may not be. */
function ofTable({ kind, fields, tables }: AnyChangeKind, rule: Rule<ChangeKindName>): Rule<ChangeKindName> {
  return {
    given(world) {
      const given = rule.given(world);
      if (given === null || world.chance.is(0.3)) return given;
      let written: AnyTable | undefined;
      const note = (table: AnyTable): void => {
        written ??= table;
      };
      tables?.(drawChange(kind, given, world.chance), { insert: note, put: note, patch: note, remove: note });
      const name = TABLE_NAMES.find((one) => TABLES[one] === written);
      const known: AnyRow | null = name === undefined ? null : world.chance.oneOrNull(world.model.rows(name));
      if (known === null || written === undefined) return given;
      const key = Object.keys(written.key).filter((column) => column in fields);
      return { ...given, ...Object.fromEntries(key.map((column) => [column, known[column]])) };
    },
  };
}

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
