/**
 * Checks params against the schema of their dag before they are sent. The engine accepts them only if they were checked for
 * its current version.
 */
import type { SubmitRuns, VersionNo } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import type { FastifyRequest } from 'fastify';
import type { CheckedTexts } from '../params/check-texts.ts';
import type { DagPlace } from './dag-lookup.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

type Items = SubmitRuns['items'];

export interface CheckedItems {
  readonly items: Items;
  readonly checkedFor?: VersionNo;
}

/**
 * A check of these items, to be made against one dag's schema after another until one is current. All of them together have the
 * budget of the request. Throws PARAMS_INVALID with the place of each fault; of a batch nothing is submitted then (I13).
 */
export function checkerOf(
  request: FastifyRequest,
  { params: checker, leftMs }: Pick<RestParts, 'params' | 'leftMs'>,
  dag: string,
  items: Items,
): (place: DagPlace) => Promise<CheckedItems> {
  const texts = items.map(({ params }) => params);
  const budget = checker.budgetFor(request, texts);
  return async ({ params: wanted }) => {
    if (wanted === undefined || wanted === null) return { items };
    const { schema, versionNo } = wanted;
    const caller = callerOf(request).credential;
    const checked = await checker.check({ schema, texts, budget, caller, withinMs: leftMs(request) });
    const filled = filledOrThrow(checked, dag);
    return { items: items.map((item, no) => ({ ...item, params: filled[no] ?? null })), checkedFor: versionNo };
  };
}

/** The params with their defaults. */
function filledOrThrow(checked: CheckedTexts, dag: string): readonly (string | null)[] {
  switch (checked.kind) {
    case 'fit':
      return checked.texts;
    case 'wrong':
      throw new SignalboxError('PARAMS_INVALID', { dag, problems: checked.problems });
    case 'tooCostly': {
      const { path, message } = checked.problem;
      const problem = {
        path,
        message: `${message}: submit fewer runs at once, smaller params, or simplify the schema`,
      };
      throw new SignalboxError('PARAMS_INVALID', { dag, problems: [problem] });
    }
    case 'tooLarge':
      throw new SignalboxError('TOO_LARGE', {
        what: 'What the params are with their defaults',
        limit: `${checked.limit} bytes`,
      });
  }
}
