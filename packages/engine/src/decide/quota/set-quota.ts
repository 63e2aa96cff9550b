/**
 * Quotas at the home of their tenant: they are set, raised for a while, and used. A level that rises is told at once; one that falls
 * only after a while, so that work near a limit does not make an event each second.
 */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import { quotas, type StoredQuota } from '../../model/change/quota.ts';
import type { RaiseQuota, SetQuota, SetQuotas, TakeQuota } from '../../model/command.ts';
import type { Actor, Instant } from '../../model/ids.ts';
import { MAX_LIMIT, tenantLimit } from '../../model/limit.ts';
import { levelOf, QUOTA_LEVELS, type QuotaLevel, type QuotaLimits, quotaCount } from '../../model/quota.ts';
import type { State } from '../../tables/state.ts';
import { changeLimit } from '../limit/give-slots.ts';
import type { Recorder } from '../recorder.ts';
import { countUnder, refusedBy } from './count.ts';

const EXPIRY = 'expiry' as Actor;
const LOOK_MS = 1_000;
/** A quota that is less used than was told for so long is told anew. */
const CALM_MS = 30_000;

/** The host has read which quotas there are. */
export function setQuotas({ state }: Recorder, command: SetQuotas): void {
  state.quotas.set(command.quotas);
}

export function setQuota(recorder: Recorder, command: SetQuota): Answer {
  const { soft, hard } = command;
  const known = rowOf(recorder.state, command);
  if (known === undefined && soft === null && hard === null) return refuse('QUOTA_NOT_FOUND', command.quota);
  if (known?.soft === soft && known.hard === hard && known.raisedUntil === null) return DONE;
  record(recorder, command, { soft, hard });
  return DONE;
}

export function raiseQuota(recorder: Recorder, command: RaiseQuota): Answer {
  const known = rowOf(recorder.state, command);
  if (known === undefined) return refuse('QUOTA_NOT_FOUND', command.quota);
  record(recorder, command, known, command);
  return DONE;
}

/** Counts first: what is on its way counts, whatever becomes of it. */
export function takeQuota(recorder: Recorder, command: TakeQuota): Answer {
  const { state } = recorder;
  const { shard, tenantId, quota, count } = command;
  const row = rowOf(state, command);
  if (row === undefined) return DONE;
  const limit = quotaCount(tenantId, quota);
  const counter = state.quotas.counts.getOrAdd(shard, limit);
  const refused = refusedBy(recorder, counter, { quota, hard: limitsOf(row, state.now).hard, count });
  if (refused !== null) {
    settleLevel(recorder, row, { used: counter.count, isRefused: true });
    return refused;
  }
  countUnder(recorder, { shard, limit, quota, count });
  settleLevel(recorder, row, { used: state.quotas.counts.count(limit) });
  return DONE;
}

/** With a tick: raises that are over, and quotas that are used more or less than was told. */
export function lookAtQuotas(recorder: Recorder): void {
  const { state } = recorder;
  if (state.mono < state.quotas.lookAt || isNone(state)) return;
  state.quotas.lookAt = state.mono + LOOK_MS;
  for (const row of [...state.rows.all(quotas)]) {
    if (recorder.isFull()) return;
    if (row.raisedUntil !== null && row.raisedUntil <= state.now) {
      record(recorder, { ...row, actor: EXPIRY }, row);
      continue;
    }
    const used = usedOf(state, row);
    if (used !== null) settleLevel(recorder, row, { used });
  }
}

/** By the clock that never jumps. */
export function nextLookAt(state: State): number | null {
  return isNone(state) ? null : state.quotas.lookAt;
}

function isNone({ rows }: State): boolean {
  for (const _ of rows.all(quotas)) return false;
  return true;
}

function rowOf({ rows }: State, { shard, tenantId, quota }: Pick<StoredQuota, 'shard' | 'tenantId' | 'quota'>) {
  return rows.get(quotas, { shard, tenantId, quota });
}

/** Those that hold now. */
function limitsOf({ soft, hard, raisedSoft, raisedHard, raisedUntil }: StoredQuota, now: Instant): QuotaLimits {
  return raisedUntil !== null && raisedUntil > now ? { soft: raisedSoft, hard: raisedHard } : { soft, hard };
}

/** Null: it is counted elsewhere, and nothing was heard of it. */
function usedOf({ quotas: table, limits }: State, { tenantId, quota }: StoredQuota): number | null {
  switch (quota) {
    case 'submits':
    case 'deploys':
      return table.counts.count(quotaCount(tenantId, quota));
    case 'tasks':
      return limits.homes.get(tenantLimit(tenantId))?.out() ?? 0;
    case 'runs':
    case 'fanout':
    case 'failures':
      return table.rule(tenantId, quota)?.used ?? null;
  }
}

interface Raise extends QuotaLimits {
  readonly until: Instant;
  readonly reason: string;
}

function record(
  recorder: Recorder,
  { shard, tenantId, quota, actor }: Pick<SetQuota, 'shard' | 'tenantId' | 'quota' | 'actor'>,
  { soft, hard }: QuotaLimits,
  raise: Raise | null = null,
): void {
  const { state } = recorder;
  const level = rowOf(state, { shard, tenantId, quota })?.level ?? 'under';
  const raised = { raisedSoft: raise?.soft ?? null, raisedHard: raise?.hard ?? null };
  const ofRaise = { ...raised, raisedUntil: raise?.until ?? null, reason: raise?.reason ?? null };
  recorder.record({
    kind: 'QuotaSet',
    ...{ shard, tenantId, quota, soft, hard, ...ofRaise, level, actor, at: state.now },
  });
  if (quota !== 'tasks') return;
  const now = raise ?? { soft, hard };
  // Without a hard limit the home counts what runs all the same.
  const slots = now.hard ?? (now.soft === null ? null : MAX_LIMIT);
  changeLimit(recorder, { shard, tenantId, limit: tenantLimit(tenantId), slots, actor });
}

function settleLevel(
  recorder: Recorder,
  row: StoredQuota,
  { used, isRefused = false }: { readonly used: number; readonly isRefused?: boolean },
): void {
  const { state } = recorder;
  const { shard, tenantId, quota } = row;
  const limits = limitsOf(row, state.now);
  const level: QuotaLevel = isRefused ? 'hard' : levelOf(used, limits);
  const [now, told] = [level, row.level].map((one) => QUOTA_LEVELS.indexOf(one)) as [number, number];
  const name = `${quota}/${tenantId}`;
  if (now >= told) state.quotas.lowerSince.delete(name);
  else {
    const since = state.quotas.lowerSince.get(name) ?? state.mono;
    state.quotas.lowerSince.set(name, since);
    if (state.mono - since < CALM_MS) return;
    state.quotas.lowerSince.delete(name);
  }
  if (now === told) return;
  recorder.record({ kind: 'QuotaPassed', shard, tenantId, quota, level, used, ...limits, at: state.now });
}
