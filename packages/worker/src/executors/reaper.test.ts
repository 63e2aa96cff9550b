import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { ScriptedData } from '../scripted-data.ts';
import { commandOf, startBody, startGateway, testFolder, workOf } from '../test-rig.ts';

const WORKER = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

/** All processes that have this in their environment or among their arguments. */
function withText(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const found = readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return found.includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test.skipIf(!existsSync('/proc/self/environ'))(
  'everything that a worker has started ends with it when it is killed, hot loops and what has left its group included',
  async () => {
    const gateway = await startGateway();
    const data = await ScriptedData.start();
    onTestFinished(() => data.stop());
    gateway.welcome = { ...gateway.welcome, dataAddress: data.address };
    const folder = testFolder();
    const options = { gateways: [gateway.address], token: 't', slots: 5, cacheFolder: join(folder, 'cache') };
    const script = `import { startWorker } from ${JSON.stringify(WORKER)}; startWorker(${JSON.stringify(options)});`;
    const worker = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env.PATH, HOME: folder },
      stdio: 'ignore',
    });
    onTestFinished(() => {
      worker.kill('SIGKILL');
    });
    const session = await gateway.session(0);
    const mark = `SIGNALBOX_WORKER_MARK=${session.hello.workerId}`;
    const bundle = data.add(`import { writeFileSync } from 'node:fs';
      export const functions = { hot: () => { writeFileSync('${folder}/function', ''); for (;;); } };`);
    session.say({
      assignments: [
        commandOf(`trap '' TERM; : > ${folder}/process; while :; do :; done`),
        commandOf(`setsid sh -c ': > ${folder}/escaped; while :; do :; done' & wait`),
        workOf({ kind: 'function' }, { handler: 'hot', bundle }),
      ],
    });
    await until(() => ['process', 'escaped', 'function'].every((name) => existsSync(join(folder, name))));
    expect(withText(mark).length).toBeGreaterThanOrEqual(5);
    worker.kill('SIGKILL');
    await until(() => withText(mark).length === 0);
  },
);

test('a worker that leaves in order leaves nothing behind, its reaper and its starter included', async () => {
  const { worker, run } = await startBody();
  expect((await run(commandOf('true'))).outcome).toBe('succeeded');
  expect(withText(worker.id).length).toBe(2);
  await worker.stop();
  await until(() => withText(worker.id).length === 0);
});
