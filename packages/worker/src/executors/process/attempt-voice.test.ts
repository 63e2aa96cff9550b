/** What scripts can say while they run, with the shell, curl and Python that are there. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { beatWithProgress, hear } from '../../scripted-requests.ts';
import { commandOf, startBody, testFolder, workOf } from '../../test-rig.ts';

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const SH = '. "$SIGNALBOX_HELPERS/signalbox.sh"';
const PYTHON = 'import os, sys; sys.path.insert(0, os.environ["SIGNALBOX_HELPERS"]); import signalbox';

describe.skipIf(!has('curl'))('sh with curl', () => {
  test('goes on from a checkpoint, tells of progress, saves, and gives its output', async () => {
    const { session, gateway } = await startBody();
    const asked = hear(gateway);
    const script = `${SH}
      from=$(signalbox_checkpoint || echo 0)
      signalbox_progress 0.5 'page "4" of 8'
      signalbox_save $((from + 1))
      signalbox_assert_owned
      signalbox_output "{\\"from\\":$from}"`;
    const assignment = commandOf(script, { checkpoint: '3' });
    session.say({ assignments: [assignment] });
    expect((await asked.nth(0)).checkpoint).toBe('4');
    expect((await beatWithProgress(session)).progress).toMatchObject([{ fraction: 0.5, note: 'page "4" of 8' }]);
    asked.answer(await asked.nth(0));
    expect((await asked.nth(1)).assertOwned).toBe(true);
    asked.answer(await asked.nth(1));
    expect(await session.reportOf(assignment.claim)).toMatchObject({ outcome: 'succeeded', output: '{"from":3}' });
  });

  test('adds tasks to its run, and is told why not', async () => {
    const { session, gateway } = await startBody();
    const asked = hear(gateway);
    const tasks = '[{"name":"a","template":"load"}]';
    const assignment = commandOf(`${SH}
      signalbox_add_tasks '${tasks}' && signalbox_output "$(signalbox_add_tasks '${tasks}')"`);
    session.say({ assignments: [assignment] });
    expect((await asked.nth(0)).addedTasks).toBe(tasks);
    asked.answer(await asked.nth(0));
    asked.answer(await asked.nth(1), { ok: false, code: 'ADD_REFUSED', detail: 'There is no template load.' });
    const { output } = await session.reportOf(assignment.claim);
    expect(JSON.parse(output)).toEqual({ code: 'refused', message: 'There is no template load.' });
  });

  test('is told when the task is not its own any more', async () => {
    const { session, gateway } = await startBody();
    const asked = hear(gateway);
    const assignment = commandOf(`${SH}; signalbox_assert_owned || exit 3`);
    session.say({ assignments: [assignment] });
    asked.answer(await asked.nth(0), { ok: false, code: 'STALE_TOKEN' });
    expect(await session.reportOf(assignment.claim)).toMatchObject({
      code: 'exit:3',
      error: expect.stringContaining('409'),
    });
  });

  test('asks for more time', async () => {
    const { session, gateway } = await startBody();
    const asked = hear(gateway);
    const assignment = commandOf(`${SH}; signalbox_extend 60000 > "$SIGNALBOX_OUTPUT"`, { timeoutMs: 20_000 });
    session.say({ assignments: [assignment] });
    const ask = await asked.nth(0);
    expect(ask.extendMs).toBe(60_000);
    asked.answer(ask, { ok: true, leftMs: 70_000 });
    expect((await session.reportOf(assignment.claim)).output).toBe('{"leftMs":70000}');
  });

  test('says what its failure means, and when to come back', async () => {
    const { run } = await startBody();
    const report = await run(commandOf(`${SH}; signalbox_fail permanent 'The "card" was declined' 5000; exit 1`));
    expect(report).toMatchObject({ outcome: 'permanent', code: 'exit:1', retryAfterMs: 5_000 });
    expect(report.error).toContain('The "card" was declined');
  });

  test.each([
    ['no JSON', 'PUT', '/checkpoint', 'nope', '400'],
    ['too much', 'PUT', '/checkpoint', `"${'x'.repeat(300_000)}"`, '413'],
    ['a fraction of 7', 'POST', '/progress', '{"fraction":7}', '400'],
    ['a class that there is not', 'POST', '/failure', '{"class":"lost"}', '400'],
    ['what there is not', 'GET', '/etc/passwd', '', '404'],
  ])('%s is refused, and said so (I68)', async (_, method, path, body, status) => {
    const { run } = await startBody();
    const report = await run(
      workOf(
        {
          kind: 'process',
          run: `printf '%s' "$SIGNALBOX_PARAMS_FILE$SIGNALBOX_PARAMS" > /dev/null; ${BODY} | curl -s -o answer -w '%{http_code}' --unix-socket "$SIGNALBOX_SOCKET" -X ${method} http://signalbox${path} --data-binary @- > "$SIGNALBOX_OUTPUT"`,
        },
        { params: JSON.stringify(body) },
      ),
    );
    expect(report.output).toBe(status);
  });
  /** The text that the params are, as it is. */
  const BODY = `node -e 'process.stdout.write(JSON.parse(process.env.SIGNALBOX_PARAMS ?? require("fs").readFileSync(process.env.SIGNALBOX_PARAMS_FILE, "utf8")))'`;
});

