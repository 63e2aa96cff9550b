/** Values with references to an event: `{ order: '${{ event.data.id }}' }`. What they point to is data and stays data (I69). */
import type { Problem } from '../errors.ts';
import { MAX_JSON_DEPTH, MAX_PARAMS_BYTES } from '../limits.ts';
import { jsonFault } from './common.ts';
import { EMBEDDED, follow, hasReference, type Path, readSteps, UNCLOSED } from './references.ts';

const WHOLE = /^\s*\$\{\{([^{}]*)\}\}\s*$/;
const FORM = 'write ${{ event.data.<name> }}, ${{ event.type }} or another field of the event';

/** The path of `event.data.x`; a text says what is wrong with it. */
function readPath(inner: string): Path | string {
  const text = inner.trim();
  const root = /^event(?![A-Za-z0-9_-])/.exec(text);
  if (root === null) return `"${text.slice(0, 100)}" is not known in a trigger: ${FORM}`;
  const { steps, length } = readSteps(text.slice(root[0].length));
  const rest = text.slice(root[0].length + length);
  return rest === '' ? steps : `"${rest.slice(0, 100)}" is not a valid step: write .name, [0] or ["a name"]`;
}

/** Reports each reference that can't be one, at its place. */
export function checkEventTemplate(value: unknown, path: string, problems: Problem[]): void {
  const fault = jsonFault(value, { bytes: MAX_PARAMS_BYTES });
  if (fault !== null) problems.push({ path, message: fault });
  else checkPart(value, path, problems, 0);
}

function checkPart(value: unknown, path: string, problems: Problem[], depth: number): void {
  if (depth > MAX_JSON_DEPTH) return;
  if (typeof value === 'string') {
    if (!hasReference(value)) return;
    const faults = [...value.matchAll(EMBEDDED)].map((match) => readPath(match[1] ?? ''));
    const left = value.replace(EMBEDDED, '');
    if (hasReference(left)) faults.push(UNCLOSED);
    for (const message of faults) if (typeof message === 'string') problems.push({ path, message });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    checkPart(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, problems, depth + 1);
  }
}

/** What is wrong with a value such as `dedupe`: a path with or without braces, or a text with references. */
export function eventValueFault(text: string): string | null {
  const problems: Problem[] = [];
  checkEventTemplate(braced(text), '', problems);
  return problems[0]?.message ?? null;
}

/** A reference alone gives the value itself, null where there is none; within a text it becomes text. */
export function fillEventTemplate(value: unknown, event: object): unknown {
  if (typeof value === 'string') return hasReference(value) ? fillText(value, event) : value;
  if (Array.isArray(value)) return value.map((inner) => fillEventTemplate(inner, event));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fillEventTemplate(inner, event)]));
}

function fillText(text: string, event: object): unknown {
  const whole = WHOLE.exec(text);
  if (whole !== null) return valueAt(whole[1] ?? '', event) ?? null;
  return text.replace(EMBEDDED, (_, inner: string) => asText(valueAt(inner, event)));
}

function valueAt(inner: string, event: object): unknown {
  const path = readPath(inner);
  return typeof path === 'string' ? undefined : follow(event, path);
}

const asText = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The value of `dedupe` or `key` for one event, as text; empty where the event has none. */
export function eventValue(text: string, event: object): string {
  return asText(fillEventTemplate(braced(text), event));
}

const braced = (text: string): string => (hasReference(text) ? text : `\${{ ${text} }}`);
