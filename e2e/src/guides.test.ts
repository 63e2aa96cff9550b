/**
 * Every example of the guides is run or compiled, against one real server: commands are typed in order, files are checked and
 * deployed, TypeScript is checked by its compiler. A new block that fits nowhere fails the test, and so does one more that is
 * marked as not run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspectFolder } from '@signalbox/postgres';
import { createClient } from '@signalbox/sdk';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { type Block, commandsOf, readBlocks } from './guide-blocks.ts';
import { PROGRAM, Sandbox } from './sandbox.ts';

const CLONE = fileURLToPath(new URL('../..', import.meta.url));
const ENDLESS_S = 5;

/** How many blocks of each guide cannot be run here. One more is a decision: change the number with the block. */
const NOT_RUN = {
  'access.md': 1,
  'autoscaling.md': 2,
  'limits.md': 1,
  'placement.md': 2,
  'production.md': 6,
  'schedules.md': 1,
  'several-servers.md': 2,
  'triggers.md': 2,
};

const blocks = await readBlocks();
const ran = new Set<Block>();
const using = (chosen: readonly Block[]): readonly Block[] => {
  for (const block of chosen) ran.add(block);
  return chosen;
};
const live = blocks.filter(({ notRun }) => notRun === null);
const isTaskScript = ({ text }: Block): boolean => text.includes('SIGNALBOX_HELPERS');

