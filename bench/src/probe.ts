/** Asks `/healthz` every few milliseconds, in a process of its own, until it is told to stop; then says how long each answer took. */
import { Agent, get } from 'node:http';

const EVERY_MS = 5;
const agent = new Agent({ keepAlive: true });
const port = Number(process.argv[2]);
const times: number[] = [];
let isStopped = false;

function ask(): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    get({ agent, host: '127.0.0.1', port, path: '/healthz' }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(performance.now() - began));
    }).on('error', reject);
  });
}

process.on('message', () => {
  isStopped = true;
});
await ask();
process.send?.('ready');
while (!isStopped) {
  times.push(await ask());
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
process.send?.(times, () => process.exit(0));
