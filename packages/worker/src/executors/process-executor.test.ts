import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandOf, startBody, testFolder, workOf } from '../test-rig.ts';

/** Whether a process is there and not only waits to be reaped. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function fileWith(path: string): Promise<string> {
  for (;;) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (text.endsWith('\n')) return text.trim();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

test('lines of name=value are an output, appended by several commands', async () => {
  const { run } = await startBody();
  const report = await run(
    commandOf('echo "rows=$((40 + 2))" >> $SIGNALBOX_OUTPUT; echo "day=$(echo Mon)" >> $SIGNALBOX_OUTPUT'),
  );
  expect(report).toMatchObject({ outcome: 'succeeded', output: '{"rows":"42","day":"Mon"}' });
});

test('a process is told of its attempt, and what it writes to $SIGNALBOX_OUTPUT is the output', async () => {
  const { run, data } = await startBody({ environment: { PATH: process.env.PATH, HOME: '/h', SIGNALBOX_TOKEN: 'no' } });
  const assignment = workOf(
    {
      kind: 'process',
      run: 'echo "out $INPUT_day"; echo "err" >&2; env | cut -d= -f1 | sort | tr "\\n" " "; echo; echo "{\\"in\\":$SIGNALBOX_INPUTS,\\"p\\":$SIGNALBOX_PARAMS,\\"k\\":\\"$SIGNALBOX_EFFECT_KEY\\"}" > "$SIGNALBOX_OUTPUT"',
      inputs: { day: { from: 'value', value: 'mon' }, list: { from: 'value', value: [1] } },
      env: { MINE: 'x' },
    },
    { params: '{"a":1}' },
  );
  const report = await run(assignment);
  expect(report).toMatchObject({ outcome: 'succeeded', error: '' });
  expect(JSON.parse(report.output)).toEqual({
    in: { day: 'mon', list: [1] },
    p: { a: 1 },
    k: assignment.effectKey,
  });
  const lines = data.textOf(assignment.claim);
  expect(lines).toContain('stdout: out mon');
  expect(lines).toContain('stderr: err');
  const names = lines
    .find((line) => line.includes('SIGNALBOX_RUN'))
    ?.slice('stdout: '.length)
    .trim()
    .split(' ');
  expect(names).toEqual([
    'HOME',
    'INPUT_day',
    'INPUT_list',
    'MINE',
    'PATH',
    'PWD',
    'SIGNALBOX_ATTEMPT',
    'SIGNALBOX_ATTEMPT_MARK',
    'SIGNALBOX_ATTEMPT_TOKEN',
    'SIGNALBOX_CHECKPOINT',
    'SIGNALBOX_DAG',
    'SIGNALBOX_EFFECT_KEY',
    'SIGNALBOX_FAILURE',
    'SIGNALBOX_FENCE',
    'SIGNALBOX_HELPERS',
    'SIGNALBOX_INPUTS',
    'SIGNALBOX_OUTPUT',
    'SIGNALBOX_PARAMS',
    'SIGNALBOX_PROGRESS',
    'SIGNALBOX_RUN',
    'SIGNALBOX_SOCKET',
    'SIGNALBOX_TASK',
    'SIGNALBOX_WORKER_MARK',
  ]);
});

test.each([
  ['text', 'a "b"', 'a "b"'],
  ['a number', 3, '3'],
  ['a boolean', false, 'false'],
  ['a list', ['load', 'drop "it"'], '["load","drop \\"it\\""]'],
  ['an empty list', [], '[]'],
  ['an object', { room: { no: 7 } }, '{"room":{"no":7}}'],
  ['nothing', null, 'unset'],
])('an input that is %s is a variable: lists and objects are JSON text', async (_, value, expected) => {
  const { run } = await startBody({ environment: { PATH: process.env.PATH } });
  const assignment = workOf({
    kind: 'process',
    run: 'printf %s "${INPUT_x-unset}" | sed \'s/\\\\/\\\\\\\\/g; s/"/\\\\"/g; s/.*/"&"/\' > "$SIGNALBOX_OUTPUT"',
    inputs: { x: { from: 'value', value } },
  });
  const report = await run(assignment);
  expect(report).toMatchObject({ outcome: 'succeeded', error: '' });
  expect(JSON.parse(report.output)).toBe(expected);
});

test('inputs beyond what a process can be given come in the file alone', async () => {
  const { run, data } = await startBody({ environment: { PATH: process.env.PATH } });
  const large = Array.from(
    { length: 30 },
    (_, i) => [`n${i}`, { from: 'value', value: ['x'.repeat(90_000)] }] as const,
  );
  const assignment = workOf({
    kind: 'process',
    run: 'env | grep -c "^INPUT_" > "$SIGNALBOX_OUTPUT"; test -s "$SIGNALBOX_INPUTS_FILE"',
    inputs: Object.fromEntries(large),
  });
  const report = await run(assignment);
  expect(report).toMatchObject({ outcome: 'succeeded', error: '' });
  expect(JSON.parse(report.output)).toBe(11);
  expect(data.textOf(assignment.claim).join('\n')).toContain('Input n29 is not a variable');
});

