/**
 * A report that refers to its output instead of containing it. The reference must be to what this very attempt has stored;
 * otherwise the attempt has no output (I21, I36).
 */
import { type ClaimRef, shardOfRun } from '@signalbox/engine';
import type { SealedOutput } from '../assign/output-seal.ts';
import type { Tokens, WorkerReport } from '../ports.ts';

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

export function sealOutput(claim: ClaimRef, output: SealedOutput, tokens: Pick<Tokens, 'seal'>): string {
  const text = Buffer.from(JSON.stringify(output)).toString('base64url');
  return `@${tokens.seal(shardOfRun(claim.runId), claim, text)}`;
}
