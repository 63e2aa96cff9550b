/** The process that starts programs for a worker: what runs is the same as without it, and its end costs nobody else anything. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Assignment } from '@signalbox/protocol/grpc';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type BodyRig, commandOf, startBody, testFolder } from '../../test-rig.ts';
import type { ChildHome } from '../child-home.ts';
import { MemoryWatch } from '../memory-watch.ts';
import { ReapedCpu } from '../reaped-cpu.ts';
import { Reaper } from '../reaper.ts';
import { OutputGate } from './output-gate.ts';
import { StarterLost, startHere } from './program.ts';
import { Starter } from './starter.ts';

const quiet = { whenRelieved: () => {} };

function homeOf(): ChildHome {
  const reaper = new Reaper(randomBytes(8).toString('hex'));
  onTestFinished(() => reaper.close());
  const environment = { PATH: String(process.env.PATH) };
  return { environment, reaper, relief: quiet, memory: new MemoryWatch(), cpu: new ReapedCpu() };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The pid that a command has written there. */
async function pidIn(path: string): Promise<number> {
  await until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
  return Number(readFileSync(path, 'utf8'));
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const again = (one: Assignment): Assignment => ({ ...one, claim: { ...one.claim, fence: one.claim.fence + 1 } });

const refusalOf = ({ session }: BodyRig, { claim }: Assignment) =>
  session.until(({ refusals }) =>
    refusals.find((one) => one.claim.runId === claim.runId && one.claim.fence === claim.fence),
  );

describe.skipIf(!existsSync('/proc/self/environ'))('with /proc', () => {
  test('programs are children of one small process, which shows them nothing but their own environment', async () => {
    const { run, worker } = await startBody({ environment: { PATH: process.env.PATH, SIGNALBOX_SECRET_KEY: 'hush' } });
    const parents = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { output } = await run(
        commandOf(
          'tr "\\0" " " < /proc/$PPID/environ > env; node -e \'const fs = require("fs"); fs.writeFileSync(process.env.SIGNALBOX_OUTPUT, JSON.stringify([process.ppid, fs.readFileSync("env", "utf8")]))\'',
        ),
      );
      // The shell is the parent of node; its own parent is what has written `env`.
      parents.add((JSON.parse(output) as [number, string])[1]);
    }
    expect(parents.size).toBe(1);
    const [seen = ''] = parents;
    expect(seen).toContain(`SIGNALBOX_WORKER_MARK=${worker.id}`);
    expect(seen).not.toMatch(/SIGNALBOX_ATTEMPT_TOKEN|SIGNALBOX_RUN|hush/);
  });

  test('an attempt that ends its parent alone is lost, and the next one finds another parent', async () => {
    const { run } = await startBody();
    const folder = testFolder();
    const command = `echo $$ > ${folder}/pid; setsid sh -c 'echo $$ > ${folder}/out; exec sleep 600' & while ! [ -s ${folder}/out ]; do sleep 0.02; done; kill -9 $PPID; sleep 600`;
    expect(await run(commandOf(command))).toMatchObject({
      outcome: 'lost',
      code: 'lost:starter',
      error: expect.stringContaining('was ended (SIGKILL) while the attempt ran'),
    });
    for (const name of ['pid', 'out']) expect(isAlive(await pidIn(join(folder, name)))).toBe(false);
    expect((await run(commandOf('true'))).outcome).toBe('succeeded');
  });

  test('where nobody can tell which attempt it was, all go back at no cost, and next time each has a parent of its own', async () => {
    const rig = await startBody();
    const folder = testFolder();
    const innocent = commandOf(`echo $$ > ${folder}/pid; while ! [ -e ${folder}/go ]; do sleep 0.02; done`);
    rig.session.say({ assignments: [innocent] });
    const pid = await pidIn(`${folder}/pid`);
    const culprit = commandOf('kill -9 $PPID; sleep 600');
    rig.session.say({ assignments: [culprit] });
    for (const one of [innocent, culprit]) {
      expect((await refusalOf(rig, one)).reason).toContain('was ended while several ran');
    }
    expect(isAlive(pid)).toBe(false);
    rig.session.say({ assignments: [again(innocent), again(culprit)] });
    expect(await rig.session.reportOf(culprit.claim)).toMatchObject({ outcome: 'lost', code: 'lost:starter' });
    writeFileSync(`${folder}/go`, '');
    expect((await rig.session.reportOf(innocent.claim)).outcome).toBe('succeeded');
  });

  test('a starter that hangs is ended, with what it has started', async () => {
    const home = homeOf();
    const starter = await Starter.open(home, { isPrivate: false, onEnded: () => {}, pingMs: 100 });
    const order = {
      program: 'sh',
      args: ['-c', 'sleep 0.2; kill -STOP $PPID; sleep 600'],
      cwd: '/',
      token: 'a'.repeat(32),
    };
    const program = await starter.start({ ...order, env: home.environment });
    await expect(program.ended).rejects.toThrow(StarterLost);
    expect(isAlive(program.pid)).toBe(false);
  });

  test.each<[string, string, readonly string[], Readonly<Record<string, string>>]>([
    ['no such program', 'no-such-program', [], {}],
    ['a program without the right to run', '/proc/version', [], {}],
    ['arguments that are too long', 'true', ['x'.repeat(5_000_000)], {}],
    ['a NUL in a variable', 'true', [], { A: 'x\0y' }],
  ])('%s is the same error as without it', async (_, program, args, env) => {
    const home = homeOf();
    const starter = await Starter.open(home, { isPrivate: false, onEnded: () => {} });
    const order = { program, args, cwd: '/', env: { ...home.environment, ...env }, token: 'b'.repeat(32) };
    const shown = async (start: Promise<unknown>) => {
      const { name, message, code } = (await start.catch((error: unknown) => error)) as NodeJS.ErrnoException;
      return { name, message, code };
    };
    const expected = await shown(startHere(order, home.cpu));
    expect(expected.message).not.toBe('');
    expect(await shown(starter.start(order))).toEqual(expected);
    await starter.close();
  });

  test('a connection without a token that is expected gets nowhere', async () => {
    const gate = await OutputGate.open();
    onTestFinished(() => gate.close());
    const { stdout } = gate.expect('c'.repeat(32));
    const { connect } = await import('node:net');
    const stranger = connect(gate.path);
    stranger.write(`${'d'.repeat(32)}1of nobody`);
    await new Promise((resolve) => stranger.once('close', resolve));
    const known = connect(gate.path);
    known.end(`${'c'.repeat(32)}1of it`);
    let text = '';
    for await (const chunk of await stdout) text += String(chunk);
    expect(text).toBe('of it');
  });
});

