/** A dag's schema for its params, from its definition. Whether its schedules meet it: see `read-schedules.ts`. */
import type { Problem } from '../errors.ts';
import { checkParams } from '../params/check.ts';
import type { ParamsSchema } from '../params/params-schema.ts';
import { problemsOfSchema } from '../params/schema.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';

interface ReadParams {
  readonly paramsSchema?: ParamsSchema;
  /** JSON text of what its defaults give: a scheduled run has nothing else, unless its schedule says so. */
  readonly defaultParams?: string;
}

export function readParamsSchema({ params }: ParsedDagDefinition, problems: Problem[]): ReadParams {
  if (params === undefined) return {};
  const found = problemsOfSchema(params, 'params');
  problems.push(...found);
  if (found.length > 0) return {};
  const byDefault = checkParams(params, null);
  if (!byDefault.ok || byDefault.params === null) return { paramsSchema: params };
  return { paramsSchema: params, defaultParams: JSON.stringify(byDefault.params) };
}
