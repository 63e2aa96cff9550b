/** From `on` as it is written to the triggers of a spec. */
import type { Problem } from '../errors.ts';
import { checkParams } from '../params/check.ts';
import type { ParamsSchema } from '../params/params-schema.ts';
import { type AssetTriggerShape, readAssets } from './asset-fields.ts';
import { checkEventTemplate, eventValueFault } from './event-template.ts';
import { type ExpressionShape, readExpression } from './expression.ts';
import { Facts, tooManyFacts } from './facts.ts';
import type { Path } from './references.ts';
import type { ParsedTrigger, ParsedTriggers } from './triggers.ts';

export interface EventConditionShape {
  readonly text: string;
  /** Its params are the values at these paths of the event. */
  readonly expression: ExpressionShape;
  readonly paths: readonly Path[];
}

export interface EventTriggerShape {
  readonly name: string;
  readonly type: string;
  readonly source?: string;
  readonly where?: EventConditionShape;
  readonly params?: unknown;
  readonly dedupe?: string;
  readonly batch?: { readonly max: number; readonly withinMs: number; readonly key?: string };
  readonly debounce?: { readonly waitMs: number; readonly atMostMs: number; readonly key?: string };
  /** It waits for assets, and takes no events. */
  readonly assets?: AssetTriggerShape;
}

/** The plain form is stored as it always was, so that it is the same version. */
export type OnShape = { readonly event: string } | readonly EventTriggerShape[];

/** A stream of events that never pauses still gets a run after so many waits. */
const DEBOUNCE_WAITS = 10;
const DAY_MS = 86_400_000;

/** `params` is the dag's schema, if it is valid. */
export function readTriggers(
  on: ParsedTriggers | undefined,
  params: ParamsSchema | undefined,
  problems: Problem[],
): { readonly on?: OnShape } {
  if (on === undefined) return {};
  if (!Array.isArray(on) && Object.keys(on).length === 1 && on.event !== undefined && !on.event.endsWith('*'))
    return { on: { event: on.event } };
  const list = [on].flat();
  const triggers = list.map((trigger, no) => {
    const path = Array.isArray(on) ? `on[${no}]` : 'on';
    return trigger.assets === undefined
      ? readTrigger(trigger, path, problems)
      : readAssetTrigger(trigger, path, params, problems);
  });
  const names = new Set<string>();
  triggers.forEach(({ name }, no) => {
    if (names.has(name))
      problems.push({ path: `on[${no}].name`, message: `${name} is the name of another trigger: give each its own` });
    names.add(name);
  });
  return { on: triggers };
}

/** Those that take no events have none of the fields about them. */
function readAssetTrigger(
  { name = 'assets', assets = {}, ...others }: ParsedTrigger,
  path: string,
  params: ParamsSchema | undefined,
  problems: Problem[],
): EventTriggerShape {
  for (const [field, value] of Object.entries(others)) {
    if (value !== undefined)
      problems.push({ path: `${path}.${field}`, message: 'is for events, and does not go with assets' });
  }
  const checked = params === undefined ? null : checkParams(params, null);
  if (checked?.ok === false)
    problems.push({
      path: `${path}.assets`,
      message: 'start runs without params: give each param of the dag a default',
    });
  return { name, type: ASSET_TRIGGER, assets: readAssets(assets) };
}

/** In place of the type of an event. */
const ASSET_TRIGGER = 'asset';

export function triggerList(on: OnShape | undefined): readonly EventTriggerShape[] {
  return on === undefined || 'event' in on ? [] : on;
}

function readTrigger(trigger: ParsedTrigger, path: string, problems: Problem[]): EventTriggerShape {
  const type = trigger.type ?? trigger.event;
  if (type === undefined) problems.push({ path: `${path}.type`, message: 'is missing: name the type of the event' });
  if (trigger.type !== undefined && trigger.event !== undefined)
    problems.push({ path: `${path}.event`, message: 'means the same as type: give one of them' });
  if (trigger.batch !== undefined && trigger.debounce !== undefined)
    problems.push({ path: `${path}.debounce`, message: 'does not go with batch: give one of them' });
  if (trigger.params !== undefined) checkEventTemplate(trigger.params, `${path}.params`, problems);
  checkValue(trigger.dedupe, `${path}.dedupe`, problems);
  checkValue(trigger.batch?.key, `${path}.batch.key`, problems);
  const debounce = readDebounce(trigger.debounce, path, problems);
  const where = readWhere(trigger.where, `${path}.where`, problems);
  return {
    name: trigger.name ?? type ?? '',
    type: type ?? '',
    ...(trigger.source === undefined ? {} : { source: trigger.source }),
    ...(where === null ? {} : { where }),
    ...(trigger.params === undefined ? {} : { params: trigger.params }),
    ...(trigger.dedupe === undefined ? {} : { dedupe: trigger.dedupe }),
    ...(trigger.batch === undefined ? {} : { batch: readBatch(trigger.batch) }),
    ...(debounce === null ? {} : { debounce }),
  };
}

function readBatch({ max, within, key }: NonNullable<ParsedTrigger['batch']>) {
  return { max, withinMs: within, ...(key === undefined ? {} : { key }) };
}

function readDebounce(debounce: ParsedTrigger['debounce'], path: string, problems: Problem[]) {
  if (debounce === undefined) return null;
  const { wait, atMost, key } = typeof debounce === 'number' ? { wait: debounce } : debounce;
  checkValue(key, `${path}.debounce.key`, problems);
  if (atMost !== undefined && atMost < wait)
    problems.push({ path: `${path}.debounce.atMost`, message: 'must not be shorter than wait' });
  return {
    waitMs: wait,
    atMostMs: atMost ?? Math.min(wait * DEBOUNCE_WAITS, DAY_MS),
    ...(key === undefined ? {} : { key }),
  };
}

function checkValue(text: string | undefined, path: string, problems: Problem[]): void {
  const message = text === undefined ? null : eventValueFault(text);
  if (message !== null) problems.push({ path, message });
}

const NO_RUN = 'there is no run yet: a trigger looks at the event only, such as event.data.<name>';

export function readWhere(text: string | undefined, path: string, problems: Problem[]): EventConditionShape | null {
  if (text === undefined) return null;
  const facts = new Facts();
  const read = readExpression(text, {
    task: () => NO_RUN,
    error: () => NO_RUN,
    params: () => NO_RUN,
    event(steps) {
      const fact = facts.ofParams(steps);
      return fact === null ? tooManyFacts('the event') : { op: 'params', fact };
    },
  });
  if (read.ok) return { text: text.trim(), expression: read.expression, paths: facts.paramPaths };
  problems.push({ path, message: read.message });
  return null;
}