describe.skipIf(!has('python3'))('Python', () => {
  test('goes on from a checkpoint, tells of progress, saves, and gives its output', async () => {
    const { session, gateway } = await startBody();
    const asked = hear(gateway);
    const script = `${PYTHON}
done = signalbox.checkpoint()
signalbox.progress(0.25, "ä quarter")
signalbox.save({"page": done["page"] + 1})
try:
    signalbox.assert_owned()
except signalbox.Stopped as stopped:
    signalbox.add_tasks([{"name": "a", "template": "load"}])
    signalbox.output({"was": done, "reason": stopped.reason})`;
    const assignment = commandOf(['python3', '-c', script], { checkpoint: '{"page":7}' });
    session.say({ assignments: [assignment] });
    asked.answer(await asked.nth(0));
    expect((await asked.nth(0)).checkpoint).toBe('{"page":8}');
    asked.answer(await asked.nth(1), { ok: false, code: 'STALE_TOKEN', detail: 'cancelled' });
    expect(JSON.parse((await asked.nth(2)).addedTasks)).toEqual([{ name: 'a', template: 'load' }]);
    asked.answer(await asked.nth(2));
    const { output, error } = await session.reportOf(assignment.claim);
    expect(error).toBe('');
    expect(JSON.parse(output)).toEqual({ was: { page: 7 }, reason: 'cancelled' });
  });

  test('fails as it says', async () => {
    const { run } = await startBody();
    const script = `${PYTHON}\nsignalbox.fail("resource", "too large", memory_bytes=2**30)\nsys.exit(1)`;
    expect(await run(commandOf(['python3', '-c', script]))).toMatchObject({
      outcome: 'resource',
      memoryBytes: 2 ** 30,
    });
  });
});

describe('files alone', () => {
  test('a checkpoint is read from its file, and what is written there is saved, also at the very end', async () => {
    const { session, gateway } = await startBody();
    const asked = hear(gateway);
    const script = 'from=$(cat "$SIGNALBOX_CHECKPOINT"); echo $((from + 1)) > "$SIGNALBOX_CHECKPOINT"; exit 75';
    const assignment = commandOf(script, { checkpoint: '41' });
    session.say({ assignments: [assignment] });
    const ask = await asked.nth(0);
    expect(ask.checkpoint).toBe('42');
    asked.answer(ask);
    expect(await session.reportOf(assignment.claim)).toMatchObject({ outcome: 'transient', code: 'exit:75' });
  });

  test('progress is a line, or JSON', async () => {
    const { session } = await startBody();
    const folder = testFolder();
    const wait = `while ! [ -e ${folder}/go ]; do sleep 0.05; done`;
    const one = commandOf(`echo '0.5 half of them' > "$SIGNALBOX_PROGRESS"; ${wait}`);
    const two = commandOf(`echo '{"note":"no idea"}' > "$SIGNALBOX_PROGRESS"; ${wait}`);
    session.say({ assignments: [one, two] });
    const beat = await session.until(({ heartbeat }) => (heartbeat?.progress.length === 2 ? heartbeat : null));
    const told = beat.progress.map(({ fraction, note }) => ({ fraction, note }));
    expect(told).toContainEqual({ fraction: 0.5, note: 'half of them' });
    expect(told).toContainEqual({ fraction: null, note: 'no idea' });
    execFileSync('touch', [`${folder}/go`]);
    expect((await session.reportOf(one.claim)).outcome).toBe('succeeded');
  });

  test('what the failure means is read from its file', async () => {
    const { run } = await startBody();
    const said = '{"class":"transient","code":"bank:busy","retryAfterMs":30000}';
    expect(await run(commandOf(`echo '${said}' > "$SIGNALBOX_FAILURE"; exit 78`))).toMatchObject({
      outcome: 'transient',
      code: 'bank:busy',
      retryAfterMs: 30_000,
    });
  });

  test('a checkpoint with a number that would change is left, and the log says so', async () => {
    const { run, data, gateway } = await startBody();
    const asked = hear(gateway);
    const assignment = commandOf(`echo '{"id":9007199254740993}' > "$SIGNALBOX_CHECKPOINT"`);
    expect((await run(assignment)).outcome).toBe('succeeded');
    expect(asked.asks).toEqual([]);
    expect(data.textOf(assignment.claim).join()).toContain('was not saved: id: the number 9007199254740993');
  });

  test('a checkpoint that is no JSON is left, and the log says so', async () => {
    const { run, data, gateway } = await startBody();
    const asked = hear(gateway);
    const assignment = commandOf('echo nope > "$SIGNALBOX_CHECKPOINT"');
    expect((await run(assignment)).outcome).toBe('succeeded');
    expect(asked.asks).toEqual([]);
    expect(data.textOf(assignment.claim).join()).toContain('$SIGNALBOX_CHECKPOINT is not JSON');
  });
});

test('the door is for the worker’s own account, and gone with the attempt', async () => {
  const { session } = await startBody();
  const folder = testFolder();
  const assignment = commandOf(
    `printf '%s' "$SIGNALBOX_SOCKET" > ${folder}/path; touch ${folder}/ready; while ! [ -e ${folder}/go ]; do sleep 0.02; done`,
  );
  session.say({ assignments: [assignment] });
  while (!existsSync(`${folder}/ready`)) await new Promise((resolve) => setTimeout(resolve, 5));
  const path = execFileSync('cat', [`${folder}/path`], { encoding: 'utf8' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(path.replace(/\/[^/]*$/, '')).mode & 0o777).toBe(0o700);
  execFileSync('touch', [`${folder}/go`]);
  await session.reportOf(assignment.claim);
  expect(existsSync(path)).toBe(false);
});
