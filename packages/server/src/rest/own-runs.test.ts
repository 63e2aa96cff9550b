import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

test('a caller can ask for the runs that it made itself, beside those of others', async () => {
  const url = rig.servers[0]?.url ?? '';
  const ours = createClient({ url, token: rig.token });
  const { token } = await ours.createToken({ name: 'colleague', role: 'operator' });
  const theirs = createClient({ url, token });
  for (const name of ['make', 'mend']) {
    await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'h', queue: 'nobody' }] });
  }
  const made: string[] = [];
  for (const [client, dag] of [
    [ours, 'make'],
    [theirs, 'mend'],
    [ours, 'mend'],
    [theirs, 'make'],
  ] as const) {
    made.push((await client.submit(dag)).id);
  }
  const idsOf = async (list: Promise<{ items: readonly { id: string }[] }>) => (await list).items.map(({ id }) => id);
  expect(await idsOf(ours.listRuns())).toEqual(made.toReversed());
  expect(await idsOf(ours.listRuns({ mine: true }))).toEqual([made[2], made[0]]);
  expect(await idsOf(theirs.listRuns({ mine: true, limit: 1 }))).toEqual([made[3]]);
  expect(await idsOf(theirs.listRuns({ mine: true, dag: 'mend' }))).toEqual([made[1]]);
  expect(await idsOf(theirs.listRuns({ mine: false, dag: 'mend' }))).toEqual([made[2], made[1]]);
});
