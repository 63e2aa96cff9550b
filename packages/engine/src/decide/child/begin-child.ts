/** Commands on the shard of a called dag: create the run once, and report its state. */
import type { Answer } from '../../model/answer.ts';
import { refuse } from '../../model/answer.ts';
import type { AskChild, BeginChild } from '../../model/command.ts';
import type { Actor, RunId, RunRow } from '../../model/ids.ts';
import type { StoredRun } from '../../model/stored.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { ENDED, SET_ASIDE } from '../../tables/run/run-table.ts';
import { mayCreate } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { cancelRun } from '../run/cancel.ts';
import { areChecked, createRun } from '../run/create.ts';
import { recordClosing } from '../run/record-closing.ts';
import { bringBack } from '../run/reopen.ts';
import { tellParent, tellSetAside } from './tell-parent.ts';

/** Live runs of one dag that others have made: a dag that calls itself twice would double them with each step down. */
export const MAX_LIVE_CHILDREN = 10_000;
const PARENT = 'parent' as Actor;

const LIVE: Answer = { ok: true, kind: 'child', state: 'live' };
const OVER: Answer = { ok: true, kind: 'child', state: 'ended' };
const ABSENT: Answer = { ok: true, kind: 'child', state: 'absent' };
const FULL: Answer = { ok: true, kind: 'child', state: 'full' };

export function beginChild(recorder: Recorder, command: BeginChild): Answer {
  const known = findChild(recorder, command);
  if (known !== null) return speakOf(recorder, known);
  const dag = dagOf(recorder, command);
  if (dag === undefined || dag.isRetired) return refuse('DAG_NOT_FOUND', dag?.name);
  if (!areChecked(dag, command.checkedFor)) return refuse('PARAMS_UNCHECKED', String(dag.current.no));
  if (dag.liveChildren >= MAX_LIVE_CHILDREN || !mayCreate(recorder, dag)) return FULL;
  makeChild(recorder, dag, command, command.params);
  return LIVE;
}

export function askChild(recorder: Recorder, command: AskChild): Answer {
  const known = findChild(recorder, command);
  if (known === null) {
    const dag = dagOf(recorder, command);
    if (!command.stop || dag === undefined) return ABSENT;
    // A call that is still on its way must find that it is over: so there is a run, which was cancelled before it began. It is only
    // a mark: no hook of the dag runs for it.
    const runId = makeChild(recorder, dag, command, null, { isMark: true });
    recordClosing(recorder, recorder.state.runs.find(runId), { outcome: 'cancelled', actor: PARENT });
    cancelRun(recorder, { kind: 'CancelRun', tenantId: command.tenantId, runId, force: true, actor: PARENT });
    return LIVE;
  }
  const { runs } = recorder.state;
  const isLive = typeof known === 'number' && runs.phase[known] !== ENDED;
  // One that nobody waits for goes its own way once it has begun.
  if (isLive && command.stop && command.parent.waits) {
    const runId = runs.id[known] as RunId;
    cancelRun(recorder, {
      kind: 'CancelRun',
      tenantId: command.tenantId,
      runId,
      ...(command.force && { force: true as const }),
      actor: PARENT,
    });
    return LIVE;
  }
  return speakOf(recorder, known);
}

function dagOf({ state }: Recorder, { dagId, tenantId }: BeginChild | AskChild): Dag | undefined {
  const dag = state.dags.get(dagId);
  return dag?.tenantId === tenantId ? dag : undefined;
}

function makeChild(
  recorder: Recorder,
  dag: Dag,
  call: BeginChild | AskChild,
  params: string | null,
  mark: { readonly isMark?: true } = {},
): RunId {
  const { uid, priority, parent } = call;
  const run = { uid, priority, cause: 'parent', firesAt: null, params, actor: PARENT, parent } as const;
  return createRun(recorder, dag, { ...run, ...mark });
}

/** In memory, or as its row is; null when there is none. */
function findChild({ state, runsByUid }: Recorder, { uid }: BeginChild | AskChild): RunRow | StoredRun | null {
  return state.runs.children.get(uid) ?? runsByUid.get(uid) ?? null;
}

/** One that has ended is told of once more: whoever asks has not heard of it. */
function speakOf(recorder: Recorder, known: RunRow | StoredRun): Answer {
  const { runs } = recorder.state;
  if (typeof known === 'number') {
    if (runs.has(known, SET_ASIDE)) return speakOfSetAside(recorder, runs.parents.get(known), known);
    if (runs.phase[known] !== ENDED) return LIVE;
    tellParent(recorder, known);
    return OVER;
  }
  // Live, and yet not in memory: it can't be loaded, and is set aside or about to be.
  if (known.setAside || known.phase !== 'ended') return speakOfSetAside(recorder, known.parent, known);
  tellParent(recorder, bringBack(recorder, known));
  return OVER;
}

function speakOfSetAside(recorder: Recorder, parent: StoredRun['parent'], child: RunRow | StoredRun): Answer {
  if (parent !== undefined) tellSetAside(recorder, parent, child);
  return OVER;
}
