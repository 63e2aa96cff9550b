/** Plays the host for calls of other dags within one scenario: delivers messages or loses them, as a test says. */

import type { SendCall, TellParent } from '../decide/effect.ts';
import type { Answer } from '../model/answer.ts';
import type { BeginChild } from '../model/command.ts';
import type { DagId, RunId } from '../model/ids.ts';
import { childUid } from '../model/run/child-uid.ts';
import type { Scenario } from './scenario.ts';

export class CallLines {
  readonly box: Scenario;
  /** Dags that may be called, by name. */
  readonly dags: Readonly<Record<string, DagId>>;
  private seen = 0;

  constructor(box: Scenario, dags: Readonly<Record<string, DagId>>) {
    this.box = box;
    this.dags = dags;
  }

  /** What has been said since the last time, in order; it is now off the line. */
  take(): (SendCall | TellParent)[] {
    const { effects } = this.box;
    const said = effects.slice(this.seen);
    this.seen = effects.length;
    return said.filter((effect) => effect.kind === 'SendCall' || effect.kind === 'TellParent');
  }

  /** Brings all words on their way, and those that follow from them. */
  deliver(): this {
    for (let words = this.take(); words.length > 0; words = this.take()) {
      for (const word of words) {
        if (word.kind === 'SendCall') this.call(word);
        else this.tell(word);
      }
    }
    return this;
  }

  call(effect: SendCall): Answer {
    const { step, version } = effect;
    const { dag, wait } = version.task(effect.specNo).child!;
    const dagId = this.dags[dag];
    if (dagId === undefined) return this.end(effect, step === 'stop' ? 'unbegun' : 'refused');
    const to = { ...this.place(effect), dagId };
    const asked =
      step === 'begin' ? null : this.box.feed({ kind: 'AskChild', ...to, stop: step === 'stop', force: effect.force });
    const isAbsent = asked?.ok !== true || asked.kind !== 'child' || asked.state === 'absent';
    if (step === 'stop' && isAbsent) return asked!;
    const answer = isAbsent ? this.box.feed({ kind: 'BeginChild', ...to, params: null }) : asked;
    if (!answer.ok) return this.end(effect, 'refused');
    if (answer.kind === 'child' && answer.state === 'full') return this.end(effect, 'full');
    return wait ? answer : this.end(effect, 'accepted', '{}');
  }

  tell({ parent, end, failed }: TellParent): Answer {
    const { runId, taskNo, attemptNo, fence } = parent;
    const [output, error] = end === 'succeeded' ? ['{}', null] : [null, `${end} ${failed.join()}`];
    return this.box.feed({ kind: 'ChildEnded', claim: { runId, taskNo, attemptNo, fence }, end, output, error });
  }

  /** The runs that were called, in the order they were created. */
  children(): RunId[] {
    return this.box.changes('RunCreated').flatMap(({ runId, parent }) => (parent === undefined ? [] : [runId]));
  }

  private end({ claim }: SendCall, end: 'refused' | 'unbegun' | 'full' | 'accepted', output: string | null = null) {
    const error = output === null ? `It was ${end}.` : null;
    return this.box.feed({ kind: 'ChildEnded', claim, end, output, error });
  }

  private place(effect: SendCall): Omit<BeginChild, 'kind' | 'params' | 'dagId'> {
    const { claim, version, priority, depth, runUid } = effect;
    const { name, child } = version.task(effect.specNo);
    const { shard } = this.box;
    const parent = { ...claim, uid: runUid, task: name, depth, waits: child!.wait };
    const uid = childUid(shard, claim, effect.claimedAt);
    return { shard, tenantId: version.dag.tenantId, uid, parent, priority };
  }
}
