/**
 * Logs of one worker. A batch is read, its tokens are checked, and its lines are written; only then is it acknowledged and
 * the next one read. So a slow disk slows the sender, not this process.
 */
import { type RunId, SHARD_COUNT, type ShardNo, type WorkerId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import { type LogPiece, type LogServerStream, parseLogBatch } from '@signalbox/protocol/grpc';
import type { Logger } from '../log.ts';
import { LINES_END, type LogLines } from '../logs/frame.ts';
import type { LogStore } from '../logs/log-store.ts';
import type { HmacTokens } from '../ports/tokens.ts';
import { type CallGuard, callerIn, workerIn } from './caller.ts';
import { refusalOf } from './refusal.ts';

export interface PushLogsPorts extends CallGuard {
  readonly logs: LogStore;
  readonly tokens: HmacTokens;
  readonly logger: Logger;
}

const SENDERS = { may: ['worker', 'admin'], action: 'send logs' } as const;

export async function pushLogs(stream: LogServerStream, ports: PushLogsPorts): Promise<void> {
  const { logger } = ports;
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  stream.on('error', over);
  stream.on('cancelled', over);
  stream.on('close', over);
  const refuse = (error: unknown) => {
    if (isOver) return;
    over();
    stream.emit('error', refusalOf(error, logger));
  };
  let workerId: WorkerId;
  try {
    workerId = workerIn(stream.metadata, await callerIn(stream.metadata, ports, SENDERS));
  } catch (error) {
    return refuse(error);
  }
  readOneAhead(stream);
  let hasToldRefusal = false;

  const take = async (input: unknown): Promise<void> => {
    const batch = parseLogBatch(input);
    await stillMay(stream, ports);
    const pieces = batch.pieces.filter((piece) => canBe(piece) && isGenuine(piece, workerId, ports.tokens));
    const refused = batch.pieces.length - pieces.length;
    if (refused > 0 && !hasToldRefusal) {
      hasToldRefusal = true;
      logger.warn(
        { refused, peer: stream.getPeer() },
        'Lines of a log came with a token or a number that does not fit.',
      );
    }
    await store(pieces.map(linesOf), ports);
    ports.logs.refusedPieces += refused;
    if (!isOver) stream.write(batch.no);
  };

  // One after the other: the answer to a batch speaks for all before it.
  let taking: Promise<void> = Promise.resolve();
  stream.on('data', (input: unknown) => {
    stream.pause();
    taking = taking
      .then(() => (isOver ? undefined : take(input)))
      .then(() => {
        if (!isOver) stream.resume();
      }, refuse);
  });
  stream.on('end', () => {
    void taking.then(() => {
      if (!isOver) stream.end();
    });
  });
}

async function store(pieces: readonly LogLines[], { logs, logger }: PushLogsPorts): Promise<void> {
  if (pieces.length === 0) return;
  try {
    await logs.append(pieces);
  } catch (error) {
    logger.warn({ error: String(error) }, 'Lines of a log were sent back.');
    throw new SignalboxError('UNAVAILABLE', { reason: 'logs can not be written', retryAfterMs: 1_000 });
  }
}

/** A token that was revoked ends the streams that it opened, too (I66). A database that is away ends none. */
async function stillMay(stream: LogServerStream, ports: PushLogsPorts): Promise<void> {
  try {
    await callerIn(stream.metadata, ports, SENDERS);
  } catch (error) {
    if (error instanceof SignalboxError && !error.retryable) throw error;
  }
}

/** A number that no attempt comes to: the sender is broken, and its other pieces are not. */
function canBe({ claim, firstLine, lines }: LogPiece): boolean {
  return claim.shard < SHARD_COUNT && firstLine + lines.length <= LINES_END;
}

function isGenuine({ claim, token }: LogPiece, workerId: WorkerId, tokens: HmacTokens): boolean {
  const { runId, task, attempt, fence } = claim;
  const ref = { runId: runId as RunId, taskNo: task, attemptNo: attempt, fence } as Parameters<HmacTokens['check']>[1];
  return tokens.check(claim.shard as ShardNo, ref, workerId, token);
}

function linesOf({ claim, firstLine, lines }: LogPiece): LogLines {
  const { runId, task, attempt, fence } = claim;
  return { attempt: { runId, taskNo: task, attemptNo: attempt, fence }, firstLine, lines };
}

/** A stream of objects reads 16 ahead; of batches of a megabyte that is too many for each of a thousand workers. */
function readOneAhead(stream: LogServerStream): void {
  const { _readableState: state } = stream as unknown as { _readableState?: { highWaterMark: number } };
  if (state !== undefined) state.highWaterMark = 1;
}
