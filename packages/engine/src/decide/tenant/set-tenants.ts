/** Weights of tenants, and which of them are suspended, hold from here on. Nothing of it is stored by the engine. */
import type { SetTenants } from '../../model/command.ts';
import type { Recorder } from '../recorder.ts';

export function setTenants({ state }: Recorder, { tenants }: SetTenants): void {
  for (const rules of tenants) if (state.tenants.set(rules)) state.queues.setTenant(rules.tenantId);
}
