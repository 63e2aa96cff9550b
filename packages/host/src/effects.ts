/** Delivers effects: assignments with their token and what the task can see, stop requests, unused slots. */
import {
  type Amounts,
  type ClaimDecision,
  type Effect,
  isEmpty,
  type KillAttempt,
  NOTHING,
  type NodeId,
  type ReturnSlots,
  type SendAssignment,
  type TaskNo,
} from '@signalbox/engine';
import { type PayloadKey, payloadName } from '@signalbox/store';
import type { Assets } from './assets/assets.ts';
import { type Inputs, itemKeys, largeItemKeys, mapPlaces } from './assign/map-items.ts';
import { MapLists } from './assign/map-lists.ts';
import { upstreamKeys, upstreamOf } from './assign/upstream.ts';
import type { Children } from './children/children.ts';
import { EVENT_TASK, errorKey, eventText } from './event-text.ts';
import type { StartRates } from './fleet/start-rates.ts';
import type { Gateway } from './gateway/gateway.ts';
import { claimKey } from './gateway/session.ts';
import type { Limits } from './limits/limits.ts';
import type { Payloads } from './payloads.ts';
import type { Peers } from './peer/peers.ts';
import type { Assignment, FleetHistory, Log, Tokens } from './ports.ts';
import type { Router } from './router.ts';
import { toldOfRun } from './run-info.ts';

export interface EffectPorts {
  readonly self: NodeId;
  readonly gateway: Gateway;
  readonly peers: () => Peers;
  readonly payloads: Payloads;
  readonly router: Pick<Router, 'send'>;
  readonly children: Pick<Children, 'call' | 'tell'>;
  readonly assets: Pick<Assets, 'tell'>;
  readonly starts: Pick<StartRates, 'note'>;
  readonly limits: Pick<Limits, 'ask' | 'tell'>;
  readonly history: Pick<FleetHistory, 'decided'>;
  readonly tokens: Tokens;
  readonly log: Log;
}

/** More than this no message brings to a worker: its stream would end of it, again and again. */
const MOST_INPUT_BYTES = 12 * 1024 * 1024;
const REPORT_DEADLINE_MS = 30_000;

export class Effects {
  private readonly ports: EffectPorts;
  /** Claims whose inputs are being read; one that is killed meanwhile is taken out, and not sent any more (I42). */
  private readonly reading = new Set<string>();
  private readonly lists = new MapLists();

  constructor(ports: EffectPorts) {
    this.ports = ports;
  }

  send(effects: readonly Effect[]): void {
    const ready: SendAssignment[] = [];
    const lacking: SendAssignment[] = [];
    for (const effect of effects) {
      if (effect.kind === 'SendCall') this.ports.children.call(effect);
      else if (effect.kind === 'TellParent') this.ports.children.tell(effect);
      else if (effect.kind === 'TellAsset') this.ports.assets.tell(effect);
      else if (effect.kind === 'AskHome') this.ports.limits.ask(effect);
      else if (effect.kind === 'TellSlots') this.ports.limits.tell(effect);
      else if (effect.kind === 'SendAssignment') {
        if (effect.decision !== null) this.noteDecision(effect, effect.decision);
        (this.hasAll(effect) ? ready : lacking).push(effect);
      } else this.tell(effect);
    }
    this.assign(ready, (key) => this.ports.payloads.peek(key));
    if (lacking.length > 0) void this.readAndAssign(lacking);
  }

  private noteDecision({ claim, workerId }: SendAssignment, decision: ClaimDecision): void {
    this.ports.history.decided({ claim, workerId, decision });
  }

  private tell(effect: KillAttempt | ReturnSlots): void {
    const { self, gateway, peers } = this.ports;
    const { workerId } = effect;
    if (effect.kind === 'ReturnSlots') return this.returnSlots(effect, effect.count, effect.room);
    const { claim, reason, graceMs } = effect;
    this.reading.delete(claimKey(claim));
    if (effect.gateway === null) return;
    const kills = [{ claim, reason, graceMs }];
    if (effect.gateway === self) gateway.kill(workerId, kills);
    else peers().tell(effect.gateway, { kind: 'killed', workerId, kills });
  }

