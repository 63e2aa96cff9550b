/**
 * A dag expects events: at the times of a schedule, or never further apart than a span. Each event that comes is noted; what has
 * not come in time is recorded once, and the server sends that as an event of its own. After a break only the newest time counts:
 * nobody wants a hundred alarms for one night.
 */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import { assert } from '../../model/assert.ts';
import { expectations } from '../../model/change/expect.ts';
import type { ExpectationSet, StoredExpectation } from '../../model/change.ts';
import type { NoteEvent } from '../../model/command.ts';
import type { ExpectSpec } from '../../model/expect.ts';
import type { DagId, Instant } from '../../model/ids.ts';
import { compileTimetable, type Timetable } from '../../model/schedule/timetable.ts';
import { previousWindow, windowAfter } from '../../model/schedule/window-after.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { dueExpectations, expectationsOf } from '../../tables/expect/expectations.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';

/** Expectations that one tick looks at. */
const AT_ONCE = 100;

/** With a deploy: what stays as it is goes on, everything else begins now. */
export function setExpectations(recorder: Recorder, dag: Dag, wanted: readonly ExpectSpec[]): void {
  const { state } = recorder;
  const { shard, id: dagId, tenantId } = dag;
  const known = new Map(expectationsOf(state, dagId).map((one) => [one.name, one]));
  for (const spec of wanted) {
    const { name } = spec;
    const before = known.get(name);
    known.delete(name);
    if (before !== undefined && JSON.stringify(before.spec) === JSON.stringify(spec)) continue;
    const begun = { sinceAt: state.now, dueAt: dueAfter(state, dagId, spec, state.now), lastAt: null };
    recorder.record({ kind: 'ExpectationSet', shard, dagId, name, tenantId, spec, ...begun, at: state.now });
  }
  for (const { name } of known.values()) {
    recorder.record({ kind: 'ExpectationRemoved', shard, dagId, name, at: state.now });
  }
}

/** An event that is expected has come. */
export function noteEvent(recorder: Recorder, { shard, dagId, tenantId, name }: NoteEvent): Answer {
  const { state } = recorder;
  const known = state.rows.get(expectations, { shard, dagId, name });
  if (known === undefined || known.tenantId !== tenantId) return refuse('DAG_NOT_FOUND');
  const { now } = state;
  if (known.spec.withinMs !== undefined) {
    move(recorder, known, { sinceAt: now, dueAt: (now + known.spec.withinMs) as Instant, lastAt: now });
    return DONE;
  }
  // One is enough for its time.
  const hasCome = known.lastAt !== null && known.lastAt > known.sinceAt;
  if (!hasCome) move(recorder, known, { lastAt: Math.max(now, known.sinceAt + 1) as Instant });
  return DONE;
}

/** With a tick. */
export function checkExpectations(recorder: Recorder): void {
  const { state } = recorder;
  for (const known of dueExpectations(state, AT_ONCE)) {
    if (recorder.isFull()) return;
    if (known.spec.by === undefined) missWithin(recorder, known);
    else missBy(recorder, known);
  }
}

/** Told once: the next event begins anew. */
function missWithin(recorder: Recorder, known: StoredExpectation): void {
  miss(recorder, known, { sinceAt: known.sinceAt, dueAt: known.dueAt! });
  move(recorder, known, { dueAt: null });
}

function missBy(recorder: Recorder, known: StoredExpectation): void {
  const { state } = recorder;
  const { zoneData } = state.settings;
  const timetable = timetableOf(known.dagId, known.spec);
  const newest = previousWindow(timetable, (state.now + 1) as Instant, zoneData);
  const dueAt = newest === null || newest < known.dueAt! ? known.dueAt! : newest;
  // Others may have passed while nobody looked.
  const before = dueAt === known.dueAt ? known.sinceAt : (previousWindow(timetable, dueAt, zoneData) ?? known.sinceAt);
  const sinceAt = Math.max(before, known.sinceAt) as Instant;
  if (known.lastAt === null || known.lastAt <= sinceAt) miss(recorder, known, { sinceAt, dueAt });
  move(recorder, known, { sinceAt: dueAt, dueAt: dueAfter(state, known.dagId, known.spec, dueAt) });
}

function miss(recorder: Recorder, known: StoredExpectation, time: { sinceAt: Instant; dueAt: Instant }): void {
  const { shard, dagId, name, tenantId, spec } = known;
  recorder.record({ kind: 'EventMissed', shard, dagId, name, tenantId, spec, ...time, at: recorder.state.now });
}

type Moved = Partial<Pick<ExpectationSet, 'sinceAt' | 'dueAt' | 'lastAt'>>;

function move(recorder: Recorder, known: StoredExpectation, to: Moved): void {
  recorder.record({ kind: 'ExpectationSet', ...known, ...to, at: recorder.state.now });
}

/** Null for a timetable that has no more times. */
function dueAfter({ settings }: State, dagId: DagId, spec: ExpectSpec, after: Instant): Instant | null {
  if (spec.withinMs !== undefined) return (after + spec.withinMs) as Instant;
  return windowAfter(timetableOf(dagId, spec), after, settings.zoneData)?.at ?? null;
}

function timetableOf(dagId: DagId, { by, name }: ExpectSpec): Timetable {
  const compiled = compileTimetable(by!, `${dagId}/${name}`);
  assert(compiled.ok, 'an expectation that was deployed has a timetable');
  return compiled.timetable;
}
