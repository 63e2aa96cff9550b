import type { AttemptNo, Fence, TaskNo } from '../ids.ts';
import { f } from './fields.ts';

/** Fields that many kinds of change begin with: which task. */
export const taskFields = { runId: f.run, taskNo: f.uint<TaskNo>() } as const;

/** And which attempt of it. */
export const claimFields = { ...taskFields, attemptNo: f.uint<AttemptNo>(), fence: f.uint<Fence>() } as const;