test('params that are too large for a variable come in a file', async () => {
  const { run } = await startBody();
  const params = JSON.stringify('x'.repeat(200_000));
  const report = await run(commandOf('wc -c < "$SIGNALBOX_PARAMS_FILE" > "$SIGNALBOX_OUTPUT"', { params }));
  expect(report).toMatchObject({ outcome: 'succeeded', output: '200002' });
});

test.each<[string, string | readonly string[], string, string]>([
  ['an exit code', 'echo one >&2; echo two >&2; exit 3', 'transient', 'The process ended with exit code 3.\none\ntwo'],
  ['a signal', 'kill -SEGV $$', 'transient', 'The process was ended by SIGSEGV.'],
  [
    'a signal below a shell',
    ['sh', '-c', 'sh -c "kill -TERM \\$\\$"; exit $?'],
    'transient',
    'exit code 143 (SIGTERM)',
  ],
  [
    'no such program',
    ['no-such-program'],
    'permanent',
    'no-such-program could not be started: there is no such program',
  ],
  ['arguments that are data', ['sh', '-c', 'test "$1" = "; exit 9"', 'x', '; exit 9'], 'succeeded', ''],
  ['no JSON', 'echo nope > $SIGNALBOX_OUTPUT', 'permanent', 'What was written to $SIGNALBOX_OUTPUT is not JSON'],
  ['a broken line', 'printf "a=1\\nb" > $SIGNALBOX_OUTPUT', 'permanent', 'line 2 is not name=value'],
  ['a pipe as output', 'mkfifo $SIGNALBOX_OUTPUT', 'permanent', 'What lies at $SIGNALBOX_OUTPUT is no file.'],
  [
    'an output of 50 MB',
    'head -c 52428800 /dev/zero > $SIGNALBOX_OUTPUT',
    'permanent',
    'The output has 52428800 bytes; the limit is 8388608.',
  ],
])('a process with %s is reported so', async (_, command, outcome, error) => {
  const { run } = await startBody();
  expect(await run(commandOf(command))).toMatchObject({ outcome, error: expect.stringContaining(error) });
});

test('a process works in a fresh folder that is gone afterwards, or where it is told to', async () => {
  const { run } = await startBody();
  const fresh = await run(commandOf('touch left; echo "\\"$PWD $(ls | wc -l)\\"" > $SIGNALBOX_OUTPUT'));
  const [path, count] = (JSON.parse(fresh.output) as string).split(' ');
  expect(count).toBe('1');
  expect(existsSync(String(path))).toBe(false);
  const folder = testFolder();
  writeFileSync(join(folder, 'there'), '');
  const told = await run(workOf({ kind: 'process', run: 'echo "\\"$(ls)\\"" > $SIGNALBOX_OUTPUT', cwd: folder }));
  expect(told.output).toBe('"there"');
  expect(await run(workOf({ kind: 'process', run: 'true', cwd: '/no/such' }))).toMatchObject({
    outcome: 'permanent',
    error: 'The working folder /no/such does not exist on this worker.',
  });
});

test('a process that ignores SIGTERM is killed when its grace is over, with its whole group', async () => {
  const { session, data, run } = await startBody();
  const folder = testFolder();
  const stubborn = commandOf(
    `trap '' TERM; sh -c 'trap "" TERM; while :; do sleep 0.05; done' & echo $! > ${folder}/pid; while :; do sleep 0.05; done`,
  );
  session.say({ assignments: [stubborn] });
  const forked = Number(await fileWith(`${folder}/pid`));
  expect(isAlive(forked)).toBe(true);
  session.say({ kills: [{ claim: stubborn.claim, reason: 'cancelled', graceMs: 150 }] });
  const report = await session.reportOf(stubborn.claim);
  expect(report.outcome).toBe('cancelled');
  expect(report.error).toContain('The attempt was cancelled.\nThe process was ended by SIGKILL');
  expect(isAlive(forked)).toBe(false);
  expect(data.textOf(stubborn.claim)).toEqual([
    'system: SIGTERM was sent to the process and its group.',
    'system: SIGKILL was sent to the process and its group.',
  ]);
  expect((await run(commandOf('true'))).outcome).toBe('succeeded');
});

test('a process whose time is over is stopped, whatever it does', async () => {
  const { run } = await startBody();
  const report = await run(commandOf('while :; do :; done', { timeoutMs: 100 }));
  expect(report).toMatchObject({ outcome: 'timeout' });
});

test('what a process leaves behind is killed, in its group and out of it', async () => {
  const { run, data } = await startBody();
  const folder = testFolder();
  const escapes = commandOf(
    `sleep 600 & echo $! > ${folder}/in; setsid sh -c 'echo $$ > ${folder}/out; exec sleep 600' & while ! [ -s ${folder}/out ]; do sleep 0.02; done; echo '"done"' > $SIGNALBOX_OUTPUT`,
  );
  expect(await run(escapes)).toMatchObject({ outcome: 'succeeded', output: '"done"' });
  expect(isAlive(Number(await fileWith(`${folder}/in`)))).toBe(false);
  expect(isAlive(Number(await fileWith(`${folder}/out`)))).toBe(false);
  expect(data.textOf(escapes.claim)).toEqual(['system: Killed what had left the group: 1 more.']);
});

