/** Sends lines of real attempts like a worker: with the token of the claim, over the services port. */
import { Client, credentials } from '@grpc/grpc-js';
import type { TenantId } from '@signalbox/engine';
import { type LogLine, openLogStream, parseLogStored } from '@signalbox/protocol/grpc';
import { openQueries, type Queries } from '@signalbox/store';
import { HmacTokens } from '../ports/tokens.ts';
import { bearer, TEST_WORKER, testWorkerId } from './raw-worker.ts';
import type { Rig } from './rig.ts';

export class LogSender {
  readonly #rig: Rig;
  readonly #queries: Queries;
  readonly #tokens: HmacTokens;

  private constructor(rig: Rig, queries: Queries, tokens: HmacTokens) {
    this.#rig = rig;
    this.#queries = queries;
    this.#tokens = tokens;
  }

  static async open(rig: Rig): Promise<LogSender> {
    const queries = await openQueries({ url: rig.databaseUrl });
    return new LogSender(rig, queries, new HmacTokens(await queries.cluster()));
  }

  /** Lines of the newest attempt of a task, from one number on; resolves when they are stored. */
  async send(
    { run, task = 0 }: { run: string; task?: number },
    firstLine: number,
    texts: readonly (string | Partial<LogLine>)[],
    to = this.#rig.servers[0]?.servicesAddress ?? '',
  ): Promise<void> {
    const found = await this.#queries.getRun(1 as TenantId, run);
    const row = found?.tasks.find(({ taskNo }) => taskNo === task);
    if (found === null || row === undefined) throw new Error('nothing was claimed');
    const { runId, shard } = found;
    const { taskNo, attemptNo, fence } = row;
    const ref = { runId, taskNo, attemptNo, fence };
    const token = Buffer.from(this.#tokens.mint(shard, ref, testWorkerId(this.#rig.token)));
    const lines = texts.map((text): LogLine => {
      const usual = { at: Date.now(), stream: 'stdout', text: '' } as const;
      return typeof text === 'string' ? { ...usual, text } : { ...usual, ...text };
    });
    const claim = { shard, runId, task: taskNo, attempt: attemptNo, fence };
    const client = new Client(to, credentials.createInsecure());
    try {
      const stream = openLogStream(client, bearer(this.#rig.token, TEST_WORKER));
      await new Promise<void>((resolve, reject) => {
        stream.on('data', (input: unknown) => {
          if (parseLogStored(input) === 1) resolve();
        });
        stream.on('error', reject);
        stream.write({ no: 1, pieces: [{ claim, token, firstLine, lines }] });
      });
      stream.end();
    } finally {
      client.close();
    }
  }

  close(): Promise<void> {
    return this.#queries.close();
  }
}
