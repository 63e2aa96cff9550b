import { expect, test } from 'vitest';
import { assignmentOf } from '../scripted-gateway.ts';
import { commandOf, startBody, testFolder, workOf } from '../test-rig.ts';
import { startWorker } from '../worker.ts';
import { ATTEMPT_MARK, sweep } from './sweep.ts';

test('what a worker may not run fails for good, and says why; what it may run it runs', async () => {
  const { run } = await startBody({ name: 'w1', allow: ['process'], handlers: { noop: () => 1 } });
  for (const assignment of [
    assignmentOf(1_000_001),
    workOf({ kind: 'function' }, { bundle: 'ab'.repeat(32) }),
    workOf({ kind: 'http', url: 'http://127.0.0.1/' }),
  ]) {
    expect(await run(assignment)).toMatchObject({
      outcome: 'permanent',
      error: expect.stringMatching(
        /^Worker w1 may not run (handler|function|http) tasks; it was started with --allow process\./,
      ),
    });
  }
  expect((await run(commandOf('true'))).outcome).toBe('succeeded');
});

test('a worker without handlers says so; work that it does not know is refused with what to do', async () => {
  const { run } = await startBody({ name: 'w1' });
  expect(await run(assignmentOf(1_000_002))).toMatchObject({
    outcome: 'permanent',
    error: 'Worker w1 has no handler "noop"; it has: none.',
  });
  expect(await run(assignmentOf(1_000_003, { work: '{"kind":"container"}' }))).toMatchObject({
    outcome: 'permanent',
    error: 'This worker does not support tasks of kind "container". Upgrade it.',
  });
});

test.each([
  [{ allow: [] }, 'allow is empty'],
  [{ allow: ['docker' as 'process'] }, 'allow has "docker"'],
  [{ httpAllow: ['10.0.0.0/99'] }, '"10.0.0.0/99" is nothing that can be allowed'],
])('a worker can’t be started with %j', (options, message) => {
  expect(() => startWorker({ gateways: ['127.0.0.1:1'], token: 't', slots: 1, ...options })).toThrow(message);
});

test('what a handler says goes to the attempt’s log and to the worker’s own', async () => {
  const own: unknown[] = [];
  const log = { debug: () => {}, info: (...line: unknown[]) => own.push(line), warn: () => {}, error: () => {} };
  const { run, data } = await startBody({
    log,
    environment: { SIGNALBOX_SECRET_KEY: 'top-secret' },
    handlers: {
      says: (context) => {
        context.log.info('said', { n: 1 });
        context.log.debug('key', { key: 'top-secret' });
        const circle: object[] = [];
        circle.push(circle);
        context.log.info('odd', circle);
      },
    },
  });
  const assignment = workOf({ kind: 'handler', secrets: ['KEY'] }, { handler: 'says' });
  expect((await run(assignment)).outcome).toBe('succeeded');
  expect(data.textOf(assignment.claim)).toEqual([
    'log: {"level":"info","message":"said","fields":{"n":1}}',
    'log: {"level":"debug","message":"key","fields":{"key":"***"}}',
    'log: {"level":"info","message":"odd","fields":"left out: no JSON, or too large"}',
  ]);
  expect(own).toContainEqual(['said', { n: 1, dag: 'd', run: assignment.run, task: 't', attempt: 1 }]);
});

test('a process of an attempt that the server calls stale is ended, though nobody waits for it', async () => {
  const { session, run } = await startBody();
  const folder = testFolder();
  const stale = commandOf(`trap '' TERM; echo $$ > ${folder}/pid; while :; do sleep 0.05; done`);
  session.say({ assignments: [stale] });
  await run(commandOf(`while ! [ -s ${folder}/pid ]; do sleep 0.02; done`));
  session.say({ answers: [{ claim: stale.claim, verdict: 'stale' }] });
  const gone = commandOf(`while kill -0 $(cat ${folder}/pid) 2>/dev/null; do sleep 0.02; done`);
  expect((await run(gone)).outcome).toBe('succeeded');
});

test('nothing is found where nothing has the mark', async () => {
  expect(await sweep(ATTEMPT_MARK, 'of nobody')).toBe(0);
});
