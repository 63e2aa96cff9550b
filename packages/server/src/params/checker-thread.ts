/**
 * The thread of the params checker: one request at a time. It can be terminated at any moment; it keeps nothing but parsed
 * schemas.
 */
import { parentPort } from 'node:worker_threads';
import { CheckBudget, type ParamsSchema } from '@signalbox/protocol';
import { checkTexts } from './check-texts.ts';
import type { CheckAnswer, CheckJob } from './params-checker.ts';

const KEPT = 100;

if (parentPort === null) throw new Error('This file is the entry of a thread.');
const port = parentPort;
const schemas = new Map<string, ParamsSchema>();

port.on('message', ({ schema, texts, looks }: CheckJob) => {
  const budget = new CheckBudget(looks);
  const checked = checkTexts(parsed(schema), texts, budget);
  port.postMessage({ checked, spent: looks - budget.left } satisfies CheckAnswer);
});

function parsed(text: string): ParamsSchema {
  const schema = schemas.get(text) ?? (JSON.parse(text) as ParamsSchema);
  schemas.delete(text);
  schemas.set(text, schema);
  const [oldest] = schemas.keys();
  if (schemas.size > KEPT && oldest !== undefined) schemas.delete(oldest);
  return schema;
}
