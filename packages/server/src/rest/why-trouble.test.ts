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
const shardOf = async (run: string) => (await rig.sql(`select shard from run where uid = '${run}'`))[0]?.shard;

test('loading: its shard is with a server that beats and does not answer', async () => {
  const run = await startRun();
  await codeIs(run, 'no_worker');
  const stranger = randomUUID();
  await rig.sql(`insert into node select '${stranger}', 1, '127.0.0.1:1', '127.0.0.1:1'`);
  await rig.sql(`update shard set epoch = epoch + 1, owner = '${stranger}' where shard = ${await shardOf(run)}`);
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
});

test('set_aside: its rows cannot be read', async () => {
  const run = await startRun();
  await codeIs(run, 'no_worker');
  // A task that its dag does not have.
  await rig.sql(
    `insert into task (run_id, fence, claimed_at, worker_id, task_no, attempt_no, lost_count, shard, state)
     select run_id, 1, 0, '${randomUUID()}', 99, 1, 0, shard, 1 from run where uid = '${run}'`,
  );
  await rig.sql(`update shard set epoch = epoch + 1, owner = null where shard = ${await shardOf(run)}`);
  await codeIs(run, 'set_aside').catch(async (e) => {
    console.log(JSON.stringify(await whyOf(run)), JSON.stringify(await rig.read(`/v1/runs/${run}`)));
    throw e;
  });
  expect((await whyOf(run)).suggestion).toContain(`signalbox runs show ${run} --json`);
});
