/**
 * The rows that the changes of a batch make: one insert, update or delete per row, whatever happened to it within the batch.
 *
 * A run that was created here is inserted as it is at the end of the batch; one that was also ended here never has a
 * `live_run` row. A task is inserted if its first claim is here. Its row shows its newest attempt; an attempt after which
 * the task is tried again also gets an `attempt` row when it ends, for the next claim will overwrite the task's.
 */
import type { DagId, RunId, ScheduleId } from '../ids.ts';
import { FoldedTables } from '../table/fold-tables.ts';
import type { AddedFold, AddedRows } from './added.ts';
import type { AttemptEnded, AttemptMeasured, AttemptRow, AttemptRows, CheckpointSaved } from './attempt.ts';
import type { DagDeployed, DagFold, DagRows } from './dag.ts';
import type { DeadLetterClosed, DeadLetterRows, DeadLetterWritten } from './dead-letter.ts';
import type { DeadlineRows, TaskNote } from './deadline.ts';
import type { ManualRows, PauseSet, PrioritySet, RunForced, RunReopened, TaskCleared, TaskMarked } from './manual.ts';
import type { MapFold, MapRows } from './map.ts';
import type { PastRows, RunYielded } from './past.ts';
import type { PayloadRow, ReplacedPayload } from './payload.ts';
import type { CallbackDue, RunCreated, RunFold, RunNote, RunRows } from './run.ts';
import type { ScheduledDagFold, ScheduleFold, ScheduleRows, WindowDecided, WindowSkipped } from './schedule.ts';
import type { ShardRows, SilenceFold } from './shard.ts';
import type { SpeculativeRows, SpeculativeTookOver } from './speculative.ts';

type AllRows = DagRows &
  ScheduleRows &
  RunRows &
  AttemptRows &
  SpeculativeRows &
  ManualRows &
  DeadlineRows &
  MapRows &
  AddedRows &
  DeadLetterRows &
  PastRows &
  ShardRows;

export class FoldedRows implements AllRows {
  /** Of tables that have a description. */
  readonly tables = new FoldedTables();
  readonly deploys: DagDeployed[] = [];
  readonly dags = new Map<DagId, DagFold>();
  readonly schedules = new Map<ScheduleId, ScheduleFold>();
  readonly scheduledDags = new Map<DagId, ScheduledDagFold>();
  readonly windows: WindowDecided[] = [];
  readonly skippedWindows: WindowSkipped[] = [];
  readonly runs = new Map<RunId, RunFold>();
  readonly supersededAttempts: AttemptRow[] = [];
  readonly measured: AttemptMeasured[] = [];
  readonly takenOver: SpeculativeTookOver[] = [];
  readonly payloads: PayloadRow[] = [];
  readonly replaced: ReplacedPayload[] = [];
  readonly silence = new Map<string, SilenceFold>();
  readonly reopened: RunReopened[] = [];
  readonly forced: RunForced[] = [];
  readonly yielded: RunYielded[] = [];
  readonly cleared: TaskCleared[] = [];
  readonly failures = new Map<string, AttemptEnded>();
  readonly deadLetters: DeadLetterWritten[] = [];
  readonly closedDeadLetters: DeadLetterClosed[] = [];
  readonly callbacks: CallbackDue[] = [];
  readonly backfillRuns: RunCreated[] = [];
  readonly marked: TaskMarked[] = [];
  readonly pauses: PauseSet[] = [];
  readonly priorities: PrioritySet[] = [];
  readonly checkpoints = new Map<string, CheckpointSaved>();
  readonly maps = new Map<string, MapFold>();
  readonly added = new Map<RunId, AddedFold>();
  readonly taskNotes = new Map<string, TaskNote>();
  readonly runNotes = new Map<RunId, RunNote>();

  runOf(runId: RunId): RunFold {
    let run = this.runs.get(runId);
    if (run === undefined) {
      run = {
        runId,
        created: null,
        admitted: null,
        closing: null,
        ended: null,
        struck: null,
        claimed: false,
        tasks: null,
      };
      this.runs.set(runId, run);
    }
    return run;
  }
}
