import { readFileSync } from 'node:fs';
import { packFiles } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { startBody, testFolder, workOf } from '../test-rig.ts';

const file = (path: string, text: string, isExecutable = false) => ({ path, isExecutable, content: Buffer.from(text) });
const FILES = packFiles([
  file(
    'load.sh',
    '#!/bin/sh\nprintf \'"%s %s"\' "$(cat sql/day.sql)" "$(basename "$SIGNALBOX_FILES")" > "$SIGNALBOX_OUTPUT"\n',
    true,
  ),
  file('sql/day.sql', 'select 1'),
]).toString();

test('files of the dag lie in the working folder of each attempt, with the right to execute', async () => {
  const rig = await startBody();
  const work = (run: string, more: object = {}) =>
    workOf({ kind: 'process', run, ...more }, { files: rig.data.add(FILES) });
  const first = await rig.run(work('./load.sh && echo changed > sql/day.sql && test ! -x sql/day.sql && rm load.sh'));
  expect(first).toMatchObject({ outcome: 'succeeded', output: '"select 1 work"' });
  // What an attempt does to its files is not seen by the next one.
  expect(await rig.run(work('./load.sh'))).toMatchObject({ outcome: 'succeeded', output: '"select 1 work"' });
});

test('in a working folder that the task has chosen nothing is written: $SIGNALBOX_FILES says where they are', async () => {
  const rig = await startBody();
  const cwd = testFolder();
  const run = 'ls > "$SIGNALBOX_FILES/seen"; cat "$SIGNALBOX_FILES/seen"; cd "$SIGNALBOX_FILES" && ./load.sh';
  const report = await rig.run(workOf({ kind: 'process', run, cwd }, { files: rig.data.add(FILES) }));
  expect(report).toMatchObject({ outcome: 'succeeded', output: '"select 1 files"' });
});

test('an archive that is gone or broken fails the task for good, and nothing is written outside the folder', async () => {
  const rig = await startBody();
  const target = `${testFolder()}/x`;
  const forged = `SIGNALBOX-FILES 1\n${JSON.stringify([[`../../../../../../../../..${target}`, 1, 0]])}\nx`;
  const runWith = (files: string) => rig.run(workOf({ kind: 'process', run: 'true' }, { files }));
  expect(await runWith(rig.data.add(forged))).toMatchObject({
    outcome: 'permanent',
    error: expect.stringContaining('path'),
  });
  expect(() => readFileSync(target)).toThrow('ENOENT');
  expect(await runWith('ab'.repeat(32))).toMatchObject({
    outcome: 'permanent',
    error: expect.stringContaining('Deploy the dag again'),
  });
});
