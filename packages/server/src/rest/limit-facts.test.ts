import { CLUSTER_LIMIT, type DagId, type LimitName, type TenantId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { type LimitedTask, readLimitFacts } from './limit-facts.ts';

const owner = { tenantId: 1 as TenantId, dagId: 7 as DagId };

/** Pools and the cap of the cluster are set; it notes which limits the main thread was asked for. */
function partsOf(slots: number) {
  const asked: LimitName[] = [];
  const stored = { tenant: 'default', slots, granted: 0, isUnheard: false, setAt: 0, setBy: 'token:a' };
  const queries = {
    findSlotLimits: async (names: readonly LimitName[]) =>
      names
        .filter((limit) => limit.startsWith('pool/') || limit === CLUSTER_LIMIT)
        .map((limit) => ({ ...stored, limit })),
  };
  const main = {
    slots: async (limit: LimitName) => {
      asked.push(limit);
      return { holders: [], used: slots, waiting: 0, missing: [] };
    },
  };
  return { asked, parts: { queries, main } };
}

const taskNo = (i: number): LimitedTask => ({
  name: `t${i}`,
  queue: 'default',
  maxActive: 1,
  pool: { name: `p${i}`, slots: 2 },
});

test('each limit is asked for once', async () => {
  const { asked, parts } = partsOf(3);
  const tasks = Array.from({ length: 50 }, () => taskNo(0));
  const limitsOf = await readLimitFacts(parts, owner, tasks);
  expect(asked).toHaveLength(3);
  expect(limitsOf(tasks[49]!).map(({ kind, used }) => [kind, used])).toEqual([
    ['pool', 3],
    ['task', 3],
    ['cluster', 3],
  ]);
});

test('however many tasks wait, the main thread is asked for few limits, and nothing false is said of the others', async () => {
  const { asked, parts } = partsOf(3);
  const tasks = Array.from({ length: 10_000 }, (_, i) => taskNo(i));
  const limitsOf = await readLimitFacts(parts, owner, tasks);
  expect(asked).toHaveLength(20);
  expect(asked).toContain(CLUSTER_LIMIT);
  // Set, and nothing is known of who uses it.
  expect(limitsOf(tasks[9_999]!)).toContainEqual(
    expect.objectContaining({ kind: 'pool', name: 'p9999', slots: 3, used: 0 }),
  );
});
