import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { candidatesFor } from './candidates.ts';

const dags = async () => ['hello', 'broken'];
const words = async (...typed: string[]) => (await candidatesFor(typed, dags)).words.map(([word]) => word);

test.each([
  [['st'], ['start']],
  [
    ['runs', ''],
    ['trigger', 'watch', 'list', 'show', 'cancel', 'set-priority', 'retry', 'clear', 'rerun', 'pause', 'resume'],
  ],
  [
    ['runs', 'trigger', ''],
    ['hello', 'broken'],
  ],
  [['runs', 'trigger', 'he'], ['hello']],
  [['runs', 'trigger', 'hello', ''], []],
  [['runs', 'trigger', '--wait', 'b'], ['broken']],
  [['runs', 'trigger', 'hello', '--pri'], ['--priority']],
  [
    ['runs', 'trigger', 'hello', '--priority', ''],
    ['critical', 'high', 'normal', 'low'],
  ],
  [['runs', 'list', '--outcome', 'f'], ['failed']],
  [['events', '--k'], ['--kind']],
  [['events', 's'], ['send']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['nonsense', ''], []],
])('%j can go on with %j', async (typed, expected) => {
  expect(await words(...typed)).toEqual(expected);
});

test('where a path is wanted, the shell is asked for it', async () => {
  expect(await candidatesFor(['deploy', ''], dags)).toMatchObject({ paths: 'file' });
  expect(await candidatesFor(['start', '--data', ''], dags)).toMatchObject({ paths: 'folder' });
});

test('the server is asked that the line names', async () => {
  let asked: string | undefined;
  await candidatesFor(['runs', 'trigger', '--url', 'http://box', ''], async (flags) => {
    asked = flags.get('--url');
    return [];
  });
  expect(asked).toBe('http://box');
});

test('bash completes with the script that is printed', () => {
  const program = fileURLToPath(new URL('../../bin/signalbox.js', import.meta.url));
  const script = execFileSync(process.execPath, [program, 'completion', 'bash'], { encoding: 'utf8' });
  const ask = `COMP_WORDS=(signalbox runs t); COMP_CWORD=2; _signalbox; printf '%s ' "\${COMPREPLY[@]}"`;
  expect(execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })).toBe('trigger ');
});

test.each(['bash', 'zsh', 'fish'])('the script for %s asks this program', (shell) => {
  const program = fileURLToPath(new URL('../../bin/signalbox.js', import.meta.url));
  expect(execFileSync(process.execPath, [program, 'completion', shell], { encoding: 'utf8' })).toContain(program);
});
