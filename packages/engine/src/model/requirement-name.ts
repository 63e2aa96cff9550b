import type { RequirementKey } from './stored.ts';

/** Names a requirement, in memory. */
export function requirementName({ tenantId, dag, since, window }: RequirementKey): string {
  return JSON.stringify([tenantId, dag, since, window]);
}
