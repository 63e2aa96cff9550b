/** What somebody does in their first hour, through the command line alone, with real processes and real kills. */
import { existsSync } from 'node:fs';
import { chmod, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Begun } from '@signalbox/cli/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from './processes.ts';
import { killAll, Sandbox, users } from './sandbox.ts';

interface Run {
  readonly id: string;
  readonly dag: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly tasks: readonly { readonly name: string; readonly state: string; readonly attempt: number }[];
}
interface Page {
  readonly items: readonly Run[];
}

/** A task that says that it has begun, and ends when it is let go. */
const slow = (folder: string): string => `name: slow
tasks:
  - name: wait
    run: |
      touch ${folder}/begun
      while [ ! -e ${folder}/go ]; do sleep 0.05; done
`;

async function stopped(begun: Begun, signal: NodeJS.Signals): Promise<number | null> {
  process.kill(-begun.pid, signal); // the whole group, as a terminal does
  return (await begun.ended).exitCode;
}

describe.each(users())('as $name', (who) => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make(who);
  });
  afterEach(() => box.remove());

  test('from nothing to a run that succeeds, one that fails, and back again', { timeout: 180_000 }, async () => {
    const beganAt = performance.now();
    const first = await box.start();
    const startMs = Math.round(performance.now() - beganAt);
    process.stdout.write(`    first start, from nothing to running: ${startMs} ms\n`);
    expect(first.said.all).toMatch(/is being set up in .*pg18/);
    expect(first.said.all).toMatch(/\/login\?code=/);
    expect(first.said.all).toContain(box.data);
    expect((await fetch(`${box.url}/readyz`)).status).toBe(200);
    expect((await stat(join(box.data, 'admin.token'))).mode & 0o777).toBe(0o600);

    // One example has been run by the start itself.
    const { items } = await box.json<Page>('runs', 'list', '--dag', 'hello');
    expect(items).toHaveLength(1);
    expect((await box.run('runs', 'watch', items[0]?.id ?? '')).exitCode).toBe(0);

    const good = await box.run('runs', 'trigger', 'hello', '--wait');
    expect([good.exitCode, good.stderr]).toEqual([0, '']);
    expect(good.stdout).toMatch(/\n  shout succeeded attempt 1 after /);
    expect(good.stdout).not.toContain('\u001b');

    const bad = await box.run('runs', 'trigger', 'broken', '--wait');
    expect(bad.exitCode).toBe(1);
    expect(bad.stdout).toMatch(/task stumble failed/);
    expect(bad.stdout).toContain('fails on purpose');
    expect(bad.stdout).toMatch(/  last (?:\d+ )?lines? of its log:\n +│ \S/);
    expect(bad.stdout).toMatch(/signalbox runs retry \S+ --wait/);

    const second = await box.run(
      'start',
      '--http',
      '127.0.0.1:0',
      '--grpc',
      '127.0.0.1:0',
      '--services',
      '127.0.0.1:0',
    );
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toContain(`process ${first.pid}`);
    const busy = await box.run('start', '--data', join(box.folder, 'other'), '--http', new URL(box.url).host);
    expect(busy.exitCode).toBe(1);
    expect(busy.stderr).toMatch(new RegExp(`in use, by process ${first.pid}: .*signalbox`));

    expect(await stopped(first, 'SIGINT')).toBe(0);
    expect(box.processes()).toEqual([]);

    const again = await box.start();
    const after = await box.json<Page>('runs', 'list');
    // Another example has a schedule, and may have had its time by now.
    const ours = after.items.filter(({ dag }) => dag === 'hello' || dag === 'broken');
    expect(ours.map(({ dag, outcome }) => `${dag} ${outcome}`)).toEqual([
      'broken failed',
      'hello succeeded',
      'hello succeeded',
    ]);
    expect((await box.json<Run>('runs', 'trigger', 'hello', '--wait')).outcome).toBe('succeeded');
    expect(await stopped(again, 'SIGHUP')).toBe(0);
    expect(box.processes()).toEqual([]);
  });

  test.each([
    ['everything is', (all: number[]) => all],
    ['only the process that was typed is', (_: number[], typed: number) => [typed]],
  ])('when %s killed in the middle of a run, the next start finishes it', { timeout: 180_000 }, async (_, victims) => {
    await writeFile(join(box.folder, 'dags', 'slow.yaml'), slow(box.folder));
    const first = await box.start();
    const { id } = await box.json<Run>('runs', 'trigger', 'slow');
    await until('the task has begun', 30_000, () => existsSync(join(box.folder, 'begun')));
    killAll(victims(box.processes(), first.pid));
    await first.ended;

    const second = await box.start();
    await writeFile(join(box.folder, 'go'), '');
    const ended = await box.run('runs', 'watch', id, '--timeout', '60s');
    expect([ended.exitCode, ended.stdout]).toEqual([0, expect.stringContaining('wait succeeded')]);
    expect(await stopped(second, 'SIGINT')).toBe(0);
    await until('nothing is left', 40_000, () => box.processes().length === 0);
  });

  test('a folder of dags is watched: saved, broken, mended, removed', { timeout: 120_000 }, async () => {
    const file = join(box.folder, 'dags', 'one.yaml');
    const dag = (text: string) => `name: one\ntasks:\n  - name: a\n    run: echo ${text}\n`;
    const began = await box.start('--no-examples');
    const told = (what: string) => until(`it says: ${what}`, 15_000, () => began.said.all.includes(what));
    await writeFile(file, dag('first'));
    await told('one is new: version 1');
    await writeFile(file, dag('second'));
    await told('one is version 2');
    await writeFile(file, 'name: one\ntasks:\n  - name: a\n    runs: echo\n');
    await told('one.yaml:4');
    expect((await box.json<Run>('runs', 'trigger', 'one', '--wait')).outcome).toBe('succeeded');
    await rm(file);
    await told('one is retired');
    expect((await box.run('runs', 'trigger', 'one')).exitCode).toBe(4);
    expect(await stopped(began, 'SIGTERM')).toBe(0);
    expect(box.processes()).toEqual([]);
  });

  test('a script beside a dag is deployed again when it is saved, or may be executed', {
    timeout: 120_000,
  }, async () => {
    const folder = join(box.folder, 'dags');
    const script = join(folder, 'say.sh');
    await writeFile(script, '#!/bin/sh\nexit 1\n');
    await writeFile(join(folder, 'two.yaml'), 'name: two\ntasks:\n  - name: a\n    run: ./say.sh\n');
    const began = await box.start('--no-examples');
    const told = (what: string) => until(`it says: ${what}`, 15_000, () => began.said.all.includes(what));
    await told('two is new: version 1');
    await chmod(script, 0o755);
    await told('two is version 2');
    await writeFile(script, '#!/bin/sh\necho said\n');
    await told('two is version 3');
    expect((await box.json<Run>('runs', 'trigger', 'two', '--wait')).outcome).toBe('succeeded');
    expect(await stopped(began, 'SIGTERM')).toBe(0);
  });
});
