/** What can be seen from outside: all that checkers look at, and all that a printed history tells. */
import type {
  ClaimRef,
  Command,
  Frozen,
  KeptRule,
  NodeId,
  ReportedOutcome,
  TenantId,
  WorkerId,
  WorkerTraits,
} from '@signalbox/engine';
import type { Assignment, Kill, ReportAnswer, Routed, WorkerRequest } from '@signalbox/host';
import type { JournalEntry } from '../fake-store/index.ts';

/** A client's request, as the edge of one node has it. */
export interface Ask {
  readonly no: number;
  readonly client: string;
  readonly node: string;
  readonly command: Command;
  readonly deadlineMs: number;
  readonly at: number;
}

export type Happening =
  | { readonly kind: 'journal'; readonly entry: JournalEntry }
  | { readonly kind: 'asked'; readonly ask: Ask }
  /** The answer leaves the node. */
  | { readonly kind: 'told'; readonly ask: Ask; readonly result: Routed }
  /** An assignment leaves a node: for the worker, or for the node that is its gateway. */
  | {
      readonly kind: 'assigned';
      readonly node: string;
      readonly to: 'gateway' | 'worker';
      readonly workerId: WorkerId;
      readonly assignment: Assignment;
    }
  /** A word to stop leaves a node. */
  | { readonly kind: 'killed'; readonly node: string; readonly workerId: WorkerId; readonly kill: Kill }
  /** The verdict on a report leaves the gateway. */
  | { readonly kind: 'verdict'; readonly node: string; readonly workerId: WorkerId; readonly answer: ReportAnswer }
  /** What a worker holds reaches a node that may own some of it. */
  | {
      readonly kind: 'heard';
      readonly node: string;
      readonly nodeId: NodeId;
      readonly workerId: WorkerId;
      readonly agoMs: number;
      readonly holds: readonly ClaimRef[];
    }
  /** Anything else that a worker says reaches its gateway. */
  | { readonly kind: 'spoke'; readonly node: string; readonly workerId: WorkerId }
  | WorkerHappening
  | { readonly kind: 'machine'; readonly machine: string; readonly what: string; readonly id: string | null }
  | { readonly kind: 'fault'; readonly what: string }
  /** Somebody freezes or thaws something. */
  | { readonly kind: 'freeze'; readonly frozen: Frozen; readonly isFrozen: boolean }
  /** Somebody keeps slots for a dag or a tenant, or lets them go. */
  | { readonly kind: 'reservation'; readonly rule: KeptRule; readonly isKept: boolean }
  /** Somebody suspends or resumes a tenant. */
  | { readonly kind: 'tenant'; readonly tenantId: TenantId; readonly isSuspended: boolean; readonly isDeleted: boolean }
  /** Only when asked for: what passes on the wires, and what nodes log. */
  | { readonly kind: 'wire'; readonly what: string };

type WorkerHappening = {
  readonly kind: 'worker';
  readonly worker: string;
  readonly workerId: WorkerId;
  readonly claim: ClaimRef | null;
} & (
  | {
      readonly what: 'began';
      readonly slots: number;
      readonly queues: readonly string[];
      readonly tenants: readonly TenantId[] | null;
      readonly traits?: WorkerTraits;
    }
  | { readonly what: 'got' | 'started'; readonly assignment: Assignment }
  | { readonly what: 'refused'; readonly reason: string }
  | { readonly what: 'displaced'; readonly cause: 'preempted' | 'evicted' }
  | { readonly what: 'finished'; readonly outcome: ReportedOutcome; readonly output: string | null }
  | { readonly what: 'verdict'; readonly verdict: ReportAnswer['verdict'] }
  | { readonly what: 'asks'; readonly no: number; readonly request: WorkerRequest['request'] }
  /** The answer has come. */
  | { readonly what: 'told'; readonly no: number; readonly request: WorkerRequest['request']; readonly ok: boolean }
  | { readonly what: 'connected' | 'lost the line' | 'drains' | 'left' | 'died' | 'aborted' }
);

/** One line for people. */
export function describe(happening: Happening): string {
  switch (happening.kind) {
    case 'journal':
      return describeEntry(happening.entry);
    case 'freeze': {
      const { kind, tenantId, name } = happening.frozen;
      return `${kind} ${name} of tenant ${tenantId} is ${happening.isFrozen ? 'frozen' : 'thawed'}`;
    }
    case 'reservation': {
      const { limit, slots } = happening.rule;
      return `${slots} slots of ${limit} are ${happening.isKept ? 'kept' : 'let go'}`;
    }
    case 'tenant':
      return `tenant ${happening.tenantId} is ${happening.isDeleted ? 'deleted' : happening.isSuspended ? 'suspended' : 'resumed'}`;
    case 'asked': {
      const { no, client, node, command } = happening.ask;
      return `${client} asks ${node} (#${no}) ${brief(command)}`;
    }
    case 'told':
      return `${happening.ask.node} tells ${happening.ask.client} (#${happening.ask.no}) ${brief(happening.result)}`;
    case 'assigned':
      return `${happening.node} sends ${name(happening.assignment.claim)} at epoch ${happening.assignment.epoch} to the ${happening.to} of ${happening.workerId}`;
    case 'killed':
      return `${happening.node} tells ${happening.workerId} to stop ${name(happening.kill.claim)}: ${happening.kill.reason}`;
    case 'verdict':
      return `${happening.node} answers ${happening.workerId}: ${name(happening.answer.claim)} ${happening.answer.verdict}`;
    case 'heard':
      return `${happening.node} hears ${happening.workerId} (${Math.round(happening.agoMs)} ms ago) hold [${happening.holds.map(name).join(' ')}]`;
    case 'spoke':
      return `${happening.node} is spoken to by ${happening.workerId}`;
    case 'worker': {
      const more =
        'reason' in happening
          ? happening.reason
          : 'outcome' in happening
            ? happening.outcome
            : 'verdict' in happening
              ? happening.verdict
              : '';
      return `${happening.workerId} ${happening.what} ${happening.claim === null ? '' : name(happening.claim)} ${more}`.trimEnd();
    }
    case 'machine':
      return `${happening.machine} ${happening.what}${happening.id === null ? '' : ` as ${happening.id}`}`;
    case 'fault':
      return `FAULT ${happening.what}`;
    case 'wire':
      return `  ~ ${happening.what}`;
  }
}

export function name({ runId, taskNo, attemptNo, fence }: ClaimRef): string {
  return `${runId}/${taskNo} attempt ${attemptNo} fence ${fence}`;
}

function describeEntry(entry: JournalEntry): string {
  if (entry.kind !== 'commit') {
    const shards =
      entry.taken.length > 8
        ? `${entry.taken.length} shards`
        : entry.taken.map(({ shard, epoch }) => `${shard}@${epoch}`).join(' ');
    return `DB ${entry.kind} by ${entry.nodeId}: ${shards}`;
  }
  const stamps = entry.shards.map(({ shard, epoch, commitNo }) => `${shard}@${epoch}#${commitNo}`).join(' ');
  return `DB commit by ${entry.nodeId} ${stamps}: ${entry.changes.map(brief).join('; ')}`;
}

function brief(value: { readonly kind?: string } | object): string {
  return JSON.stringify(value, (key, inner: unknown) =>
    key === 'spec' || key === 'actor' || inner === null ? undefined : inner,
  ).replaceAll('"', '');
}

/** What a worker process tells of itself; its machine and id are added. */
export type WorkerTold = DistributiveOmit<WorkerHappening, 'kind' | 'worker' | 'workerId'>;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
