import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    name: ({ task }: { task: string }) => `output of ${task}`,
    fail: () => {
      throw new Error('on purpose');
    },
  });
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });

test('tasks come in pages and by state, each with its own output and attempts', async () => {
  const tasks = Array.from({ length: 25 }, (_, i) => ({ name: `t${i}`, handler: i === 7 ? 'fail' : 'name' }));
  await client().deployDag({ name: 'wide', tasks });
  const { id } = await client().submit('wide');
  await client().waitForRun(id);
  const seen: [string, unknown][] = [];
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const page = await client().listTasks(id, { limit: 10, cursor });
    expect(page.items.length).toBeLessThanOrEqual(10);
    seen.push(...page.items.map(({ name, output }): [string, unknown] => [name, output]));
    cursor = page.cursor;
  }
  expect(seen).toEqual(tasks.map(({ name }) => [name, name === 't7' ? null : `output of ${name}`]));
  const failed = await client().listTasks(id, { state: 'failed' });
  expect(failed.items.map(({ name }) => name)).toEqual(['t7']);
  expect(await client().getTask(id, 't3')).toMatchObject({ name: 't3', state: 'succeeded', output: 'output of t3' });
  const { items } = await client().listAttempts(id, 't7');
  expect(items).toMatchObject([{ attempt: 1, outcome: 'transient', error: expect.stringContaining('on purpose') }]);
  await expect(client().getTask(id, 'nothing')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  await expect(client().getTask('x', 't3')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
});

test('versions, schedules and servers can be listed', async () => {
  const schedule = { cron: '0 3 * * *', zone: 'Europe/Berlin' };
  const one = { name: 'planned', tasks: [{ name: 'a', handler: 'name' }], schedule };
  await client().deployDag(one);
  await client().deployDag({ ...one, description: 'The second.', tasks: [{ name: 'b', run: 'true' }] });
  const { items, cursor } = await client().listVersions('planned', { limit: 1 });
  expect(items).toMatchObject([{ version: 2, current: true, actor: 'token:admin' }]);
  const rest = await client().listVersions('planned', { cursor: cursor ?? '' });
  expect(rest).toMatchObject({ items: [{ version: 1, current: false }], cursor: null });
  const second = await client().getVersion('planned', 2);
  expect(second).toMatchObject({ description: 'The second.', tasks: [{ name: 'b', kind: 'process', handler: null }] });
  await expect(client().getVersion('planned', 3)).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' });
  const found = (await client().listSchedules()).items.find(({ dag }) => dag === 'planned');
  expect(found).toMatchObject({ cron: '0 3 * * *', zone: 'Europe/Berlin', paused: false });
  expect(Date.parse(found?.nextAt ?? '')).toBeGreaterThan(Date.now());
  expect(await client().listNodes()).toMatchObject({ items: [{ shards: 64, leaving: false }], unowned: 0 });
});

test('a dag that was deleted takes no runs, is listed on request only, and the next deploy brings it back', async () => {
  const definition = { name: 'gone', tasks: [{ name: 'a', handler: 'name' }] };
  await client().deployDag(definition);
  expect(await client().deleteDag('gone')).toEqual({ name: 'gone', retired: true });
  await expect(client().submit('gone')).rejects.toMatchObject({ code: 'DAG_NOT_FOUND' });
  const names = async (retired: boolean) => (await client().listDags({ retired })).items.map(({ name }) => name);
  expect([(await names(false)).includes('gone'), (await names(true)).includes('gone')]).toEqual([false, true]);
  await client().deployDag(definition);
  const run = await client().waitForRun((await client().submit('gone')).id);
  expect(run.outcome).toBe('succeeded');
});

test('a task by itself shows what it was given, of params, other tasks and items', async () => {
  const inputs = {
    day: '${{ params.day }}',
    all: '${{ tasks.list.output }}',
    run: '${{ run.dag }}',
    text: 'of ${{ params.day }} and ${{ tasks.list.output[1] }}',
  };
  const item = { item: '${{ item }}', mine: '${{ tasks.each.output }}' };
  await client().deployDag({
    name: 'given',
    groups: [{ name: 'every', map: '${{ tasks.list.output }}' }],
    tasks: [
      { name: 'list', run: 'echo "[10, 20, 30]" > "$SIGNALBOX_OUTPUT"' },
      { name: 'plain', run: 'true', needs: ['list'], inputs },
      {
        name: 'each',
        group: 'every',
        run: 'echo "$INPUT_item" > "$SIGNALBOX_OUTPUT"',
        inputs: { item: '${{ item }}' },
      },
      { name: 'after', group: 'every', run: 'true', needs: ['each'], inputs: item },
      { name: 'sum', run: 'true', inputs: { every: '${{ tasks.each.output }}' }, needs: ['each'], memory: '64MiB' },
    ],
  });
  const { id } = await client().submit('given', { params: { day: 'monday' } });
  expect((await client().waitForRun(id)).outcome).toBe('succeeded');
  const given = async (task: string) => (await client().getTask(id, task)).inputs;
  const known = (values: Record<string, unknown>) =>
    Object.entries(values).map(([name, value]) => ({ name, value, unresolved: null }));
  expect(await given('list')).toBeUndefined();
  expect(await given('plain')).toEqual(
    known({ day: 'monday', all: [10, 20, 30], run: 'given', text: 'of monday and 20' }),
  );
  expect(await given('after[1]')).toEqual(known({ item: 20, mine: 20 }));
  expect(await given('sum')).toEqual([{ name: 'every', value: null, unresolved: '${{ tasks.each.output }}' }]);
  expect((await client().getDag('given')).tasks.at(-1)?.limits).toEqual({ memoryBytes: 64 * 2 ** 20 });
});
