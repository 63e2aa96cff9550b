/** Why a task does not run when something is wrong with the shard or the run itself, through the real server and database. */
import { randomUUID } from 'node:crypto';
import type { TaskWhy } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.ask('PUT', '/v1/dags/nobody', {
    name: 'nobody',
    tasks: [{ name: 'work', handler: 'work', queue: 'nobody-listens' }],
  });
});
afterAll(async () => {
  await rig.stop();
});

const whyOf = (run: string) => rig.read<TaskWhy>(`/v1/runs/${run}/tasks/work/why`);
const codeIs = (run: string, code: string) => eventually(async () => (await whyOf(run)).code === code);
const startRun = async () => (await rig.ask('POST', '/v1/dags/nobody/runs', {})).body.id;
const shardOf = async (run: string) => Number((await rig.sql(`select shard from run where uid = '${run}'`))[0]?.shard);

/** A server that nobody reaches. */
async function addStranger(): Promise<string> {
  const stranger = randomUUID();
  await rig.sql(`insert into node select '${stranger}', 1, '127.0.0.1:1', '127.0.0.1:1'`);
  return stranger;
}

async function giveTo(nodeId: string, run: string): Promise<void> {
  await rig.sql(`update shard set epoch = epoch + 1, owner = '${nodeId}' where shard = ${await shardOf(run)}`);
}

test('loading: its shard is with a server that beats and does not answer', async () => {
  const run = await startRun();
  await codeIs(run, 'no_worker');
  const stranger = await addStranger();
  await giveTo(stranger, run);
  await eventually(async () => {
    await rig.sql(`update node set beat = beat + 1 where node_id = '${stranger}'`);
    return (await whyOf(run)).code === 'loading';
  });
  expect(await whyOf(run)).toMatchObject({
    code: 'loading',
    message: expect.stringMatching(/did not answer|being loaded/),
  });
  // It beats no more: its shard is taken over, and the reason is known again.
  await codeIs(run, 'no_worker');
  await rig.ask('POST', `/v1/runs/${run}/cancel`, {});
});

test('set_aside: its rows cannot be read', async () => {
  const run = await startRun();
  await codeIs(run, 'no_worker');
  // A task that its dag does not have. One with a larger number would be of a map that was removed.
  await rig.sql(
    `insert into task (run_id, fence, claimed_at, worker_id, task_no, attempt_no, lost_count, shard, state)
     select run_id, 1, 0, '${randomUUID()}', -1000, 1, 0, shard, 1 from run where uid = '${run}'`,
  );
  // Rows of tasks are read of runs that have some.
  await rig.sql(`update live_run set claimed = true where run_id = (select run_id from run where uid = '${run}')`);
  // What is in memory is newer than what is read: a stranger takes the shard and dies, so that the server begins from the rows.
  await giveTo(await addStranger(), run);
  await codeIs(run, 'set_aside');
  const why = await whyOf(run);
  expect(why.message).toMatch(/^The run is set aside after an internal error: .*a row is of a task of its run/);
  expect(why.chain.map(({ code }) => code)).toEqual(['set_aside']);
  expect(why.suggestion).toContain(`signalbox runs show ${run} --json`);
  // Nobody else is held up by it (I57).
  await codeIs(await startRun(), 'no_worker');
});
