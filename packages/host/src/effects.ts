/** Brings effects to where they belong: assignments with their token and what the task may see, kills, unused slots. */
import { type Effect, type NodeId, type SendAssignment, type TaskNo } from '@signalbox/engine';
import type { PayloadKey } from '@signalbox/store';
import type { Gateway } from './gateway/gateway.ts';
import type { Payloads } from './payloads.ts';
import type { Peers } from './peer/peers.ts';
import type { Assignment, Log, Tokens } from './ports.ts';

export interface EffectPorts {
  readonly self: NodeId;
  readonly gateway: Gateway;
  readonly peers: () => Peers;
  readonly payloads: Payloads;
  readonly tokens: Tokens;
  readonly log: Log;
}

export class Effects {
  private readonly ports: EffectPorts;

  constructor(ports: EffectPorts) {
    this.ports = ports;
  }

  send(effects: readonly Effect[]): void {
    const ready: SendAssignment[] = [];
    const lacking: SendAssignment[] = [];
    for (const effect of effects) {
      if (effect.kind === 'SendAssignment') (this.hasAll(effect) ? ready : lacking).push(effect);
      else this.tell(effect);
    }
    this.assign(ready);
    if (lacking.length > 0) void this.fetchAndAssign(lacking);
  }

  private tell(effect: Exclude<Effect, SendAssignment>): void {
    const { self, gateway, peers } = this.ports;
    const { workerId } = effect;
    if (effect.gateway === null) return;
    if (effect.kind === 'ReturnSlots') {
      const { count } = effect;
      if (effect.gateway === self) gateway.slotsReturned(self, workerId, count);
      else peers().tell(effect.gateway, { kind: 'returned', workerId, count });
      return;
    }
    const { claim, reason, graceMs } = effect;
    const kills = [{ claim, reason, graceMs }];
    if (effect.gateway === self) gateway.kill(workerId, kills);
    else peers().tell(effect.gateway, { kind: 'killed', workerId, kills });
  }

  /** Those of one worker together, in one message. */
  private assign(effects: readonly SendAssignment[]): void {
    const { self, gateway, peers } = this.ports;
    const byWorker = new Map<string, { first: SendAssignment; assignments: Assignment[] }>();
    for (const effect of effects) {
      const group = byWorker.get(effect.workerId);
      if (group === undefined)
        byWorker.set(effect.workerId, { first: effect, assignments: [this.toAssignment(effect)] });
      else group.assignments.push(this.toAssignment(effect));
    }
    for (const { first, assignments } of byWorker.values()) {
      const { workerId } = first;
      if (first.gateway === self) gateway.assign(self, workerId, assignments);
      else peers().tell(first.gateway, { kind: 'assigned', workerId, assignments });
    }
  }

  /** Not sent at all when what it needs can't be read: the claim goes back as undelivered (I26). */
  private async fetchAndAssign(effects: readonly SendAssignment[]): Promise<void> {
    const { payloads, log } = this.ports;
    try {
      const keys = effects.flatMap((effect) => payloadKeys(effect).filter((key) => payloads.peek(key) === undefined));
      await payloads.fetch(keys);
      this.assign(effects);
    } catch (error) {
      log('warn', 'Inputs of tasks could not be read; their claims go back.', { error: String(error) });
    }
  }

  private hasAll(effect: SendAssignment): boolean {
    return payloadKeys(effect).every((key) => this.ports.payloads.peek(key) !== undefined);
  }

  private toAssignment(effect: SendAssignment): Assignment {
    const { payloads, tokens } = this.ports;
    const { claim, shard, epoch, version, runUid, hasParams } = effect;
    const task = version.task(claim.taskNo);
    const upstream: { taskName: string; output: string }[] = [];
    for (const no of task.needs) {
      const output = payloads.peek({ runId: claim.runId, taskNo: no as TaskNo });
      if (typeof output === 'string') upstream.push({ taskName: version.task(no as TaskNo).name, output });
    }
    return {
      shard,
      epoch,
      claim,
      token: Buffer.from(tokens.mint(shard, claim)).toString('base64'),
      tenant: version.dag.tenant,
      dag: version.dag.name,
      version: version.no,
      run: runUid,
      taskName: task.name,
      handler: task.handler,
      queue: task.queue,
      timeoutMs: task.timeoutMs ?? 0,
      effectKey: `${runUid}/${task.name}`,
      params: hasParams ? (payloads.peek({ runId: claim.runId, taskNo: null }) ?? null) : null,
      upstream,
    };
  }
}

function payloadKeys({ claim, version, hasParams }: SendAssignment): PayloadKey[] {
  const { runId, taskNo } = claim;
  const keys: PayloadKey[] = version.task(taskNo).needs.map((no) => ({ runId, taskNo: no as TaskNo }));
  if (hasParams) keys.push({ runId, taskNo: null });
  return keys;
}
