/**
 * Brings word of slots between shards and the homes of limits. Nothing here is durable: who has no answer says it again, and sums that
 * only grow may come late or twice (D10).
 */
import { type AskHome, homeOf, type TakeSlots, type TellSlots } from '@signalbox/engine';
import { KeyedLimiter } from '../children/keyed-limiter.ts';
import type { Router } from '../router.ts';
import type { Turns } from '../turn/turns.ts';

export interface LimitsPorts {
  readonly router: Pick<Router, 'ask' | 'send'>;
  readonly turns: Pick<Turns, 'owns' | 'tell'>;
}

/** What waits for longer is said again. */
const DEADLINE_MS = 2_000;
/** At work at one time; the others wait for their turn. */
const AT_ONCE = 256;

export class Limits {
  private readonly ports: LimitsPorts;
  private readonly limiter: KeyedLimiter<AskHome>;

  constructor(ports: LimitsPorts) {
    this.ports = ports;
    this.limiter = new KeyedLimiter(AT_ONCE, (effect) => this.bring(effect));
  }

  /** Only the newest word of a shard about a limit waits for its turn. */
  ask(effect: AskHome): void {
    this.limiter.enter(`${effect.from}/${effect.limit}`, effect);
  }

  tell(effect: TellSlots): void {
    this.take({ ...effect, kind: 'TakeSlots' });
  }

  private async bring(effect: AskHome): Promise<void> {
    const { limit, from } = effect;
    const routed = await this.ports.router.ask({ ...effect, kind: 'AskSlots', shard: homeOf(limit) }, DEADLINE_MS);
    if (routed.status !== 'answered' || !routed.answer.ok || routed.answer.kind !== 'slots') return;
    const { given, recall, isTight, isWanting, heard } = routed.answer;
    this.take({ kind: 'TakeSlots', shard: from, limit, given, recall, isTight, isWanting, heard });
  }

  private take(command: TakeSlots): void {
    const { turns, router } = this.ports;
    // Nobody waits for an answer: the shard asks again if it did not hear.
    if (turns.owns(command.shard)) turns.tell(command);
    else router.send(command, DEADLINE_MS, () => undefined);
  }
}
