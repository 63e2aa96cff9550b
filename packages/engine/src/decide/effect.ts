/** What the outside is told. Effects leave only after the commit of their batch, in order (I15). */

import type { AssetSource, AssetState } from '../model/asset.ts';
import type { AskSlots, ClaimRef, ParentRef, TakeSlots } from '../model/command.ts';
import type { HookEvent, Priority } from '../model/dag/spec.ts';
import type { ClaimDecision } from '../model/decision.ts';
import type {
  AttemptNo,
  Epoch,
  Instant,
  NodeId,
  RunId,
  RunUid,
  ShardNo,
  TaskNo,
  TenantId,
  WorkerId,
} from '../model/ids.ts';
import type { Amounts, Booking } from '../model/placement.ts';
import type { RunOutcome } from '../model/run/phase.ts';
import type { RunWindow } from '../model/stored.ts';
import type { CheckpointRef } from '../model/task/checkpoint-ref.ts';
import { type TaskState } from '../model/task/task-states.ts';
import type { Version } from '../tables/dag/dag.ts';

/** Numbers `from`, `from + step`, … : `count` of them. Instances of one mapped task lie so. */
export interface NumberRange {
  readonly from: number;
  readonly step: number;
  readonly count: number;
}

/**
 * Where a task's outputs are: under its number; or, for a mapped task seen from outside of its map, under the numbers of all its
 * instances, in the order of the items. `except`: those of them that have not succeeded, whose outputs nobody may see (I36).
 * An empty map has no ranges: its output is an empty list.
 */
export type TaskOutputs =
  | { readonly of: 'task'; readonly no: number }
  | { readonly of: 'instances'; readonly ranges: readonly NumberRange[]; readonly except: readonly number[] };

/** Which item of a mapped group a task is for. */
export interface MapPlace {
  /** Index in `groups` of the dag. */
  readonly group: number;
  /** Of the instance: 0 … total − 1. */
  readonly index: number;
  readonly total: number;
  /** For each entry of the map's `over`: which item of that list, counted from 0, … */
  readonly picks: readonly number[];
  /** … and the outputs that the list is in; null when it comes from params, or is written in the spec. */
  readonly sources: readonly (TaskOutputs | null)[];
}

/** Of a claim in a dag that has mapped groups. */
export interface MapClaim {
  /** For each mapped group around the task, the outermost first; empty for a task that is in none. */
  readonly places: readonly MapPlace[];
  /** Where the outputs of `succeededUpstream` are, in the same order. */
  readonly upstream: readonly TaskOutputs[];
}

/** Of the run itself. `window`: the one that it is for. */
export interface RunInfo {
  readonly createdAt: Instant;
  readonly priority: Priority;
  readonly window: RunWindow | null;
  /** Dags that did not succeed in time for what the window requires. */
  readonly unmet: readonly string[] | null;
  /** The assets that it was created by. */
  readonly assets: readonly AssetSource[] | null;
}

export interface SendAssignment {
  readonly kind: 'SendAssignment';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  readonly claim: ClaimRef;
  /** The stream whose slot it takes. */
  readonly stream: number;
  readonly runUid: RunUid;
  readonly version: Version;
  /** What it is to do: `version.task(specNo)`. The number of the claim itself, unless that is an instance of a map. */
  readonly specNo: TaskNo;
  /** Null in a dag without maps. */
  readonly map: MapClaim | null;
  /** The run has params, or the task has upstream tasks: the host fetches what they left. */
  readonly hasParams: boolean;
  /**
   * Numbers, as in the spec, of its upstream tasks that have succeeded: it may see their outputs, and no others (I36). A mapped
   * task seen from outside is here when one of its instances has succeeded, and below too when one has failed.
   */
  readonly succeededUpstream: readonly number[];
  /** Numbers of those of its upstream tasks that failed, or never ran because of a failure. */
  readonly failedUpstream: readonly number[];
  /** And of those that were skipped, or have not ended. */
  readonly missingUpstream: readonly number[];
  /** What it takes of its worker; null: a slot. */
  readonly booking: Booking | null;
  /** Why it goes to this worker; null for most of a flood. For people: the worker is not told. */
  readonly decision: ClaimDecision | null;
  /** What the attempt may have of memory; 0 where nothing is said. */
  readonly memoryBytes: number;
  /** What a hook is told; null for any other task. */
  readonly hookEvent: HookEventDetails | null;
  /** Null unless the task looks at it, or the run has a window. */
  readonly runInfo: RunInfo | null;
  /** What an earlier attempt has left for this one; the host fetches it. */
  readonly checkpoint: CheckpointRef | null;
}

