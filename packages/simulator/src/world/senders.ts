/** Users that send events to triggers which batch or debounce them. An event without an answer is sent again. */
import { type Actor, type DagId, type HoldEvent, makeRunUid, type TenantId } from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import type { Chance } from './chance.ts';
import type { SimNode } from './node.ts';
import type { PlannedDag } from './workload.ts';

interface SenderParts {
  readonly chance: Chance;
  readonly dags: readonly PlannedDag[];
  readonly tenantId: TenantId;
  readonly actor: Actor;
  dagIdOf(dag: PlannedDag): DagId | undefined;
  anyNode(): SimNode | null;
  ask(node: SimNode, command: HoldEvent, done: (result: Routed | null) => void): void;
  /** Later. */
  in(ms: number, run: () => void): void;
}

interface SentEvent {
  readonly dag: PlannedDag;
  readonly id: string;
  readonly trigger: string;
  readonly groupKey: string;
  readonly rule: HoldEvent['rule'];
}

const TRIES = 4;
const KEPT = 20;

export class SimSenders {
  readonly #parts: SenderParts;
  readonly #sent: SentEvent[] = [];
  #count = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** A new event; now and then one of before, which must change nothing. */
  sendSomething(): void {
    const { chance } = this.#parts;
    const isAgain = this.#sent.length > 0 && chance.happens(0.2);
    const event = isAgain ? chance.pick(this.#sent) : this.#plan();
    if (!isAgain) this.#sent.push(event);
    if (this.#sent.length > KEPT) this.#sent.shift();
    this.#send(event, TRIES);
  }

  #plan(): SentEvent {
    const { chance, dags } = this.#parts;
    const isBatch = chance.happens(0.6);
    const rule: SentEvent['rule'] = isBatch
      ? { of: 'batch', max: chance.int(2, 5), withinMs: chance.int(500, 6_000) }
      : { of: 'debounce', waitMs: chance.int(300, 2_000), atMostMs: chance.int(2_000, 8_000) };
    this.#count += 1;
    // Few triggers, so that events meet; now and then both rules meet, as after a deploy.
    const trigger = chance.happens(0.1) ? 'either' : rule.of;
    return { dag: chance.pick(dags), id: `e${this.#count}`, trigger, groupKey: chance.pick(['', 'a']), rule };
  }

  #send(event: SentEvent, triesLeft: number): void {
    const { chance, tenantId, actor } = this.#parts;
    const { dag, id, trigger, groupKey, rule } = event;
    const dagId = this.#parts.dagIdOf(dag);
    const node = this.#parts.anyNode();
    if (dagId === undefined || node === null) return;
    const [a, b] = [Math.floor(chance.next() * 2 ** 48), Math.floor(chance.next() * 2 ** 26)];
    const command: HoldEvent = {
      kind: 'HoldEvent',
      shard: dag.shard,
      tenantId,
      dagId,
      trigger,
      groupKey,
      uid: makeRunUid(dag.shard, node.process.wall(), a, b),
      params: rule.of === 'batch' ? JSON.stringify({ events: [id] }) : JSON.stringify({ last: id }),
      rule,
      key: { key: `event:${id}`, bodyHash: id },
      actor,
    };
    this.#parts.ask(node, command, (result) => {
      const isSure = result !== null && result.status !== 'unknown';
      if (!isSure && triesLeft > 0) this.#parts.in(300, () => this.#send(event, triesLeft - 1));
    });
  }
}
