import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluatedInputs } from './shell-evaluation.ts';
import { REFERENCE_VARIABLE, readShellLine } from './shell-references.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-shell-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const X = '${{ params.x }}';

test.each([
  `echo $(( ${X} ))`,
  `echo "$((1 + ${X}))"`,
  `(( ${X} > 1 )) && echo yes`,
  `if [[ ${X} -eq 1 ]]; then echo one; fi`,
  `a=(1 2); echo "\${a[${X}]}"`,
  `a[${X}]=1`,
  `s=abc; echo "\${s:${X}}"`,
  `let y=${X}`,
  `let "y = ${X}"`,
  `declare -i n=${X}`,
  `test -v ${X}`,
  `[ -v ${X} ]`,
  `eval ${X}`,
  `echo hi; eval "echo ${X}"`,
  `bash -c "echo ${X}"`,
  `unset ${X}`,
  `printf -v ${X} 1`,
  `echo $[ ${X} ]`,
])('a reference that the shell would evaluate is refused: %s', (text) => {
  expect(readShellLine(text)).toMatchObject({ ok: false, message: expect.stringContaining('evaluates') });
});

/** Each of these would run the command if the shell evaluated the value. */
const HOSTILE = (file: string) => [
  `a[$(touch ${file})]`,
  `$(touch ${file})`,
  `\`touch ${file}\``,
  `"; touch ${file}; "`,
  `x];touch ${file};[`,
];

test.each([
  `echo ${X}`,
  `echo "value ${X} end"`,
  `y=${X}; echo "$y"`,
  `[ ${X} = 1 ] && echo one || true`,
  `[ "${X}" -eq 1 ] 2>/dev/null || true`,
  `case ${X} in *[!0-9]*) echo no;; *) echo $((1 + 1));; esac`,
  `echo $((2 * 3)) ${X}`,
  `if [[ -n "$HOME" ]]; then echo ${X}; fi`,
  `if [[ ${X} == prod ]]; then echo yes; fi`,
  `printf '%s\\n' ${X}`,
  `echo "\${HOME}" ${X}`,
])('a reference elsewhere is a value to bash and to dash, whatever it holds: %s', (text) => {
  const read = readShellLine(text);
  if (!read.ok) throw new Error(read.message);
  for (const shell of ['bash', 'dash']) {
    // `[[` is of bash alone.
    if (shell === 'dash' && text.includes('[[')) continue;
    const mark = join(folder, 'mark');
    for (const value of HOSTILE(mark)) {
      execFileSync(shell, ['-c', read.line], {
        env: { PATH: process.env.PATH, [`${REFERENCE_VARIABLE}0`]: value },
        stdio: 'ignore',
      });
      expect([shell, value, existsSync(mark)]).toEqual([shell, value, false]);
    }
  }
});

test.each([
  ['echo $((16 * INPUT_cups))', ['cups']],
  ['echo "$((16 * $INPUT_cups + ${INPUT_more}))"', ['cups', 'more']],
  ['[[ $INPUT_n -gt 3 ]] && echo many', ['n']],
  ['let y=INPUT_y', ['y']],
  ['echo "$INPUT_a ${INPUT_b}"; wc -l < "$INPUT_file"', []],
  ['[[ "$INPUT_env" == prod ]] && deploy "$INPUT_env"', []],
  ['bash -c \'echo "$INPUT_a"\'', []],
])('inputs that %s evaluates: %j', (line, names) => {
  expect(evaluatedInputs(line)).toEqual(names);
});

test('the refused places are those where bash does run what is in a value', () => {
  const mark = join(folder, 'ran');
  const env = { PATH: process.env.PATH, V: `a[$(touch ${mark})]` };
  for (const line of ['echo $(( V ))', '[[ V -eq 1 ]]', 'test -v "$V"', 'let "y=V"', 'a=(1); echo "${a[V]}"']) {
    rmSync(mark, { force: true });
    try {
      execFileSync('bash', ['-c', line], { env, stdio: 'ignore' });
    } catch {
      // The command ends as it likes.
    }
    expect([line, existsSync(mark)]).toEqual([line, true]);
  }
});
