/** A. Schedules and windows. */
import {
  type Change,
  type DagId,
  missedPolicyOf,
  type OverlapPolicy,
  type RunCreated,
  type RunId,
  type ScheduleId,
  type ScheduleNo,
  type ScheduleRemoved,
  type ScheduleSet,
  scheduleIdOf,
  type WindowDecided,
} from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import { MAX_DEFAULT_JITTER_MS } from '../world/world.ts';
import type { Checker, Scene } from './checker.ts';
import { dayOf, instantOfDay, jitterOf, timeOfDay, windowAfter, windowsIn } from './window-model.ts';

const STUCK_MS = 20_000;
/** A window that is due is decided within this time. */
const DECIDED_MS = 1_500;
const CLOCKS_DIFFER_MS = 60_000;

/** How many missed windows may run. */
const ALLOWED = { skip: () => 0, most_recent: () => 1, catchup: (limit: number) => limit } as const;

export function schedules(scene: Scene): Checker {
  const { ledger, world } = scene;
  /** Windows that have a run, over all versions of a schedule. */
  const fired = new Map<ScheduleId, Set<number>>();
  /** `schedule/window`: has a run, whoever created it. */
  const withRun = new Set<string>();
  /** `dag/window`: somebody wanted a run for it. */
  const chosen = new Set<string>();
  /** Dags of which somebody wanted one. */
  const wereChosen = new Set<DagId>();
  /** Opened again, runs come back beside others. */
  const wasReopened = new Set<RunId>();
  /** Of schedules that are gone: a run for the last window of one may be created in the commit that removes it. */
  const policyLeft = new Map<ScheduleId, OverlapPolicy>();
  /** Of runs for windows: the policy of their schedule when they were created. */
  const policyOf = new Map<RunId, OverlapPolicy>();
  /** `schedule expression day`: the time of that day has a run. */
  const firedDays = new Set<string>();
  /** The last number that a dag has given to a schedule. */
  const lastNo = new Map<DagId, number>();
  /** By dag: what schedules that were removed had decided. */
  const decidedUntil = new Map<DagId, number>();
  /** When something was done to the world last. */
  let faultAt = Number.NEGATIVE_INFINITY;

  function checkWindow(change: WindowDecided, { changes }: JournaledCommit): void {
    const { dagId, name, firesAt, untilAt, runId, skipped, count, at } = change;
    const id = scheduleIdOf(change);
    const schedule = ledger.schedules.get(id);
    const what = `window ${firesAt} of schedule ${dagId}/${name}`;
    if (schedule === undefined) return scene.fail('I6', `${what} was decided though the schedule is removed`);
    if (schedule.name !== name) scene.fail('I6', `${what} was decided for schedule ${schedule.name}`);
    const days = daysOf(schedule, firesAt);
    if (days !== null) checkDaily(change, days);
    const isFirst = schedule.spec.runNow === true && schedule.decidedUntil === firesAt - 1 && schedule.at === firesAt;
    const next = isFirst ? firesAt : nextWindow(schedule);
    if (days === null && firesAt !== next) scene.fail('I2', `${what} was decided, but the next one was ${next}`);
    if ((runId === null) === (skipped === null)) scene.fail('I2', `${what} ended as neither or both`);
    const covered = windowsIn(schedule.spec, firesAt, untilAt);
    if (days === null && count !== 0 && count !== covered)
      scene.fail('I2', `${what} and ${count} in all, but there are ${covered}`);
    if (firesAt > at) scene.fail('I4', `${what} was decided early, at ${at}`);
    if (runId === null) return;
    // An edit, and whoever asks for windows of the past, has those decided whose time has come, whatever their jitter.
    const isAltered = changes.some(
      (other) =>
        ((other.kind === 'ScheduleSet' || other.kind === 'ScheduleRemoved') && scheduleIdOf(other) === id) ||
        (other.kind === 'BackfillStarted' && other.dagId === dagId),
    );
    const lateMs = isFirst || isAltered || wereChosen.has(dagId) ? 0 : jitterOf(schedule, firesAt);
    if (at < firesAt + lateMs) scene.fail('I4', `${what} fired at ${at}, its jitter is ${lateMs} ms`);
    // A resume decides about the windows of the pause first.
    const isResumed = changes.some(
      (other) => other.kind === 'ScheduleSet' && scheduleIdOf(other) === id && !other.paused,
    );
    if (schedule.paused && !isResumed) scene.fail('I6', `${what} fired though the schedule is paused`);
    const known = fired.get(id) ?? new Set();
    fired.set(id, known);
    if (known.has(firesAt)) scene.fail('I1', `${what} has a second run, ${runId}`);
    known.add(firesAt);
  }

  /** By each edition of the zone data so far: the days of which this may be the window. Null for one that fires at no time of the day. */
  function daysOf({ spec }: ScheduleSet, at: number): readonly number[] | null {
    const timeMs = timeOfDay(spec);
    return timeMs === null ? null : latersMs().flatMap((laterMs) => dayOf(timeMs, at, laterMs) ?? []);
  }

  const latersMs = () => (world.zones.edition === 1 ? [0] : [0, world.zones.laterMs]);

  /** A time of the day has one run, also if newer zone data moves it after it was decided. */
  function checkDaily(change: WindowDecided, days: readonly number[]): void {
    const { dagId, name, firesAt, runId } = change;
    const what = `window ${firesAt} of schedule ${dagId}/${name}`;
    const { spec } = ledger.schedules.get(scheduleIdOf(change))!;
    if (days.length === 0) return scene.fail('I3', `${what} is no time of ${String(spec.cron)} by any zone data`);
    if (runId === null) return;
    for (const day of days) {
      const known = `${scheduleIdOf(change)} ${String(spec.cron)} ${day}`;
      if (firedDays.has(known)) scene.fail('I3', `${what} has a second run, ${runId}, for the same time of the day`);
      firedDays.add(known);
    }
  }

  /** The next one that it may decide. A time of the day: the first that has no run yet, by the zone data that has it later. */
  function nextWindow(schedule: ScheduleSet): number {
    const { spec, decidedUntil: until, fired: count } = schedule;
    const timeMs = timeOfDay(spec);
    if (timeMs === null || count >= (spec.limit ?? Number.POSITIVE_INFINITY)) return nextOf(schedule);
    const nextBy = (laterMs: number) => {
      let day = Math.floor((until - timeMs - laterMs) / 86_400_000) + 1;
      while (firedDays.has(`${scheduleIdOf(schedule)} ${String(spec.cron)} ${day}`)) day += 1;
      return instantOfDay(timeMs, day, laterMs);
    };
    return Math.max(...latersMs().map(nextBy));
  }

  /** Before a schedule is altered, all that was due by the old one is decided. */
  function checkSettled(change: ScheduleSet | ScheduleRemoved): void {
    const old = ledger.schedules.get(scheduleIdOf(change));
    // A delayed run records no window: `a-delayed.ts`.
    if (old === undefined || old.spec.run !== undefined) return;
    const next = nextWindow(old);
    if (next > change.at) return;
    scene.fail(
      'I2',
      `window ${next} of schedule ${old.dagId}/${old.name} vanished when it was altered at ${change.at}`,
    );
  }

  function checkSet(change: ScheduleSet): void {
    const { dagId, name, scheduleNo, revision, origin } = change;
    const what = `schedule ${dagId}/${name}`;
    const old = ledger.schedules.get(scheduleIdOf(change));
    checkSettled(change);
    if (old === undefined) {
      if (scheduleNo <= (lastNo.get(dagId) ?? 0))
        scene.fail('I1', `${what} has number ${scheduleNo}, which was given before`);
      lastNo.set(dagId, scheduleNo);
      for (const other of ledger.schedules.values()) {
        if (other.dagId === dagId && other.name === name) scene.fail('I6', `${what} is there twice`);
      }
    } else {
      if (revision !== old.revision + 1) scene.fail('I6', `${what} went from revision ${old.revision} to ${revision}`);
      if (origin !== old.origin || name !== old.name)
        scene.fail('I6', `${what} of ${origin} was ${old.name} of ${old.origin}`);
    }
    // Times that somebody gave were asked for one by one: they begin where the first of them is.
    if ((old === undefined && change.spec.at !== undefined) || change.spec.run !== undefined) return;
    const before = old?.decidedUntil ?? decidedUntil.get(dagId) ?? 0;
    // One with `runNow` decides about this very instant next.
    const until = change.decidedUntil + (old === undefined && change.spec.runNow === true ? 1 : 0);
    if (until < Math.max(change.at, before)) scene.fail('I6', `${what} may decide windows again`);
  }

  /**
   * Windows that were missed go by the policy. A late window was missed, unless its owner looked at it in time and could not
   * commit: for longer than `STUCK_MS` nobody stays the owner in that way. Clocks of two owners differ by up to 60 s.
   */
  function checkCatchUp({ changes }: JournaledCommit): void {
    const late = new Map<ScheduleId, number>();
    for (const change of changes) {
      if (change.kind !== 'WindowDecided' || change.runId === null) continue;
      const id = scheduleIdOf(change);
      const { jitterMs = MAX_DEFAULT_JITTER_MS } = ledger.schedules.get(id)?.spec ?? {};
      const inTimeMs = world.settings.windowGraceMs + STUCK_MS + CLOCKS_DIFFER_MS + jitterMs;
      if (change.at - change.firesAt <= inTimeMs) continue;
      late.set(id, (late.get(id) ?? 0) + 1);
    }
    for (const [id, count] of late) {
      const schedule = ledger.schedules.get(id);
      if (schedule === undefined) continue;
      const { spec, dagId, name } = schedule;
      const allowed = ALLOWED[missedPolicyOf(spec)](spec.missedLimit);
      // The commit may hold the last windows of one version and the first of another.
      if (count > allowed && !changes.some((change) => change.kind === 'ScheduleSet')) {
        scene.fail('I5', `${count} late windows of schedule ${dagId}/${name} fired, ${allowed} may`);
      }
    }
  }

  function checkActive(dagId: DagId, runId: RunId): void {
    const limit = ledger.dags.get(dagId)?.spec.maxActiveRuns ?? null;
    if (limit === null) return;
    let active = 0;
    for (const run of ledger.live) if (run.created.dagId === dagId && run.isAdmitted && !run.isSetAside) active += 1;
    if (active >= limit) scene.fail('I7', `run ${runId} was admitted though dag ${dagId} has ${active} of ${limit}`);
  }

  /** A window has one run, whoever creates it. Only a backfill makes another. */
  function checkOnly({ runId, dagId, scheduleNo = 1 as ScheduleNo, firesAt, cause, at }: RunCreated): void {
    if (firesAt === null) return;
    const name = `${scheduleIdOf({ dagId, scheduleNo })}/${firesAt}`;
    if (cause !== 'backfill' && withRun.has(name)) scene.fail('I1', `window ${name} has a second run, ${runId}`);
    withRun.add(name);
    if (cause !== 'api') return;
    if (!chosen.has(`${dagId}/${firesAt}`)) scene.fail('I12', `run ${runId} is for window ${name}, which nobody chose`);
    if (firesAt > at) scene.fail('I4', `run ${runId} of window ${name} was created early, at ${at}`);
  }

  /** A run of a window beside others of its dag, if its schedule does not want that. */
  function checkBeside({ runId, dagId, cause }: RunCreated, isActive: boolean): void {
    const ifRunning = policyOf.get(runId) ?? 'allow';
    // One that somebody asked for waits; a window that comes by itself is skipped.
    if (ifRunning === 'allow' || ((ifRunning !== 'skip' || cause === 'api') && !isActive)) return;
    for (const other of ledger.live) {
      const { created, isAdmitted, isSetAside } = other;
      if (created.dagId !== dagId || created.runId === runId || !isAdmitted || isSetAside) continue;
      scene.fail('I7', `run ${runId} (${ifRunning}) is beside run ${created.runId} of dag ${dagId}`);
    }
  }

  /** What its schedule wanted when the window was decided: an edit is for later ones. */
  function notePolicy({ runId, dagId, scheduleNo, cause, firesAt, waits }: RunCreated): void {
    if (firesAt === null || cause === 'backfill' || scheduleNo === undefined) return;
    const id = scheduleIdOf({ dagId, scheduleNo });
    const ifRunning = ledger.schedules.get(id)?.spec.ifRunning ?? policyLeft.get(id) ?? 'allow';
    policyOf.set(runId, ifRunning);
    if ((waits === true) !== (ifRunning !== 'allow')) {
      scene.fail(
        'I7',
        `run ${runId} says ${waits === true ? 'that it waits' : 'nothing'}, and its schedule ${ifRunning}`,
      );
    }
  }

  /** A window that comes by itself while a run of its dag waits: for requirements, or for a place. `cancel_running` has cancelled that one. */
  function checkBehind({ runId, dagId, scheduleNo, cause }: RunCreated): void {
    if (cause !== 'schedule' || scheduleNo === undefined) return;
    const { ifRunning = 'allow' } = ledger.schedules.get(scheduleIdOf({ dagId, scheduleNo }))?.spec ?? {};
    if (ifRunning === 'allow' || ifRunning === 'queue_all') return;
    for (const { created, isAdmitted, requires, phase, isSetAside } of ledger.live) {
      if (created.dagId !== dagId || created.runId === runId || isSetAside || phase !== 'open') continue;
      if (requires === null && isAdmitted) continue;
      const what = requires === null ? 'to be admitted' : 'for its requirements';
      scene.fail('I7', `run ${runId} (${ifRunning}) came while run ${created.runId} waits ${what}`);
    }
  }

  return {
    invariants: ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I12'],
    onChange(change: Change, commit) {
      if (change.kind === 'WindowDecided') checkWindow(change, commit);
      else if (change.kind === 'ScheduleSet') checkSet(change);
      else if (change.kind === 'ScheduleRemoved') {
        checkSettled(change);
        const id = scheduleIdOf(change);
        const { spec, decidedUntil: until = 0 } = ledger.schedules.get(id) ?? {};
        policyLeft.set(id, spec?.ifRunning ?? 'allow');
        decidedUntil.set(change.dagId, Math.max(until, decidedUntil.get(change.dagId) ?? 0));
      } else if (change.kind === 'RunReopened') {
        wasReopened.add(change.runId);
        if (change.admitted) checkActive(ledger.run(change.runId).created.dagId, change.runId);
      } else if (change.kind === 'RunAdmitted') {
        const { created } = ledger.run(change.runId);
        checkActive(created.dagId, change.runId);
        if (!wasReopened.has(change.runId)) checkBeside(created, true);
      } else if (change.kind === 'RunCreated') {
        if (change.admitted) checkActive(change.dagId, change.runId);
        notePolicy(change);
        checkBeside(change, change.admitted);
        checkBehind(change);
        checkOnly(change);
        if (change.cause !== 'schedule') return;
        const isDecided = commit.changes.some(
          (other) => other.kind === 'WindowDecided' && other.runId === change.runId && other.firesAt === change.firesAt,
        );
        if (!isDecided) scene.fail('I1', `run ${change.runId} of window ${change.firesAt} was created without it`);
      }
    },
    onCommit: checkCatchUp,
    onHappening(happening) {
      if (happening.kind === 'fault') faultAt = world.now;
      if (happening.kind !== 'asked' || happening.ask.command.kind !== 'SubmitRuns') return;
      const { dagId, window } = happening.ask.command;
      if (window === undefined) return;
      chosen.add(`${dagId}/${window.at}`);
      wereChosen.add(dagId);
    },
    atEnd() {
      // A clock that was just set makes windows due at once.
      if (scene.health.wellForMs() < 10_000 || world.now - faultAt < DECIDED_MS) return;
      for (const schedule of ledger.schedules.values()) {
        if (schedule.paused) continue;
        const { owner } = ledger.shard(schedule.shard);
        const node = world.nodes.find((one) => one.nodeId === owner);
        const next = nextWindow(schedule);
        if (schedule.spec.at !== undefined && schedule.origin === 'api' && next === Number.POSITIVE_INFINITY) {
          scene.fail('I2', `schedule ${schedule.dagId}/${schedule.name} has no times left, and is still there`);
        }
        const isDue =
          next + (schedule.spec.jitterMs ?? MAX_DEFAULT_JITTER_MS) < (node?.process.wall() ?? 0) - DECIDED_MS;
        if (node !== undefined && isDue) {
          scene.fail(
            'I8',
            `window ${next} of schedule ${schedule.dagId}/${schedule.name} is due and nobody decides it`,
          );
        }
      }
    },
  };
}

/** The next one that it may decide; infinite when there is none, or when it has fired as often as it may. */
function nextOf({ spec, decidedUntil, fired }: ScheduleSet): number {
  const { limit = Number.POSITIVE_INFINITY } = spec;
  return fired >= limit ? Number.POSITIVE_INFINITY : windowAfter(spec, decidedUntil);
}