  private returnSlots(
    to: Pick<SendAssignment, 'gateway' | 'workerId' | 'stream'>,
    count: number,
    room: Amounts = NOTHING,
  ): void {
    const { self, gateway, peers } = this.ports;
    const { workerId, stream } = to;
    const returned = { workerId, count, stream, ...(isEmpty(room) ? {} : { room }) };
    if (to.gateway === self) gateway.slotsReturned(self, returned);
    else peers().tell(to.gateway, { kind: 'returned', ...returned });
  }

  /** The assignment is not sent. */
  private returnClaimed(effect: SendAssignment): void {
    this.returnSlots(effect, effect.booking?.slots ?? 1, effect.booking?.resources);
  }

  /** Groups the assignments of one worker into one message. */
  private assign(effects: readonly SendAssignment[], inputs: Inputs): void {
    const { self, gateway, peers, starts } = this.ports;
    const byWorker = new Map<string, { first: SendAssignment; assignments: Assignment[] }>();
    for (const effect of effects) {
      const assignment = this.toAssignment(effect, inputs);
      starts.note(effect.version.dag.tenantId, assignment.queue);
      const group = byWorker.get(effect.workerId);
      if (isTooLarge(assignment)) this.failForSize(effect);
      else if (group === undefined) byWorker.set(effect.workerId, { first: effect, assignments: [assignment] });
      else group.assignments.push(assignment);
    }
    for (const { first, assignments } of byWorker.values()) {
      const { workerId } = first;
      if (first.gateway === self) gateway.assign(self, workerId, assignments);
      else peers().tell(first.gateway, { kind: 'assigned', workerId, assignments });
    }
  }

  /** Not sent at all when what it needs can't be read: the claim goes back as undelivered (I26), its slot at once (I29). */
  private async readAndAssign(effects: readonly SendAssignment[]): Promise<void> {
    const { log } = this.ports;
    for (const { claim } of effects) this.reading.add(claimKey(claim));
    let inputs: Inputs | null = null;
    try {
      inputs = await this.read(effects);
    } catch (error) {
      log('warn', 'Inputs of tasks could not be read; their claims go back.', { error: String(error) });
    }
    const wanted: SendAssignment[] = [];
    for (const effect of effects) {
      const isWanted = this.reading.delete(claimKey(effect.claim));
      if (isWanted && inputs !== null) wanted.push(effect);
      else this.returnClaimed(effect);
    }
    if (inputs !== null) this.assign(wanted, inputs);
  }

  /** What the claims need; lists that lie elsewhere in a second go, for the first tells where. */
  private async read(effects: readonly SendAssignment[]): Promise<Inputs> {
    const { payloads } = this.ports;
    const inputs = await payloads.fetch(effects.flatMap(keysOf));
    const large = effects.flatMap((effect) => (effect.map === null ? [] : largeItemKeys(effect, inputs, this.lists)));
    if (large.length === 0) return inputs;
    const whole = await payloads.fetch([...new Map(large.map((key) => [payloadName(key), key])).values()]);
    return (key) => (key.large === undefined ? inputs(key) : whole(key));
  }

  /** A clear failure, in place of an assignment that never arrives (I56). */
  private failForSize(effect: SendAssignment): void {
    const { claim, workerId } = effect;
    this.returnClaimed(effect);
    const error = `The params and the item of this task are larger than ${MOST_INPUT_BYTES} bytes in total.`;
    const report = { outcome: 'permanent', output: null, error, startedAt: null } as const;
    const command = { kind: 'ReportAttempt', claim, workerId, ...report } as const;
    this.ports.router.send(command, REPORT_DEADLINE_MS, () => undefined);
  }

  private hasAll(effect: SendAssignment): boolean {
    for (const key of keysOf(effect)) if (this.ports.payloads.peek(key) === undefined) return false;
    if (effect.map === null) return true;
    const peek: Inputs = (key) => this.ports.payloads.peek(key);
    return largeItemKeys(effect, peek, this.lists).length === 0;
  }