let box: Sandbox;
let token: string;
beforeAll(async () => {
  box = await Sandbox.make({ name: 'whoever runs this', ids: null });
  await box.start();
  token = (await readFile(join(box.data, 'admin.token'), 'utf8')).trim();
  await mkdir(join(box.folder, 'bin'));
  // As in a project that has it installed; npx itself would take a second for each command.
  await writeFile(join(box.folder, 'bin', 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  await chmod(join(box.folder, 'bin', 'npx'), 0o755);
}, 120_000);
afterAll(() => box.remove());

const client = () => createClient({ url: box.url, token });

/** Files of a guide, in a folder of their own. Returns the folder. */
async function writeFiles(guide: string): Promise<string> {
  const folder = join(box.folder, guide.replace('.md', ''), 'dags');
  await mkdir(folder, { recursive: true });
  for (const { file, text } of live.filter((block) => block.guide === guide && block.file !== null)) {
    await mkdir(dirname(join(folder, file ?? '')), { recursive: true });
    await writeFile(join(folder, file ?? ''), text);
  }
  return folder;
}

/** What stands for something of the reader's own: a run, a letter, the address of the server. */
async function filledIn(text: string): Promise<string> {
  const { items: runs } = await client().listRuns({ dag: 'broken', limit: 1 });
  const { items: letters } = await client().listDeadLetters({ limit: 1 });
  const backfill = text.includes('<backfill>') ? await startBackfill() : '';
  return text
    .replaceAll('http://127.0.0.1:4500', box.url)
    .replaceAll('<run>', runs[0]?.id ?? 'no-run')
    .replaceAll('$RUN', runs[0]?.id ?? 'no-run')
    .replaceAll('<task>', 'stumble')
    .replaceAll('<backfill>', backfill)
    .replaceAll('0198c0de-0000-7000-8000-000000000007.0.3', letters[0]?.id ?? 'no-letter')
    .replaceAll('a84a4374d9c0', letters[0]?.fingerprint ?? 'no-fingerprint')
    .replaceAll('old-import', 'broken');
}

/** One whose runs wait for a worker that never comes: it can be paused, resumed and cancelled. */
async function startBackfill(): Promise<string> {
  const tasks = [{ name: 'a', run: 'true', queue: 'nobody' }];
  await client().deployDag({ name: 'filled', tasks, schedule: { cron: '0 0 * * *' } });
  return (await client().startBackfill('filled', { from: '2026-03-01T00:00:00Z', maxActive: 1 })).id;
}

interface Typed {
  readonly command: string;
  readonly exitCode: number;
  readonly expected: readonly number[];
}

/** Types the commands into one shell, and says how each ended. */
async function typed(texts: readonly string[], cwd: string): Promise<{ results: Typed[]; said: string }> {
  const commands = texts.flatMap(commandsOf).filter(({ text }) => !/\bsignalbox start$/.test(text));
  const lines = commands.map(({ text, isEndless }, no) => {
    const command = isEndless ? text.replace(/^(?=npx|curl|signalbox)/, `timeout -s INT ${ENDLESS_S} `) : text;
    return `${command}\necho "@@${no} $?"`;
  });
  const shell = spawn('bash', ['-c', lines.join('\n')], {
    cwd,
    env: {
      PATH: `${join(box.folder, 'bin')}:${process.env.PATH}`,
      HOME: box.folder,
      SIGNALBOX_DATA: box.data,
      SIGNALBOX_URL: box.url,
      // Another server may hold the usual ports of this machine, which doctor looks at.
      SIGNALBOX_HTTP: '127.0.0.1:0',
      SIGNALBOX_GRPC: '127.0.0.1:0',
      SIGNALBOX_SERVICES: '127.0.0.1:0',
      TOKEN: token,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // A command that does not end must not go on beside the tests after this one.
  onTestFinished(() => {
    if (shell.exitCode === null && shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
  });
  let said = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(shell, 'close');
  const codes = new Map(Array.from(said.matchAll(/@@(\d+) (\d+)/g), ([, no, code]) => [Number(no), Number(code)]));
  const results = commands.map(({ text, exitCode, isEndless }, no) => ({
    command: text,
    exitCode: codes.get(no) ?? -1,
    expected: isEndless ? [0, 124, 130] : [exitCode],
  }));
  return { results, said };
}

/** Commands need dead letters and runs to speak of. */
async function breakSomething(): Promise<void> {
  // It fails for one guide after the other: its breaker would hold the next run for a minute, then for two.
  for (const { fingerprint } of (await client().listBreakers({ dag: 'broken' })).items) {
    await client().resetBreaker({ dag: 'broken', fingerprint });
  }
  const { id } = await client().submit('broken');
  await client().waitForRun(id);
}

const toType = live.filter((block) => block.language === 'sh' && block.file === null && !isTaskScript(block));

test.each([...new Set(toType.map(({ guide }) => guide))])(
  'the commands of %s do what they say',
  { timeout: 240_000 },
  async (guide) => {
    await breakSomething();
    const folder = await writeFiles(guide);
    const texts: string[] = [];
    for (const { text } of using(toType.filter((block) => block.guide === guide))) texts.push(await filledIn(text));
    const { results, said } = await typed(texts, dirname(folder));
    const wrong = results.filter(({ exitCode, expected }) => !expected.includes(exitCode));
    expect(wrong, said).toEqual([]);
    expect(said).not.toMatch(/"code":"[A-Z_]+"/); // curl ends with 0 for a refusal as well
    for (const { name, revokedAt } of (await client().listTokens()).items) {
      if (name !== 'admin' && revokedAt === null) await client().revokeToken(name);
    }
  },
);

const YAML_PARTS = live.filter(({ language, file }) => language === 'yaml' && file === null);

test('every file and every part of one is a dag that the server takes', { timeout: 240_000 }, async () => {
  const guides = [...new Set(live.filter(({ file }) => file !== null).map(({ guide }) => guide))];
  const folders = await Promise.all(guides.map(writeFiles));
  using(live.filter(({ file }) => file !== null));
  const parts = join(box.folder, 'parts');
  await mkdir(parts);
  for (const [no, { text }] of using(YAML_PARTS).entries()) {
    const { name, tasks } = (parse(text) ?? {}) as { name?: string; tasks?: unknown };
    const missing = [
      ...(name === undefined ? [`name: part-${no}`] : []),
      ...(tasks === undefined ? ['tasks: [{ name: a, run: "true" }]'] : []),
    ];
    await writeFile(join(parts, `part-${no}.yaml`), `${text}${missing.join('\n')}\n`);
  }
  for (const folder of [...folders, parts]) {
    const { exitCode, stdout, stderr } = await box.run('deploy', folder, '--yes');
    expect([exitCode, stdout, stderr].join('\n')).toMatch(/^0\n/);
  }
});

/** What a part of a TypeScript file stands in. The key is how the part begins. */
const AROUND: Readonly<Record<string, (text: string) => string>> = {
  "task('brew', { inputs: { grams: grind.output.grammes }": (text) =>
    inDag(
      `const grind = task('grind', () => ({ grams: 16 }));\n${text.replace(/^(?=task)/gm, '// @ts-expect-error\n')}`,
    ).replace("'@signalbox/sdk';", "'@signalbox/sdk';\nimport type { HandlerContext } from '@signalbox/sdk';"),
  "task('charge', { secrets: ['BANK'] }": (text) => inDag(`const url = 'https://bank.example';\n${text}`),
  "import { nextWindows, runTask, takes, testRun } from '@signalbox/sdk/testing';": (text) =>
    `import { expect, test } from 'vitest';\n${text}`,
};
const inDag = (text: string): string =>
  `import { dag } from '@signalbox/sdk';\nexport default dag('part', ({ task }) => {\n${text}\n});\n`;

const TS = live.filter(({ language }) => language === 'ts');

test('TypeScript passes its compiler, and what is shown as an error is one', { timeout: 240_000 }, async () => {
  // In a folder of the clone, as a project that has the packages installed.
  const root = await mkdtemp(join(CLONE, 'node_modules', '.guides-'));
  try {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'es2023',
      module: 'nodenext',
      allowImportingTsExtensions: true,
      types: ['node'],
    };
    await writeFile(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
    await writeFile(join(root, 'package.json'), '{ "type": "module" }');
    for (const [no, { guide, file, text }] of using(TS).entries()) {
      const folder = join(root, guide.replace('.md', ''));
      await mkdir(folder, { recursive: true });
      const around = Object.entries(AROUND).find(([begin]) => text.startsWith(begin))?.[1];
      await writeFile(join(folder, file ?? `part-${no}.ts`), around?.(text) ?? text);
    }
    const tsc = join(CLONE, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', root], { encoding: 'utf8' });
    expect(stdout).toBe('');
  } finally {
    await rm(root, { recursive: true });
  }
});

test('scripts of tasks run as tasks', { timeout: 120_000 }, async () => {
  const scripts = using(live.filter((block) => isTaskScript(block) && ['sh', 'python'].includes(block.language)));
  expect(scripts.map(({ language }) => language).sort()).toEqual(['python', 'sh']);
  for (const { language, text } of scripts) {
    const page = 'printf "#!/bin/sh\\n" > import-page && chmod +x import-page\n';
    const run = language === 'python' ? ['python3', '-c', text] : `${page}${text}`;
    await client().deployDag({
      name: `script-${language}`,
      templates: [{ name: 'load', run: 'true' }],
      tasks: [{ name: 'import', adds: true, run }],
    });
    const { id } = await client().submit(`script-${language}`);
    const ended = await client().waitForRun(id, { timeoutMs: 60_000 });
    expect([ended.outcome, ended.tasks[0]?.error, ended.tasks.map(({ name }) => name)]).toEqual([
      'succeeded',
      null,
      ['import', 'load-a'],
    ]);
  }
});

test('the check of a signature lets the right one through, and no other', () => {
  const [block] = using(live.filter(({ language }) => language === 'js'));
  const names = ['request', 'response', 'secret', 'body', 'createHmac', 'timingSafeEqual'];
  // oxlint-disable-next-line typescript/no-implied-eval -- it is the example of the guide that is tried
  const check = new Function(...names, block?.text ?? 'throw new Error("no block")') as (
    ...given: unknown[]
  ) => unknown;
  const answerTo = (secret: string, age: number): unknown => {
    const at = Math.floor(Date.now() / 1000) - age;
    const digest = createHmac('sha256', 'right').update(`${at}.{}`).digest('hex');
    const request = { headers: { 'signalbox-signature': `t=${at},v1=${digest}` } };
    const response = { writeHead: (status: number) => ({ end: () => status }) };
    return check(request, response, secret, '{}', createHmac, timingSafeEqual);
  };
  expect([answerTo('right', 0), answerTo('wrong', 0), answerTo('right', 1000)]).toEqual([undefined, 401, 401]);
});

test('SQL is SQL', async () => {
  const seen = await inspectFolder(join(box.data, 'pg18'));
  if (seen.state !== 'running') throw new Error('The database does not run.');
  const database = new pg.Client({ connectionString: seen.url });
  await database.connect();
  try {
    for (const { text } of using(live.filter(({ language, file }) => language === 'sql' && file === null))) {
      await database.query('begin');
      await database.query(text);
      await database.query('rollback');
    }
  } finally {
    await database.end();
  }
});

test('no block is left out, and those that cannot be run are counted and say why', () => {
  expect(blocks.filter((block) => block.notRun === null && !ran.has(block)).map(({ at }) => at)).toEqual([]);
  const counts: Record<string, number> = {};
  for (const { guide, notRun } of blocks) if (notRun !== null) counts[guide] = (counts[guide] ?? 0) + 1;
  expect(counts).toEqual(NOT_RUN);
  expect(blocks.filter(({ notRun }) => notRun !== null && notRun.length < 10).map(({ at }) => at)).toEqual([]);
});
