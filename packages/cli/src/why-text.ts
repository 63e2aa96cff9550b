/** Why a task or a run does not continue, as the server says it, in one line of text. */
import type { TaskView } from '@signalbox/sdk';
import { short } from './output.ts';

type Why = TaskView['why'];

/** What everybody expects needs no words: a task that waits for its turn, or for a child that is named beside it. */
const EXPECTED: ReadonlySet<string> = new Set(['upstream', 'closing', 'child']);

export function whyText(why: Why): string {
  return why === null ? '' : short(why.message, 160);
}

/** For views that change while one looks: only what holds a task beyond its usual turn. */
export function holdText(why: Why): string {
  return why === null || EXPECTED.has(why.code) ? '' : whyText(why);
}
