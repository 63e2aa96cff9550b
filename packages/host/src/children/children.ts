/**
 * Delivers calls of other dags between the shards of parent and child. Nothing here is durable: the parent's shard repeats a
 * message that is lost, and a call that arrives twice is one run, because the call determines its uid (I11).
 */
import {
  type Answer,
  type AskChild,
  type BeginChild,
  type CallEnd,
  type ClaimRef,
  childUid,
  type ParentRef,
  type SendCall,
  type TellParent,
} from '@signalbox/engine';
import type { DagFound, Store } from '@signalbox/store';
import { claimKey } from '../gateway/session.ts';
import type { Payloads } from '../payloads.ts';
import type { ChildParams, Log } from '../ports.ts';
import type { Router } from '../router.ts';
import { charsIn, MOST_READ_CHARS, runOf, visibleTo } from './child-inputs.ts';
import { childError, childOutput, MOST_OUTPUT_BYTES, outputKeys } from './child-result.ts';
import { KeyedLimiter } from './keyed-limiter.ts';

export interface ChildrenPorts {
  readonly store: Pick<Store, 'findDag'>;
  readonly payloads: Pick<Payloads, 'fetch' | 'fetchWhole'>;
  readonly router: Pick<Router, 'ask'>;
  readonly childParams: ChildParams;
  readonly log: Log;
}

const DEADLINE_MS = 15_000;
/** At work at one time; the others wait for their turn. */
const AT_ONCE = 64;
const PLACES_KEPT = 10_000;
/** How often a dag is looked up anew for one call, when it is deployed again and again. */
const MOST_LOOKS = 3;
const NOTHING = { params: null, upstream: new Map<string, string>(), absent: [], map: [] };

export class Children {
  private readonly ports: ChildrenPorts;
  private readonly limiter: KeyedLimiter<SendCall | TellParent>;
  /** Where dags are: that does not change; what they ask of their params may. */
  private readonly places = new Map<string, DagFound>();

  constructor(ports: ChildrenPorts) {
    this.ports = ports;
    this.limiter = new KeyedLimiter(AT_ONCE, (effect) => this.work(effect));
  }

  /** Only the newest message of a call waits for its turn. */
  call(effect: SendCall): void {
    this.limiter.enter(claimKey(effect.claim), effect);
  }

  tell(effect: TellParent): void {
    this.limiter.enter(effect.uid, effect);
  }

  private async work(effect: SendCall | TellParent): Promise<void> {
    try {
      if (effect.kind === 'SendCall') await this.bring(effect);
      else await this.report(effect);
    } catch (error) {
      const what = effect.kind === 'SendCall' ? 'A call of another dag' : 'The end of a child run';
      this.ports.log('warn', `${what} could not be brought on its way; it is tried again.`, { error: String(error) });
    }
  }

