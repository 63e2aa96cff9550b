/**
 * The data service of a node for tests: a real gRPC server on loopback that keeps what it receives, and confirms it as
 * stored on demand.
 */
import { Server, ServerCredentials, type sendUnaryData, status } from '@grpc/grpc-js';
import {
  addWorkerData,
  type BundleServerStream,
  CHANNEL_OPTIONS,
  type Claim,
  type LogBatch,
  type LogLine,
  type LogServerStream,
  OUTPUT_CHUNK_BYTES,
  type OutputPart,
  type OutputServerStream,
  parseBundleRequest,
  parseLogBatch,
  parseOutputPart,
  parseOutputRequest,
  type StoreServerStream,
} from '@signalbox/protocol/grpc';
import { hashOf } from './bundles/bundle-folder.ts';

export class ScriptedData {
  readonly #server = new Server({ ...CHANNEL_OPTIONS });
  readonly #bundles = new Map<string, { readonly code: Buffer; readonly sourceMap: Buffer }>();
  readonly #lines = new Map<number, LogLine[]>();
  #woken: (() => void)[] = [];
  readonly streams: LogServerStream[] = [];
  readonly batches: LogBatch[] = [];
  readonly fetches: string[] = [];
  /** Outputs by their ids, which of them were asked for, and those that were stored. */
  readonly outputs = new Map<string, string>();
  readonly outputFetches: string[] = [];
  readonly stored: { readonly reference: string; readonly json: string }[] = [];
  /** Statuses with which the next calls about outputs end. */
  readonly outputFaults: status[] = [];
  address = '';
  /** Off: what comes is kept, and not answered. */
  stores = true;
  /** Off: nothing is taken off the wire. */
  reads = true;
  /** A stream is ended with it as soon as something comes. */
  refusesWith: number | null = null;
  /** Lines that did not follow on the ones before, by attempt. */
  readonly gaps: string[] = [];

  static async start(): Promise<ScriptedData> {
    const data = new ScriptedData();
    addWorkerData(data.#server, {
      pushLogs: (stream) => data.#accept(stream),
      fetchBundle: (stream) => data.#give(stream),
      fetchOutput: (stream) => data.#giveOutput(stream),
      storeOutput: (stream, answer) => data.#takeOutput(stream, answer),
    });
    const port = await new Promise<number>((resolve, reject) => {
      data.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, found) =>
        error === null ? resolve(found) : reject(error),
      );
    });
    data.address = `127.0.0.1:${port}`;
    return data;
  }

  /** Keeps a bundle, and says under which hash. */
  add(code: string, sourceMap = ''): string {
    const hash = hashOf(Buffer.from(code));
    this.#bundles.set(hash, { code: Buffer.from(code), sourceMap: Buffer.from(sourceMap) });
    return hash;
  }

  /** Keeps other bytes under a hash than those that have it. */
  forge(hash: string, code: string): void {
    this.#bundles.set(hash, { code: Buffer.from(code), sourceMap: Buffer.alloc(0) });
  }

  linesOf({ runId }: Pick<Claim, 'runId'>): readonly LogLine[] {
    return this.#lines.get(runId) ?? [];
  }

  /** Texts with the stream before them. */
  textOf(claim: Pick<Claim, 'runId'>): readonly string[] {
    return this.linesOf(claim).map(({ stream, text }) => `${stream}: ${text}`);
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#woken.push(resolve));
  }

  cut(): void {
    for (const stream of this.streams) stream.emit('error', { code: status.UNAVAILABLE, details: 'cut' });
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #accept(stream: LogServerStream): void {
    this.streams.push(stream);
    stream.on('error', () => {});
    stream.on('end', () => stream.end());
    if (!this.reads) return;
    stream.on('data', (input: unknown) => {
      if (this.refusesWith !== null) {
        stream.emit('error', { code: this.refusesWith, details: 'refused' });
        return;
      }
      const batch = parseLogBatch(input);
      this.batches.push(batch);
      for (const piece of batch.pieces) {
        const lines = this.#lines.get(piece.claim.runId) ?? [];
        this.#lines.set(piece.claim.runId, lines);
        if (piece.firstLine > lines.length)
          this.gaps.push(`${piece.claim.runId}: ${piece.firstLine} after ${lines.length}`);
        // What comes twice is kept once.
        lines.push(...piece.lines.slice(Math.max(0, lines.length - piece.firstLine)));
      }
      if (this.stores) stream.write(batch.no);
      for (const wake of this.#woken.splice(0)) wake();
    });
  }

  #giveOutput(stream: OutputServerStream): void {
    const { id } = parseOutputRequest(stream.request);
    this.outputFetches.push(id);
    const output = this.outputs.get(id);
    const error = this.outputFaults.shift() ?? (output === undefined ? status.FAILED_PRECONDITION : null);
    if (error !== null) {
      stream.emit('error', { code: error, details: 'There is no such output.' });
      return;
    }
    const bytes = Buffer.from(output ?? '');
    for (let at = 0; at < bytes.length; at += OUTPUT_CHUNK_BYTES) {
      stream.write(bytes.subarray(at, at + OUTPUT_CHUNK_BYTES));
    }
    stream.end();
  }

  #takeOutput(stream: StoreServerStream, answer: sendUnaryData<string>): void {
    const parts: OutputPart[] = [];
    stream.on('error', () => {});
    stream.on('data', (input: unknown) => parts.push(parseOutputPart(input, parts.length === 0)));
    stream.on('end', () => {
      const error = this.outputFaults.shift();
      if (error !== undefined) return answer({ code: error, details: 'It can not be stored.' });
      const reference = `@${parts[0]?.head?.taskName}-${this.stored.length}`;
      this.stored.push({ reference, json: Buffer.concat(parts.map(({ json }) => json)).toString() });
      answer(null, reference);
    });
  }

  #give(stream: BundleServerStream): void {
    const hash = parseBundleRequest(stream.request);
    this.fetches.push(hash);
    const bundle = this.#bundles.get(hash);
    if (bundle === undefined) {
      stream.emit('error', { code: status.NOT_FOUND, details: 'There is no such bundle.' });
      return;
    }
    const half = Math.ceil(bundle.code.length / 2);
    stream.write({ code: bundle.code.subarray(0, half) });
    stream.write({ code: bundle.code.subarray(half) });
    if (bundle.sourceMap.length > 0) stream.write({ sourceMap: bundle.sourceMap });
    stream.end();
  }
}
