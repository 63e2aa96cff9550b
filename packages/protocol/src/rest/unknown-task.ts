import type { Problem } from '../errors.ts';

/** A reference to a task that the dag does not have. `more` follows the sentence. */
export function unknownTask(path: string, name: string, more = ''): Problem {
  return { path, message: `there is no task ${name}${more}`, cause: { code: 'unknown_task', name } };
}