export interface KillAttempt {
  readonly kind: 'KillAttempt';
  readonly gateway: NodeId | null;
  readonly workerId: WorkerId;
  readonly claim: ClaimRef;
  readonly reason: 'cancelled' | 'timeout' | 'stuck' | 'lost' | 'superseded' | 'preempted';
  readonly graceMs: number;
}

/** Lent slots that were not used. */
export interface ReturnSlots {
  readonly kind: 'ReturnSlots';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  readonly count: number;
  /** With these of its resources. */
  readonly room?: Amounts;
  /** The stream that they were lent from. */
  readonly stream: number;
}

/**
 * A task runs another dag. `begin`: for the first time, as far as this owner knows; `ask`: it may have begun, word of its end may
 * have been lost; `stop`: it is to end, or never to begin.
 */
export interface SendCall {
  readonly kind: 'SendCall';
  readonly step: 'begin' | 'ask' | 'stop';
  /** With `stop`: what closes the child run is not waited for either. */
  readonly force: boolean;
  readonly claim: ClaimRef;
  /** With the claim it names the child run: see `childUid`. */
  readonly claimedAt: Instant;
  readonly runUid: RunUid;
  readonly version: Version;
  readonly priority: Priority;
  readonly depth: number;
  /** As for an assignment. */
  readonly specNo: TaskNo;
  readonly map: MapClaim | null;
  readonly hasParams: boolean;
  readonly runInfo: RunInfo | null;
  readonly succeededUpstream: readonly number[];
  readonly failedUpstream: readonly number[];
  readonly missingUpstream: readonly number[];
}

/** A child run has ended, or was set aside. */
export interface TellParent {
  readonly kind: 'TellParent';
  readonly parent: ParentRef;
  readonly dag: string;
  readonly runId: RunId;
  readonly uid: RunUid;
  readonly end: RunOutcome | 'set_aside';
  /** Its leaves that succeeded: what they left is its output. */
  readonly outputs: readonly { readonly name: string; readonly at: TaskOutputs }[];
  /** Names of some tasks that failed. */
  readonly failed: readonly string[];
}

/** An asset is fresh: all dags that wait for it are to be told. */
export interface TellAsset {
  readonly kind: 'TellAsset';
  /** Where it was produced. */
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly asset: AssetState;
}

/** A shard speaks to the home of a limit: see `AskSlots`. */
export interface AskHome extends Omit<AskSlots, 'kind' | 'shard'> {
  readonly kind: 'AskHome';
}

/** The home of a limit speaks to a shard. */
export interface TellSlots extends Omit<TakeSlots, 'kind'> {
  readonly kind: 'TellSlots';
}

export type Effect =
  | SendAssignment
  | KillAttempt
  | ReturnSlots
  | SendCall
  | TellParent
  | TellAsset
  | AskHome
  | TellSlots;

export interface HookEventDetails {
  readonly on: HookEvent;
  /** Null for a hook of the run. */
  readonly taskNo: TaskNo | null;
  /** What people call that task: `load`, `load[3]`. */
  readonly taskName: string | null;
  /** Of the task, or of the run; null when it has none yet. */
  readonly outcome: TaskState | null;
  /** Number of the attempt that the event is about; for an event of the run, how often it has happened so far; 0 for none. */
  readonly attemptNo: AttemptNo;
  /** The tasks of the run that failed by themselves, for a hook of the run. */
  readonly failed: readonly number[];
}
