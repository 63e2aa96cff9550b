/** What tasks and runs may take, over real sockets: how it ends, and what people see of it. */
import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    hang: ({ signal }: { signal: AbortSignal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
  });
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });

async function end(definition: object) {
  const { name } = definition as { name: string };
  await client().deployDag(definition as Parameters<ReturnType<typeof client>['deployDag']>[0]);
  const { id } = await client().submit(name);
  return client().waitForRun(id);
}

test('a task that no worker takes fails without an attempt, and says why', async () => {
  const tasks = [{ name: 'a', handler: 'hang', queue: 'nobody', queueTimeout: '200ms' }];
  const run = await end({ name: 'unclaimed', tasks });
  expect(run).toMatchObject({ outcome: 'failed', reason: null });
  expect(run.tasks).toMatchObject([
    {
      state: 'failed',
      attempt: 0,
      claimedAt: null,
      endedAt: expect.any(String),
      outcome: 'timeout',
      code: 'timeout:queue',
      error: 'The task waited in its queue for longer than 0.2 s.',
      attempts: [],
    },
  ]);
});

test.each([
  [{ stuckAfter: '300ms' }, 'stuck', 'stuck:progress'],
  [{ totalTimeout: '300ms', retries: { maxAttempts: 9 } }, 'timeout', 'timeout:total'],
])('an attempt that hangs is ended by %j, and told of as slow before', async (limits, outcome, code) => {
  const tasks = [{ name: 'a', handler: 'hang', softTimeout: '100ms', ...limits }];
  const run = await end({ name: `hangs-${outcome}`, tasks });
  expect(run.outcome).toBe('failed');
  expect(run.tasks).toMatchObject([{ state: 'failed', slowAt: expect.any(String), outcome, code, attempt: 1 }]);
});

test('a run whose time is over fails, and says so', async () => {
  const run = await end({
    name: 'long',
    timeout: '400ms',
    softTimeout: '100ms',
    tasks: [{ name: 'a', handler: 'hang' }],
  });
  expect(run).toMatchObject({ outcome: 'failed', reason: 'timeout', slowAt: expect.any(String) });
  expect(run.tasks).toMatchObject([{ state: 'cancelled', outcome: 'cancelled' }]);
});
