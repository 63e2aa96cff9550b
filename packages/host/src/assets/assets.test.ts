import type { Command, DagId, Instant, ShardNo, TellAsset, TenantId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import type { Routed } from '../router.ts';
import { Assets } from './assets.ts';

const TENANT = 1 as TenantId;
const done: Routed = { status: 'answered', answer: { ok: true, kind: 'done' } };
const refused = (code: 'DAG_NOT_FOUND' | 'SCHEDULE_INVALID'): Routed => ({
  status: 'answered',
  answer: { ok: false, code, detail: '' },
});

const fresh = (no: number): TellAsset => ({
  kind: 'TellAsset',
  shard: 3 as ShardNo,
  tenantId: TENANT,
  asset: { name: 'orders', no, run: null, dag: null, task: null, at: 0 as Instant },
});

/** What is asked while two dags wait for the asset, and the second answers so. */
async function told(second: Routed): Promise<string[]> {
  const asked: Command[] = [];
  let isOver = () => {};
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const assets = new Assets({
    store: {
      dagsOnAsset: async () => [1, 2].map((no) => ({ shard: no as ShardNo, dagId: no as DagId })),
    },
    router: {
      ask: async (command) => {
        asked.push(command);
        if (asked.length >= 2) setImmediate(isOver);
        return command.kind === 'TakeAsset' && command.shard === 2 ? second : done;
      },
    },
    log: () => undefined,
  });
  assets.tell(fresh(7));
  await over;
  return asked.map((command) => `${command.kind} ${'shard' in command ? command.shard : ''}`);
}

test.each([
  ['both took it', done],
  ['one is gone', refused('DAG_NOT_FOUND')],
])('the producer is told that all have heard: %s', async (_, second) => {
  expect(await told(second)).toEqual(['TakeAsset 1', 'TakeAsset 2', 'NoteAssetTold 3']);
});

test.each([
  ['no owner was found', { status: 'unavailable' } as const],
  ['nobody knows', { status: 'unknown' } as const],
  ['it was refused for another reason', refused('SCHEDULE_INVALID')],
])('the producer is told nothing, and tells again: %s', async (_, second) => {
  expect(await told(second)).toEqual(['TakeAsset 1', 'TakeAsset 2']);
});
