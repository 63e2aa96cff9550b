/** The thread of `renewer.ts`. If the database is unreachable, it tries again a second later over a new connection. */
import { parentPort, workerData } from 'node:worker_threads';
import { BeatConnection } from '@signalbox/store/beat';
import { makeLogger, tellWith } from '../log.ts';
import { systemClock } from './clock.ts';
import type { RenewalData } from './renewer.ts';

const BEAT_MS = 1_000;
const ANSWER_MS = 2_000;

const { url, preparedStatements, nodeId, logLevel, windowGraceMs, ticks } = workerData as RenewalData;
const tell = tellWith(makeLogger(logLevel, 'renewal'));
const counter = new Int32Array(ticks);
const connection = new BeatConnection({ url, preparedStatements, answerTimeoutMs: ANSWER_MS });
let lastTicks = -1;
let isStopped = false;
let isAway = false;

async function beatOnce(): Promise<void> {
  const seen = Atomics.load(counter, 0);
  if (seen === lastTicks) return tell('warn', 'The main loop stands still: its beat is not raised.');
  try {
    await connection.raise(nodeId, windowGraceMs);
    lastTicks = seen;
    if (isAway) tell('info', 'The beat is raised again.');
    isAway = false;
  } catch (error) {
    if (!isAway) tell('warn', 'The beat could not be raised.', { error: String(error) });
    isAway = true;
  }
}

async function beatAgainAndAgain(): Promise<void> {
  let nextAt: number = systemClock.mono();
  while (!isStopped) {
    await beatOnce();
    nextAt = Math.max(nextAt + BEAT_MS, systemClock.mono());
    await new Promise((resolve) => setTimeout(resolve, nextAt - systemClock.mono()));
  }
}

parentPort?.on('message', () => {
  isStopped = true;
  void connection
    .close()
    .catch(() => undefined)
    .finally(() => process.exit(0));
});

void beatAgainAndAgain();
