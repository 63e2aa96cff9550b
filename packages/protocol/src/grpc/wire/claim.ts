/** `Claim` of worker.proto. */
import type { Claim } from '../worker-messages.ts';
import { numberTag } from './tags.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const SHARD = numberTag(1);
const RUN_ID = numberTag(2);
const TASK = numberTag(3);
const ATTEMPT = numberTag(4);
const FENCE = numberTag(5);

export function writeClaim(writer: WireWriter, tag: number, { shard, runId, task, attempt, fence }: Claim): void {
  const begun = writer.begin(tag);
  writer.count(SHARD, shard);
  writer.count(RUN_ID, runId);
  writer.count(TASK, task);
  writer.count(ATTEMPT, attempt);
  writer.count(FENCE, fence);
  writer.end(begun);
}

export function readClaim(reader: WireReader): Claim {
  const outer = reader.enter();
  let [shard, runId, task, attempt, fence] = [0, 0, 0, 0, 0];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === SHARD) shard = reader.uint32('claim.shard');
    else if (tag === RUN_ID) runId = reader.count('claim.runId');
    else if (tag === TASK) task = reader.uint32('claim.task');
    else if (tag === ATTEMPT) attempt = reader.uint32('claim.attempt');
    else if (tag === FENCE) fence = reader.uint32('claim.fence');
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { shard, runId, task, attempt, fence };
}