  private toAssignment(effect: SendAssignment, inputs: Inputs): Assignment {
    const { tokens } = this.ports;
    const { claim, shard, epoch, version, runUid, hasParams, checkpoint } = effect;
    const task = version.task(effect.specNo);
    const map = effect.map === null ? NO_PLACES : mapPlaces(effect, inputs, this.lists);
    const seen = upstreamOf(effect, inputs, tokens);
    const hookEvent = effect.hookEvent === null ? null : eventText(effect, effect.hookEvent, inputs);
    return {
      shard,
      epoch,
      claim,
      token: Buffer.from(tokens.mint(shard, claim, effect.workerId)).toString('base64'),
      tenant: version.dag.tenant,
      dag: version.dag.name,
      version: version.no,
      run: runUid,
      taskName: task.name,
      handler: task.handler,
      work: version.workText(effect.specNo),
      bundle: version.spec.bundle ?? '',
      files: version.spec.files ?? '',
      queue: task.queue,
      timeoutMs: task.timeoutMs ?? 0,
      effectKey: effectKeyOf(runUid, task.name, map),
      params: hasParams ? (inputs({ runId: claim.runId, taskNo: null }) ?? null) : null,
      upstream: hookEvent === null ? seen.upstream : [...seen.upstream, { taskName: EVENT_TASK, output: hookEvent }],
      references: seen.references,
      failedUpstream: namesOf(version, effect.failedUpstream),
      missingUpstream: namesOf(version, effect.missingUpstream),
      runInfo: effect.runInfo === null ? '' : JSON.stringify(toldOfRun(effect.runInfo)),
      map,
      checkpoint: checkpoint === null ? '' : (inputs({ runId: claim.runId, taskNo: claim.taskNo, checkpoint }) ?? ''),
      ...(effect.booking === null ? {} : { booking: effect.booking }),
      stream: effect.stream,
      memoryBytes: effect.memoryBytes,
      softTimeoutMs: task.softTimeoutMs ?? 0,
      stuckMs: task.stuckMs ?? 0,
    };
  }
}

const NO_PLACES: Assignment['map'] = [];
const NO_NAMES: readonly string[] = [];

function namesOf(version: SendAssignment['version'], numbers: readonly number[]): readonly string[] {
  return numbers.length === 0 ? NO_NAMES : numbers.map((no) => version.task(no as TaskNo).name);
}

function effectKeyOf(runUid: string, taskName: string, map: Assignment['map']): string {
  const key = `${runUid}/${taskName}`;
  return map.length === 0 ? key : key + map.map(({ index }) => `[${index}]`).join('');
}

function keysOf(effect: SendAssignment): PayloadKey[] {
  if (effect.map === null) return payloadKeys(effect);
  return [...payloadKeys({ ...effect, succeededUpstream: [] }), ...upstreamKeys(effect), ...itemKeys(effect)];
}

/** Not of a task that may still succeed: that it has no output yet would be remembered. */
function payloadKeys({
  claim,
  hasParams,
  succeededUpstream,
  checkpoint,
  hookEvent = null,
}: Pick<SendAssignment, 'claim' | 'hasParams' | 'succeededUpstream'> &
  Partial<Pick<SendAssignment, 'checkpoint' | 'hookEvent'>>): PayloadKey[] {
  const { runId, taskNo } = claim;
  const keys: PayloadKey[] = succeededUpstream.map((no) => ({ runId, taskNo: no as TaskNo }));
  if (hasParams) keys.push({ runId, taskNo: null });
  if (checkpoint !== null && checkpoint !== undefined) keys.push({ runId, taskNo, checkpoint });
  const reason = hookEvent === null ? null : errorKey(runId, hookEvent);
  if (reason !== null) keys.push(reason);
  return keys;
}

/** Contains only small outputs of earlier tasks. */
function isTooLarge({ params, map }: Assignment): boolean {
  let chars = params?.length ?? 0;
  for (const { item } of map) chars += item.length;
  if (chars * 3 <= MOST_INPUT_BYTES) return false;
  let bytes = Buffer.byteLength(params ?? '');
  for (const { item } of map) bytes += Buffer.byteLength(item);
  return bytes > MOST_INPUT_BYTES;
}
