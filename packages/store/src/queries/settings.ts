/** Settings of the cluster that people change while it runs. */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

export interface ClusterSettings {
  /** Schedules that name no jitter fire late by less than this. */
  readonly defaultJitterMs: number;
  /** There is a rate card. */
  readonly isAccounting: boolean;
}

export interface ChangedSettings extends Omit<ClusterSettings, 'isAccounting'>, ChangedBy {
  readonly tenantId: TenantId;
}

const selectSettings = statement(
  'select_settings',
  'select default_jitter_ms, exists (select from rate_card) from cluster',
);
/** With its audit event, in one statement: nothing is changed without one (I71). To what it is already is no change. */
const updateSettings = statement(
  'update_settings',
  `
  with before as (select default_jitter_ms from cluster),
       changed as (update cluster set default_jitter_ms = $1::integer where default_jitter_ms <> $1::integer returning 1)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select $2::integer, $3::text, 'settings.change', 'jitter', $4::text, 'done',
         json_build_object('fromMs', before.default_jitter_ms, 'toMs', $1::integer) from changed, before`,
);

export async function readSettings(database: Database): Promise<ClusterSettings> {
  const { rows } = await database.one(call(selectSettings));
  return { defaultJitterMs: Number(rows[0]?.[0] ?? 0), isAccounting: rows[0]?.[1] === 't' };
}

export async function changeSettings(database: Database, changed: ChangedSettings): Promise<void> {
  const { defaultJitterMs, tenantId, actor, origin } = changed;
  await database.write([call(updateSettings, defaultJitterMs, tenantId, encodeText(actor), encodeText(origin))]);
}
