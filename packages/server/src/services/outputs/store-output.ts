/**
 * An output that is too large for a report. It is stored in a row that nothing refers to yet; the answer is a reference that
 * is valid in a report of this very attempt (I36). The values that conditions and maps need are extracted here, not in the
 * scheduling loop.
 */
import type { sendUnaryData } from '@grpc/grpc-js';
import { type DagSpec, type ReadFacts, readTaskFacts, type WorkerId } from '@signalbox/engine';
import { sealOutput } from '@signalbox/host';
import { InexactJson, MAX_OUTPUT_BYTES, parseExactJson, SignalboxError } from '@signalbox/protocol';
import { type OutputHead, parseOutputPart, type StoreServerStream } from '@signalbox/protocol/grpc';
import { largeOutputText } from '@signalbox/store';
import { fromDatabase } from '../../rest/errors.ts';
import { callerIn, workerIn } from '../caller.ts';
import { refusalOf } from '../refusal.ts';
import { proveClaim, tenantOfClaim } from './claim-of.ts';
import type { OutputPorts } from './fetch-output.ts';

const SENDERS = { may: ['worker', 'admin'], action: 'store outputs' } as const;
const READ_MS = 60_000;

export async function storeOutput(
  stream: StoreServerStream,
  answer: sendUnaryData<string>,
  ports: OutputPorts,
): Promise<void> {
  stream.on('error', () => undefined);
  try {
    const caller = await callerIn(stream.metadata, ports, SENDERS);
    const workerId = workerIn(stream.metadata, caller);
    const reference = await ports.room.within(async () => {
      const { head, json } = await readParts(stream, workerId, ports);
      const { claim } = proveClaim(head.claim, head.token, workerId, ports.tokens);
      const log = ports.logger as Parameters<typeof fromDatabase>[1];
      const tenantId = await tenantOfClaim(caller, claim, ports);
      const spec = await fromDatabase(() => ports.queries.getRunSpec(tenantId, claim.runId), log);
      // To another tenant it is as if it were not there (I65).
      if (spec === null) throw new SignalboxError('STALE_TOKEN', { taskId: `${claim.runId}/${claim.taskNo}` });
      const facts = factsOf(spec, head.taskName, json);
      const stored = await fromDatabase(
        () => ports.queries.storeLargeOutput(tenantId, { runId: claim.runId, json }),
        log,
      );
      if (stored === null) throw bad('json', 'does not fit: the large outputs of this run have reached their limit');
      return sealOutput(claim, { text: largeOutputText(stored), facts }, ports.tokens);
    });
    answer(null, reference);
  } catch (error) {
    if (!stream.cancelled) answer(refusalOf(error, ports.logger));
  }
}

interface Parts {
  readonly head: OutputHead;
  readonly json: string;
}

/** The claim is looked at before anything that comes after it is kept (I68). */
function readParts(stream: StoreServerStream, workerId: WorkerId, { tokens }: OutputPorts): Promise<Parts> {
  return new Promise((resolve, reject) => {
    let head: OutputHead | null = null;
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(
      () => fail(new SignalboxError('UNAVAILABLE', { reason: 'the output did not come' })),
      READ_MS,
    );
    const fail = (error: unknown) => {
      clearTimeout(timer);
      stream.pause();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    stream.on('data', (input: unknown) => {
      try {
        const part = parseOutputPart(input, head === null);
        if (part.head !== null) {
          proveClaim(part.head.claim, part.head.token, workerId, tokens);
          head = part.head;
        }
        size += part.json.length;
        if (size > MAX_OUTPUT_BYTES) throw bad('json', `has more than ${MAX_OUTPUT_BYTES} bytes`);
        chunks.push(part.json);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('cancelled', () => fail(new SignalboxError('UNAVAILABLE', { reason: 'the caller has gone' })));
    stream.on('error', fail);
    stream.on('end', () => {
      clearTimeout(timer);
      if (head === null) return reject(bad('part', 'is missing'));
      resolve({ head, json: Buffer.concat(chunks).toString() });
    });
  });
}

/** Throws for what is no JSON. */
function factsOf(spec: DagSpec, name: string, json: string): ReadFacts {
  const no = spec.tasks.findIndex((task) => task.name === name);
  const task = spec.tasks[no];
  if (task === undefined) throw bad('taskName', 'is no task of this run');
  try {
    parseExactJson(json);
  } catch (error) {
    if (error instanceof InexactJson) throw bad('json', error.message);
    throw bad('json', 'is no JSON');
  }
  if (task.facts === undefined && task.branch === undefined && task.shortCircuit === undefined) {
    return { ok: true, text: null };
  }
  const numbers = spec.tasks.flatMap(({ needs }, below) => (needs.includes(no) ? [below] : []));
  return readTaskFacts(task, { numbers, nameOf: (below) => spec.tasks[below]?.name ?? '' }, json);
}

const bad = (path: string, message: string): SignalboxError =>
  new SignalboxError('BAD_REQUEST', { problems: [{ path, message }] });