test('secrets come into the environment by reference, and into no log and no error (I67)', async () => {
  const { run, data } = await startBody({
    environment: { PATH: process.env.PATH, SIGNALBOX_SECRET_KEY: 'top-secret', SIGNALBOX_SECRET_OTHER: 'hidden-too' },
  });
  const assignment = workOf({
    kind: 'process',
    run: 'printf "top-"; sleep 0.1; echo "secret $AUTH"; echo "$SIGNALBOX_SECRET_OTHER" >&2; test "$AUTH" = "Bearer top-secret" && exit 4',
    env: { AUTH: 'Bearer ${{ secrets.KEY }}' },
    fill: { 'env.AUTH': { text: ['Bearer ', { from: 'secret', name: 'KEY' }] } },
    secrets: ['OTHER'],
  });
  const report = await run(assignment);
  expect(report).toMatchObject({ outcome: 'transient', error: 'The process ended with exit code 4.\n***' });
  expect([...data.textOf(assignment.claim)].sort()).toEqual(['stderr: ***', 'stdout: *** Bearer ***']);
});

test.each(['sh', 'bash'] as const)(
  'in arithmetic of %s inputs have to be numbers, and nothing in them is run (I69)',
  async (shell) => {
    const { run } = await startBody();
    const mark = `${testFolder()}/ran`;
    const asked = (cups: unknown) => {
      const line = 'echo "$((16 * INPUT_cups))" > "$SIGNALBOX_OUTPUT"';
      const shape = {
        kind: 'process',
        run: line,
        inputs: { cups: { from: 'value', value: cups } },
        ...(shell === 'bash' ? { shell } : {}),
      } as const;
      return workOf(shape);
    };
    expect(await run(asked(2))).toMatchObject({ outcome: 'succeeded', output: '32' });
    expect(await run(asked('3'))).toMatchObject({ outcome: 'succeeded', output: '48' });
    for (const evil of [`a[$(touch ${mark})]`, `$(touch ${mark})`, 'PATH', '1 + 1', { n: 1 }]) {
      const report = await run(asked(evil));
      expect(report).toMatchObject({
        outcome: 'permanent',
        error: expect.stringContaining('Input cups is not a number'),
      });
    }
    expect(existsSync(mark)).toBe(false);
  },
);

test('the token of the attempt is in no log and no error, however it is printed (I67)', async () => {
  const { run, data } = await startBody();
  const assignment = commandOf(
    'env | grep TOKEN; printf "as hex: "; printf "%s==" "$SIGNALBOX_ATTEMPT_TOKEN" | tr -- "-_" "+/" | base64 -d | od -An -tx1 -v | tr -d " \\n"; echo "$SIGNALBOX_ATTEMPT_TOKEN" >&2; exit 4',
  );
  const real = { ...assignment, token: Buffer.from('6f1e2d3c4b5a69788796a5b4c3d2e1f0', 'hex') };
  const report = await run(real);
  expect(report).toMatchObject({ outcome: 'transient', error: 'The process ended with exit code 4.\n***' });
  expect([...data.textOf(assignment.claim)].sort()).toEqual([
    'stderr: ***',
    'stdout: SIGNALBOX_ATTEMPT_TOKEN=***',
    'stdout: as hex: ***',
  ]);
});

test('what a command line refers to is a value to the shell, whatever it holds (I69)', async () => {
  const { run } = await startBody();
  const evil = 'a  b"; echo broken; $(echo worse) `echo bad` \' * \n${{ secrets.KEY }} \\';
  const day = { from: 'params', path: ['day'] } as const;
  const params = JSON.stringify({ day: evil });
  const print = [
    '-e',
    'require("fs").writeFileSync(process.env.SIGNALBOX_OUTPUT, JSON.stringify(process.argv.slice(1)))',
  ];
  const shell = workOf(
    {
      kind: 'process',
      run: `node -e '${print[1]}' -- "\${SIGNALBOX_REF_0}" "y \${SIGNALBOX_REF_1}"`,
      fill: { 'ref[0]': { source: day }, 'ref[1]': { text: ['z', day] } },
    },
    { params },
  );
  expect(JSON.parse((await run(shell)).output)).toEqual([evil, `y z${evil}`]);
  const program = workOf(
    { kind: 'process', run: ['node', ...print, '--', 'x', ''], fill: { 'run[5]': { text: ['-', day] } } },
    { params },
  );
  expect(JSON.parse((await run(program)).output)).toEqual(['x', `-${evil}`]);
});

test.each([
  ['[{"id":9007199254740993}]', '[0].id'],
  ['{"x":1e400}', 'x'],
  ['{"a":1,"a":2}', 'a'],
])('an output of %s fails the task, with the path', async (output, path) => {
  const { run } = await startBody();
  const report = await run(workOf({ kind: 'process', run: `echo '${output}' > "$SIGNALBOX_OUTPUT"` }));
  expect(report).toMatchObject({ outcome: 'permanent', output: '' });
  expect(report.error).toContain(`can't be kept: ${path}: `);
});
