import type { Client, EventView, RunView } from '@signalbox/sdk';
import { expect, test } from 'vitest';
import { RUN_ID, runView, taskView } from '../testing/run-view.ts';
import { followRun } from './follow-run.ts';

const open = runView([taskView('a', 'running')]);
const ended = runView([taskView('a', 'succeeded')], { state: 'ended', outcome: 'succeeded' });

/** A server whose run is what it is told to be, with a stream that can be spoken into, or is not there. */
function fakeServer({ hasStream }: { hasStream: boolean }) {
  let run: RunView = open;
  let looks = 0;
  let speak: () => void = () => {};
  const client = {
    getRun: async () => {
      looks += 1;
      return run;
    },
    async *followEvents(_filter: unknown, { signal }: { signal: AbortSignal }) {
      if (!hasStream) throw new Error('no stream');
      while (!signal.aborted) {
        await new Promise<void>((resolve) => {
          speak = resolve;
          signal.addEventListener('abort', () => resolve());
        });
        yield {} as EventView;
      }
    },
  } as unknown as Client;
  return {
    client,
    looks: () => looks,
    become: (next: RunView) => {
      run = next;
      speak();
    },
  };
}

test.each([{ hasStream: true }, { hasStream: false }])('a run is followed to its end, %j', async (kind) => {
  const server = fakeServer(kind);
  const seen: RunView[] = [];
  const followed = followRun(server.client, RUN_ID, {
    signal: new AbortController().signal,
    onSeen: (run) => {
      seen.push(run);
      if (seen.length === 2) server.become(ended);
    },
  });
  expect(await followed).toBe(ended);
  expect(seen.at(-1)).toBe(ended);
});

test('an event is looked into at once, not at the next time', async () => {
  const server = fakeServer({ hasStream: true });
  const beganAt = performance.now();
  const followed = followRun(server.client, RUN_ID, { signal: new AbortController().signal, onSeen: () => {} });
  // Past the shortest time between two looks, and long before the next look that nobody has asked for.
  setTimeout(() => server.become(ended), 200);
  await followed;
  expect(performance.now() - beganAt).toBeLessThan(900);
  expect(server.looks()).toBe(2);
});

test('time that is up is told with the run as it was', async () => {
  const server = fakeServer({ hasStream: false });
  const followed = followRun(server.client, RUN_ID, {
    timeoutMs: 60,
    signal: new AbortController().signal,
    onSeen: () => {},
  });
  await expect(followed).rejects.toMatchObject({ name: 'WaitTimedOut', run: open });
});

test('it ends when it is told to', async () => {
  const server = fakeServer({ hasStream: true });
  const controller = new AbortController();
  const followed = followRun(server.client, RUN_ID, { signal: controller.signal, onSeen: () => controller.abort() });
  await expect(followed).rejects.toThrow();
});
