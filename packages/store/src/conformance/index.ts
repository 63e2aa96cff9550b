/**
 * What every store must do, as tests: call `storeConformance('postgres', makeSubject)` in a test file of the store. Each
 * test gets a separate database.
 */
import { describe, test } from 'vitest';
import { chainChecks } from './chains.ts';
import { chaosChecks } from './chaos.ts';
import { fencingChecks } from './fencing.ts';
import { loadChecks } from './loads.ts';
import { ownershipChecks } from './ownership.ts';
import { roundTripChecks } from './round-trip.ts';
import { snapshotChecks } from './snapshots.ts';
import type { Check, StoreSubject } from './subject.ts';
import { takeoverChecks } from './takeover.ts';
import { unknownOutcomeChecks } from './unknown-outcome.ts';

export * from './subject.ts';

const conformanceChecks = {
  fencing: fencingChecks,
  chains: chainChecks,
  'unknown outcome': unknownOutcomeChecks,
  takeover: takeoverChecks,
  chaos: chaosChecks,
  ownership: ownershipChecks,
  snapshots: snapshotChecks,
  loads: loadChecks,
  'round trip': roundTripChecks,
} as const satisfies Record<string, readonly Check[]>;

export type ConformanceGroup = keyof typeof conformanceChecks;

export function storeConformance(name: string, makeSubject: () => Promise<StoreSubject>): void {
  describe(`${name} keeps the promises of a store`, () => {
    for (const [group, checks] of Object.entries(conformanceChecks)) {
      describe(group, () => {
        for (const check of checks) test(check.name, () => runCheck(check, makeSubject));
      });
    }
  });
}

/** The names of the checks that a store fails, of those with such a name: for stores that were broken on purpose. */
export async function findings(
  groups: readonly ConformanceGroup[],
  makeSubject: () => Promise<StoreSubject>,
  named: RegExp = /./,
): Promise<readonly string[]> {
  const failed: string[] = [];
  const checks = groups.flatMap((group): readonly Check[] => conformanceChecks[group]);
  for (const check of checks.filter(({ name }) => named.test(name))) {
    await runCheck(check, makeSubject).catch(() => failed.push(check.name));
  }
  return failed;
}

async function runCheck(check: Check, makeSubject: () => Promise<StoreSubject>): Promise<void> {
  const subject = await makeSubject();
  try {
    await check.run(subject);
  } finally {
    await subject.close();
  }
}
