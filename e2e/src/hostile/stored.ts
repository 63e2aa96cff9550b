/** What a refused request must leave as it was (I12). */
import type { Rig } from '@signalbox/server/testing';

const TABLES = [
  'dag',
  'dag_version',
  'schedule',
  'run',
  'task',
  'payload',
  'idempotency_key',
  'bundle',
  'event_trigger',
  'api_token',
];

export async function stored(rig: Rig): Promise<Record<string, unknown> | undefined> {
  const counts = TABLES.map((table) => `(select count(*)::int from ${table}) as ${table}`);
  const [row] = await rig.sql(`select ${counts.join(', ')}`);
  return row;
}
