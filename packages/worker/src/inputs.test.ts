import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkShape } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { assignmentOf } from './scripted-gateway.ts';
import { startRig } from './test-rig.ts';

const inputs: NonNullable<WorkShape['inputs']> = {
  fixed: { from: 'value', value: [1] },
  row: { from: 'task', task: 'extract', path: ['rows', 0, 'id'] },
  day: { from: 'params', path: ['day'] },
};
const work = (different: Partial<WorkShape> = {}): string => JSON.stringify({ kind: 'handler', inputs, ...different });

async function reportFor(assignment: Parameters<typeof assignmentOf>[1], options: Parameters<typeof startRig>[0] = {}) {
  const { gateway } = await startRig({
    handlers: {
      seen: (context) => ({ ...context.inputs }),
      tells: ({ secret }) => [secret('KEY').length, secret('FILE').length],
    },
    environment: {},
    ...options,
  });
  const session = await gateway.session(0);
  const one = assignmentOf(1, assignment);
  session.say({ assignments: [one] });
  return session.reportOf(one.claim);
}

test('a handler gets what its inputs refer to', async () => {
  const report = await reportFor({
    handler: 'seen',
    work: work(),
    params: '{"day":"mon"}',
    upstream: [{ taskName: 'extract', output: '{"rows":[{"id":7}]}' }],
  });
  expect(report).toMatchObject({ outcome: 'succeeded', output: '{"fixed":[1],"row":7,"day":"mon"}' });
});

test.each([
  [
    'of a task',
    '{"day":1}',
    '{"rows":[]}',
    'Input row is ${{ tasks.extract.output.rows[0].id }}, which does not exist.',
  ],
  ['of the params', 'null', '{"rows":[{"id":7}]}', 'Input day is ${{ params.day }}, which does not exist.'],
])('a path %s that leads nowhere fails the task for good, and is named', async (_, params, output, error) => {
  const report = await reportFor({
    handler: 'seen',
    work: work(),
    params,
    upstream: [{ taskName: 'extract', output }],
  });
  expect(report).toMatchObject({ outcome: 'permanent', error: expect.stringContaining(error) });
});

test('a secret comes from the environment or a file, and only to a task that names it (I67)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-secrets-'));
  writeFileSync(join(folder, 'FILE'), 'from-a-file\n');
  const options = { environment: { SIGNALBOX_SECRET_KEY: 'abc' }, secretsFolder: folder };
  const named = { handler: 'tells', work: work({ inputs: {}, secrets: ['KEY', 'FILE'] }) };
  expect(await reportFor(named, options)).toMatchObject({ outcome: 'succeeded', output: '[3,11]' });
  expect(await reportFor({ ...named, work: work({ inputs: {}, secrets: ['FILE'] }) }, options)).toMatchObject({
    outcome: 'permanent',
    error: expect.stringContaining('The task does not list the secret KEY'),
  });
  expect(await reportFor({ handler: 'tells' }, options)).toMatchObject({ outcome: 'permanent' });
});

test.each([
  ['is not there', {}, 'does not have the secret KEY: set SIGNALBOX_SECRET_KEY for it'],
  ['is empty', { SIGNALBOX_SECRET_KEY: '' }, 'has an empty secret KEY'],
])('a secret that %s fails the task with what to set', async (_, environment, error) => {
  const report = await reportFor({ handler: 'tells', work: work({ inputs: {}, secrets: ['KEY'] }) }, { environment });
  expect(report).toMatchObject({ outcome: 'permanent', error: expect.stringContaining(error) });
});
