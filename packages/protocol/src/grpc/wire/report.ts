/** `Report` and `ReportAnswer` of worker.proto. */
import { refuse } from '../check.ts';
import { OUTCOME_NO, OUTCOMES, VERDICT_NO, VERDICTS } from '../wire-enums.ts';
import type { Claim, Report, ReportAnswer } from '../worker-messages.ts';
import { readClaim, writeClaim } from './claim.ts';
import { LONG, SHORT, TOKEN_BYTES } from './limits.ts';
import { bytesTag, numberTag } from './tags.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const CLAIM = bytesTag(1);
const TOKEN = bytesTag(2);
const OUTCOME = numberTag(3);
const OUTPUT = bytesTag(4);
const ERROR = bytesTag(5);
const STARTED_AT = numberTag(6);
const ENDED_AT = numberTag(7);
const CODE = bytesTag(8);
const RETRY_AFTER = numberTag(9);
const MEMORY = numberTag(10);
const CPU = numberTag(11);
const PEAK = numberTag(12);
const VERDICT = numberTag(2);
const NO_BYTES = Buffer.alloc(0);

export function writeReport(writer: WireWriter, tag: number, report: Report): void {
  const begun = writer.begin(tag);
  writeClaim(writer, CLAIM, report.claim);
  writer.bytes(TOKEN, report.token);
  writer.count(OUTCOME, OUTCOME_NO[report.outcome]);
  writer.text(OUTPUT, report.output);
  writer.text(ERROR, report.error);
  writer.count(STARTED_AT, report.startedAt);
  writer.count(ENDED_AT, report.endedAt);
  writer.text(CODE, report.code);
  writer.count(RETRY_AFTER, report.retryAfterMs);
  writer.count(MEMORY, report.memoryBytes);
  writer.count(CPU, report.cpuMicros);
  writer.count(PEAK, report.peakBytes);
  writer.end(begun);
}

/** As it was sent: output, error and code may be anything. */
export function readReport(reader: WireReader): Report {
  let claim: Claim | null = null;
  let token: Buffer = NO_BYTES;
  let outcome = 0;
  let [output, error, code] = ['', '', ''];
  let [startedAt, endedAt, retryAfterMs, memoryBytes, cpuMicros, peakBytes] = [0, 0, 0, 0, 0, 0];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === CLAIM) claim = readClaim(reader);
    else if (tag === TOKEN) token = reader.slice('reports.token', TOKEN_BYTES);
    else if (tag === OUTCOME) outcome = reader.count('reports.outcome');
    else if (tag === OUTPUT) output = reader.text('reports.output', LONG);
    else if (tag === ERROR) error = reader.text('reports.error', LONG);
    else if (tag === STARTED_AT) startedAt = reader.count('reports.startedAt');
    else if (tag === ENDED_AT) endedAt = reader.count('reports.endedAt');
    else if (tag === CODE) code = reader.text('reports.code', SHORT);
    else if (tag === RETRY_AFTER) retryAfterMs = reader.count('reports.retryAfterMs');
    else if (tag === MEMORY) memoryBytes = reader.count('reports.memoryBytes');
    else if (tag === CPU) cpuMicros = reader.count('reports.cpuMicros');
    else if (tag === PEAK) peakBytes = reader.count('reports.peakBytes');
    else reader.skip(tag);
  }
  return {
    claim: claim ?? refuse('reports.claim', 'is missing'),
    token,
    outcome: OUTCOMES.get(outcome) ?? refuse('reports.outcome', 'is not known'),
    output,
    error,
    startedAt,
    endedAt,
    code,
    retryAfterMs,
    memoryBytes,
    cpuMicros,
    peakBytes,
  };
}

export function writeAnswer(writer: WireWriter, tag: number, { claim, verdict }: ReportAnswer): void {
  const begun = writer.begin(tag);
  writeClaim(writer, CLAIM, claim);
  writer.count(VERDICT, VERDICT_NO[verdict]);
  writer.end(begun);
}

export function readAnswer(reader: WireReader): ReportAnswer {
  let claim: Claim | null = null;
  let verdict = 0;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === CLAIM) claim = readClaim(reader);
    else if (tag === VERDICT) verdict = reader.count('answers.verdict');
    else reader.skip(tag);
  }
  return {
    claim: claim ?? refuse('answers.claim', 'is missing'),
    verdict: VERDICTS.get(verdict) ?? refuse('answers.verdict', 'is not known'),
  };
}