test('where there can be no socket the worker starts programs itself', async () => {
  const folder = testFolder();
  const long = join(folder, 'x'.repeat(120));
  const script = `
    const { startHere } = await import(${JSON.stringify(new URL('../../../dist/executors/process/program.js', import.meta.url))});
    const { Programs } = await import(${JSON.stringify(new URL('../../../dist/executors/process/programs.js', import.meta.url))});
    const { ReapedCpu } = await import(${JSON.stringify(new URL('../../../dist/executors/reaped-cpu.js', import.meta.url))});
    const warned = [];
    const programs = new Programs({ cpu: new ReapedCpu() }, { warn: (message, { error }) => warned.push(message + error) });
    const env = { PATH: process.env.PATH };
    for (const _ of [1, 2]) {
      const program = await programs.start({ program: 'true', args: [], cwd: '/', env, token: '' }, false);
      console.log(JSON.stringify({ ...(await program.ended), cpuMicros: 0 }));
    }
    console.log(JSON.stringify(warned));`;
  const { mkdirSync } = await import('node:fs');
  mkdirSync(long);
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env.PATH, TMPDIR: long },
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  await new Promise((resolve) => child.once('close', resolve));
  const [first, second, warned] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([first, second]).toEqual(Array(2).fill({ code: 0, signal: null, cpuMicros: 0 }));
  if (process.platform === 'linux') expect(warned[0]).toContain('is too long for a socket');
  expect(readdirSync(long)).toEqual([]);
});