  private async bring(effect: SendCall): Promise<void> {
    const { claim, version, step } = effect;
    const { tenantId } = version.dag;
    const { name: task, child } = version.task(effect.specNo);
    const { dag: name, wait } = child!;
    let place = await this.placeOf(tenantId, name);
    // Where there is no dag by now, no call has ever reached one.
    if (place === null) return this.end(claim, step === 'stop' ? 'unbegun' : 'refused', `Dag ${name} does not exist.`);
    const uid = childUid(place.shard, claim, effect.claimedAt);
    const parent: ParentRef = { ...claim, uid: effect.runUid, task, depth: effect.depth, waits: wait };
    const { shard, dagId } = place;
    const to = { shard, dagId, tenantId, uid, parent, priority: effect.priority };
    let answer: Answer | null = null;
    if (step !== 'begin') {
      answer = await this.ask({ kind: 'AskChild', ...to, stop: step === 'stop', force: effect.force });
      if (answer === null || (step === 'stop' && !isThere(answer))) return;
    }
    if (answer === null || !isThere(answer)) {
      for (let left = MOST_LOOKS; left > 0; left--) {
        const params = await this.paramsOf(effect, place.paramsSchema);
        if (!params.ok) {
          // By a schema that may be out of date nobody is refused without a second look.
          const known: number = place.versionNo;
          this.places.delete(`${tenantId}/${name}`);
          place = (await this.placeOf(tenantId, name)) ?? place;
          if (place.versionNo !== known && left > 1) continue;
          return this.end(claim, 'refused', params.error);
        }
        const checked = place.paramsSchema === null ? {} : { checkedFor: place.versionNo };
        answer = await this.ask({ kind: 'BeginChild', ...to, params: params.params, ...checked });
        if (answer === null || answer.ok || answer.code !== 'PARAMS_UNCHECKED') break;
        // It has another version since it was looked up.
        this.places.delete(`${tenantId}/${name}`);
        place = (await this.placeOf(tenantId, name)) ?? place;
      }
    }
    if (answer === null) return;
    if (!answer.ok && answer.code === 'PARAMS_UNCHECKED') return;
    if (!answer.ok) return this.end(claim, 'refused', `The dag ${name} makes no runs: it is retired.`);
    if (answer.kind === 'child' && answer.state === 'full') {
      return this.end(
        claim,
        'full',
        `The dag ${name} can have no further run: it has too many live runs that other runs have called, or its quota of runs is used up.`,
      );
    }
    if (!wait) await this.end(claim, 'accepted', null, JSON.stringify({ run: uid }));
  }

  private async report(effect: TellParent): Promise<void> {
    const { parent, end } = effect;
    const { runId, taskNo, attemptNo, fence } = parent;
    const claim: ClaimRef = { runId, taskNo, attemptNo, fence };
    if (end !== 'succeeded') return this.end(claim, end, childError(effect));
    const keys = outputKeys(effect);
    if (keys === null) return this.end(claim, 'refused', TOO_LARGE(effect));
    const placeOf = await this.ports.payloads.fetch(keys);
    if (charsIn(keys, placeOf) > MOST_OUTPUT_BYTES) return this.end(claim, 'refused', TOO_LARGE(effect));
    const output = childOutput(effect, await this.ports.payloads.fetchWhole(keys));
    if (output === null) return this.end(claim, 'refused', TOO_LARGE(effect));
    return this.end(claim, end, null, output);
  }

  private async paramsOf(effect: SendCall, schema: object | boolean | null): Promise<ReturnType<ChildParams>> {
    const { work } = effect.version.task(effect.specNo);
    if (work === undefined) return this.ports.childParams(work, { ...NOTHING, run: runOf(effect) }, schema);
    const visible = await visibleTo(effect, this.ports.payloads);
    if (visible !== null) return this.ports.childParams(work, visible, schema);
    return {
      ok: false,
      error: `The data that its inputs come from has more than ${MOST_READ_CHARS} characters in total.`,
    };
  }

  private async placeOf(tenantId: SendCall['version']['dag']['tenantId'], name: string): Promise<DagFound | null> {
    const key = `${tenantId}/${name}`;
    const known = this.places.get(key);
    if (known !== undefined) return known;
    const found = await this.ports.store.findDag(tenantId, name);
    if (found !== null) this.places.set(key, found);
    const [oldest] = this.places.keys();
    if (this.places.size > PLACES_KEPT && oldest !== undefined) this.places.delete(oldest);
    return found;
  }

  /** Null when there was no answer: it is asked for again in time. */
  private async ask(command: BeginChild | AskChild): Promise<Answer | null> {
    const routed = await this.ports.router.ask(command, DEADLINE_MS);
    return routed.status === 'answered' ? routed.answer : null;
  }

  private async end(claim: ClaimRef, end: CallEnd, error: string | null, output: string | null = null): Promise<void> {
    await this.ports.router.ask({ kind: 'ChildEnded', claim, end, output, error }, DEADLINE_MS);
  }
}

function isThere(answer: Answer): boolean {
  return answer.ok && answer.kind === 'child' && answer.state !== 'absent';
}

const TOO_LARGE = ({ uid }: TellParent) =>
  `The outputs of run ${uid} are too large to be the output of one task: let it leave less, or a place where it is to be found.`;
