/** D. What running attempts ask for: only the holder of the claim gets it, and what was promised is there for the next attempt. */
import type { AttemptMeasured, CheckpointSaved, ClaimAsserted, ClaimRef } from '@signalbox/engine';
import { type Happening, name } from '../world/happening.ts';
import { usedOf } from '../world/user-code.ts';
import type { Checker, Scene } from './checker.ts';

interface Saved {
  readonly fence: number;
  readonly no: number;
  readonly value: string;
}

export function asks(scene: Scene): Checker {
  const { ledger } = scene;
  /** The newest checkpoint of each task, by run and task. */
  const saved = new Map<string, Saved>();
  /** Of each claim, the highest number that was committed, and the last instant at which it was found to hold its task. */
  const committed = new Map<string, { no: number; asserted: boolean }>();

  /** What was to be saved, by claim and number. */
  const asked = new Map<string, string>();

  /** What there was when a speculative attempt was claimed. */
  const besides = new Map<string, string>();
  const taskKey = ({ runId, taskNo }: Pick<ClaimRef, 'runId' | 'taskNo'>) => `${runId}/${taskNo}`;
  const claimKey = (claim: Pick<ClaimRef, 'runId' | 'taskNo' | 'fence'>) => `${taskKey(claim)}/${claim.fence}`;

  function checkChange(change: CheckpointSaved | ClaimAsserted | AttemptMeasured): void {
    const { runId, taskNo, fence } = change;
    const task = ledger.run(runId).tasks.get(taskNo);
    const what = `${change.kind} of ${runId}/${taskNo} fence ${fence}`;
    const isHeld = task?.state === 'running' && (task.fence === fence || task.speculative?.fence === fence);
    if (!isHeld) {
      return scene.fail('I21', `${what}: the task is ${task?.state} at fence ${task?.fence}`);
    }
    if (change.kind === 'AttemptMeasured') return checkMeasured(change);
    const known = committed.get(claimKey(change)) ?? { no: 0, asserted: false };
    committed.set(claimKey(change), known);
    if (change.kind === 'ClaimAsserted') {
      known.asserted = true;
      return;
    }
    // One that comes again must change nothing, and an older one must not come over a newer one.
    // Of two that save in turns a new owner knows the last one only: the same one may be kept again.
    const isOneOfTwo = task.speculative !== null || task.beside.size > 0;
    if (change.no <= known.no && !isOneOfTwo) scene.fail('I22', `${what} has number ${change.no}, after ${known.no}`);
    const wanted = asked.get(`${claimKey(change)}/${change.no}`);
    if (change.value !== wanted)
      scene.fail('I21', `${what} (${change.no}) is ${change.value}, asked for was ${wanted}`);
    known.no = change.no;
    saved.set(taskKey(change), { fence, no: change.no, value: change.value });
  }

  /** Once for each claim, and what its worker said. */
  const measured = new Set<string>();
  function checkMeasured(change: AttemptMeasured): void {
    const { cpuMs, peakBytes } = change;
    const said = usedOf(change);
    if (measured.has(claimKey(change))) scene.fail('I22', `${claimKey(change)} was measured twice`);
    measured.add(claimKey(change));
    if (cpuMs !== said?.cpuMs || peakBytes !== said.peakBytes)
      scene.fail('I21', `${claimKey(change)} used ${cpuMs} and ${peakBytes}, its worker said ${JSON.stringify(said)}`);
  }

  function checkTold(
    claim: ClaimRef,
    { no, request, ok }: { no: number; request: { kind: string }; ok: boolean },
  ): void {
    // More time may be none, where nothing limits the attempt, or its deadline lies further off: what was given is seen in `f-limits.ts`.
    // What was added is looked at in `e-adding.ts`.
    if (!ok || request.kind === 'extend' || request.kind === 'add') return;
    const known = committed.get(claimKey(claim));
    const isDone = request.kind === 'assert' ? known?.asserted === true : (known?.no ?? 0) >= no;
    if (!isDone) scene.fail('I15', `${name(claim)} was told that its ${request.kind} (${no}) is done, and it is not`);
  }

  /** An assignment carries what the newest committed checkpoint of its task says. */
  function checkGot(happening: Happening): void {
    if (happening.kind !== 'assigned') return;
    const { claim, checkpoint } = happening.assignment;
    const newest = saved.get(taskKey(claim));
    // One of its own attempt comes after the assignment was made.
    if (newest !== undefined && newest.fence >= claim.fence) return;
    // Beside a speculative attempt the first one goes on, and saves what comes too late for that.
    if (checkpoint === besides.get(claimKey(claim))) return;
    if (checkpoint !== (newest?.value ?? '')) {
      scene.fail('I36', `${name(claim)} was given ${checkpoint}, its task has left ${newest?.value}`);
    }
  }

  return {
    invariants: ['I15', 'I21', 'I22', 'I36'],
    onChange(change) {
      if (change.kind === 'SpeculativeClaimed') besides.set(claimKey(change), saved.get(taskKey(change))?.value ?? '');
      if (change.kind === 'CheckpointSaved' || change.kind === 'ClaimAsserted' || change.kind === 'AttemptMeasured')
        checkChange(change);
      // What has succeeded and is run anew begins anew.
      if (change.kind === 'TaskCleared' && change.from === 'succeeded') saved.delete(taskKey(change));
    },
    onHappening(happening) {
      if (happening.kind === 'worker' && happening.what === 'asks' && happening.claim !== null) {
        const { claim, no, request } = happening;
        if (request.kind === 'checkpoint') asked.set(`${claimKey(claim)}/${no}`, request.value);
      }
      checkGot(happening);
      if (happening.kind === 'worker' && happening.what === 'told' && happening.claim !== null) {
        checkTold(happening.claim, happening);
      }
    },
  };
}
