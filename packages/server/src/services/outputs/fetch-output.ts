/**
 * Outputs of earlier tasks, as JSON. What a task may see was sealed for its claim when that was decided; it gets exactly
 * that (I36). The outputs of a mapped task are one list, read and sent page by page.
 */
import { type RunId, type TenantId } from '@signalbox/engine';
import { numbersOf, unpackOutputs } from '@signalbox/host';
import { SignalboxError } from '@signalbox/protocol';
import { OUTPUT_CHUNK_BYTES, type OutputServerStream, parseOutputRequest } from '@signalbox/protocol/grpc';
import { type Queries, readLargeOutput } from '@signalbox/store';
import type { HmacTokens } from '../../ports/tokens.ts';
import { fromDatabase } from '../../rest/errors.ts';
import { type CallGuard, callerIn, workerIn } from '../caller.ts';
import { refusalOf } from '../refusal.ts';
import { proveClaim, tenantOfClaim } from './claim-of.ts';
import type { Room } from './room.ts';

export interface OutputPorts extends CallGuard {
  readonly queries: Pick<Queries, 'readOutputs' | 'storeLargeOutput' | 'getRunSpec' | 'tenantOfRun'>;
  readonly tokens: HmacTokens;
  readonly room: Room;
}

const TAKERS = { may: ['worker', 'admin'], action: 'fetch outputs' } as const;
/** A worker that takes nothing for so long has its place taken by others. */
const TAKE_MS = 20_000;
const PAGE_COUNT = 500;
const PAGE_BYTES = 2 * 1024 * 1024;

export async function fetchOutput(stream: OutputServerStream, ports: OutputPorts): Promise<void> {
  stream.on('error', () => undefined);
  try {
    const caller = await callerIn(stream.metadata, ports, TAKERS);
    const { claim: said, token, id } = parseOutputRequest(stream.request);
    const { shard, claim } = proveClaim(said, token, workerIn(stream.metadata, caller), ports.tokens);
    const sealed = ports.tokens.open(shard, claim, id);
    if (sealed === null) throw new SignalboxError('STALE_TOKEN', { taskId: `${claim.runId}/${claim.taskNo}` });
    const outputs = unpackOutputs(sealed);
    const tenantId = await tenantOfClaim(caller, claim, ports);
    await ports.room.within(async () => {
      const reader = new Reader(tenantId, claim.runId, ports);
      const out = new Chunks(stream);
      if (outputs.of === 'task') await out.write((await reader.one(outputs.no)) ?? 'null');
      else await writeList(numbersOf(outputs), reader, out);
      await out.end();
    });
    stream.end();
  } catch (error) {
    if (!stream.cancelled) stream.emit('error', refusalOf(error, ports.logger));
  }
}

async function writeList(numbers: Iterable<number | null>, reader: Reader, out: Chunks): Promise<void> {
  let separator = '[';
  const write = async (page: readonly (number | null)[]) => {
    for await (const text of reader.many(page)) {
      await out.write(`${separator}${text ?? 'null'}`);
      separator = ',';
    }
  };
  let page: (number | null)[] = [];
  for (const no of numbers) {
    page.push(no);
    if (page.length < PAGE_COUNT) continue;
    await write(page);
    page = [];
  }
  await write(page);
  await out.write(separator === '[' ? '[]' : ']');
}

class Reader {
  readonly #tenantId: TenantId;
  readonly #runId: RunId;
  readonly #ports: OutputPorts;

  constructor(tenantId: TenantId, runId: RunId, ports: OutputPorts) {
    this.#tenantId = tenantId;
    this.#runId = runId;
    this.#ports = ports;
  }

  async one(no: number): Promise<string | null> {
    const [text = null] = await this.#read([no]);
    return text === null ? null : this.#whole(text);
  }

  /** In order; null for those that have none, or that are not to be seen. */
  async *many(page: readonly (number | null)[]): AsyncGenerator<string | null> {
    const wanted = page.filter((no) => no !== null);
    let texts: (string | null)[] = [];
    let read = 0;
    for (const no of page) {
      if (no === null) {
        yield null;
        continue;
      }
      if (texts.length === 0) texts = (await this.#read(wanted.slice(read))).reverse();
      read += 1;
      const text = texts.pop() ?? null;
      yield text === null ? null : await this.#whole(text);
    }
  }

  async #whole(text: string): Promise<string> {
    const large = readLargeOutput(text);
    if (large === null) return text;
    const [whole = null] = await this.#read([large.row]);
    if (whole === null) throw new SignalboxError('UNAVAILABLE', { reason: 'an output is not there' });
    return whole;
  }

  /** At least one of them, and no more than are held in memory at a time. */
  async #read(nos: readonly number[]): Promise<(string | null)[]> {
    const { queries, logger } = this.#ports;
    const asked = { runId: this.#runId, nos, bytesLimit: PAGE_BYTES };
    const texts = await fromDatabase(
      () => queries.readOutputs(this.#tenantId, asked),
      logger as Parameters<typeof fromDatabase>[1],
    );
    // The run is gone, or is another tenant's: to this one both are the same (I65).
    if (texts.length === 0) throw new SignalboxError('STALE_TOKEN', { taskId: String(this.#runId) });
    return texts;
  }
}

/** Texts in chunks of bytes, as fast as the worker takes them. */
class Chunks {
  readonly #stream: OutputServerStream;
  #texts: string[] = [];
  #chars = 0;

  constructor(stream: OutputServerStream) {
    this.#stream = stream;
  }

  async write(text: string): Promise<void> {
    this.#texts.push(text);
    this.#chars += text.length;
    if (this.#chars >= OUTPUT_CHUNK_BYTES) await this.end();
  }

  async end(): Promise<void> {
    const bytes = Buffer.from(this.#texts.join(''));
    this.#texts = [];
    this.#chars = 0;
    for (let at = 0; at < bytes.length; at += OUTPUT_CHUNK_BYTES) {
      await this.#send(bytes.subarray(at, at + OUTPUT_CHUNK_BYTES));
    }
  }

  async #send(chunk: Buffer): Promise<void> {
    const stream = this.#stream;
    if (stream.cancelled || stream.destroyed) {
      throw new SignalboxError('UNAVAILABLE', { reason: 'the caller has gone' });
    }
    if (stream.write(chunk)) return;
    await new Promise<void>((resolve, reject) => {
      const late = () => reject(new SignalboxError('UNAVAILABLE', { reason: 'the caller takes nothing' }));
      const timer = setTimeout(late, TAKE_MS);
      const done = () => {
        clearTimeout(timer);
        for (const event of ['drain', 'close', 'cancelled']) stream.off(event, done);
        resolve();
      };
      for (const event of ['drain', 'close', 'cancelled']) stream.on(event, done);
    });
  }
}
