/**
 * A report that refers to its output instead of containing it. The reference must be to what this very attempt has stored;
 * otherwise the attempt has no output (I21, I36).
 */
import { type ClaimRef, type Command, shardOfRun, type WorkerId } from '@signalbox/engine';
import type { SealedOutput } from '../assign/output-seal.ts';
import type { Tokens, WorkerReport } from '../ports.ts';

type ReportAttempt = Extract<Command, { readonly kind: 'ReportAttempt' }>;
type Said = Omit<WorkerReport, 'claim' | 'token'>;

export function openOutput(
  claim: ClaimRef,
  said: Said,
  tokens: Pick<Tokens, 'open'>,
): Said & { readonly facts?: SealedOutput['facts'] } {
  if (said.output?.startsWith('@') !== true) return said;
  const sealed = tokens.open(shardOfRun(claim.runId), claim, said.output.slice(1));
  if (sealed === null) {
    const error = 'The output reference is not one that this attempt stored.';
    return { ...said, outcome: 'permanent', output: null, error };
  }
  const { text, facts } = JSON.parse(Buffer.from(sealed, 'base64url').toString()) as SealedOutput;
  return { ...said, output: text, facts };
}

/** Field by field: to copy "all but these" takes 0.8 µs instead of 0.1, and this is done for each task. */
export function reportCommand(workerId: WorkerId, claim: ClaimRef, said: ReturnType<typeof openOutput>): ReportAttempt {
  const { outcome, output, error, startedAt, facts } = said;
  const command: ReportAttempt = {
    kind: 'ReportAttempt',
    claim,
    workerId,
    outcome,
    output,
    error,
    startedAt,
    code: said.code ?? null,
    retryAfterMs: said.retryAfterMs ?? null,
    memoryBytes: said.memoryBytes ?? null,
    used: said.used ?? null,
  };
  return facts === undefined ? command : { ...command, facts };
}

export function sealOutput(claim: ClaimRef, output: SealedOutput, tokens: Pick<Tokens, 'seal'>): string {
  const text = Buffer.from(JSON.stringify(output)).toString('base64url');
  return `@${tokens.seal(shardOfRun(claim.runId), claim, text)}`;
}
