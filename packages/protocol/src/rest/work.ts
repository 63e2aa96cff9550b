/**
 * What a task does, as users write it and as workers get it. A task has one of: `handler` (a function that the worker was
 * started with), `function` (one of the dag's bundle), `run` (a process), `http` (a call), `dag` (a run of another dag). The engine never looks inside.
 */
import { z } from 'zod';
import { type ClassMap, classMapSchema, EXIT_CLASSES } from './class-map.ts';
import { durationSchema, handlerSchema, jsonFault, nameSchema } from './common.ts';
import { type InputSource, readTemplate, type Template } from './template.ts';

const MAX_INPUTS = 100;
export const MAX_ENV = 200;
const MAX_TEXT = 64 * 1024;
const MAX_INPUT_BYTES = 64 * 1024;

export const secretNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be a name such as API_KEY');
const envNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'must be a name of a variable, such as API_URL');
const headerNameSchema = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/, 'must be the name of a header');

const noZero = (text: string): boolean => !text.includes('\0');
const line = z.string().max(MAX_TEXT).refine(noZero, 'must not hold a zero character');

/** Looked at again once all names are known: here only what is no reference at all is refused. */
const textWithReferences = line.superRefine((text, context) => {
  const read = readTemplate(text, () => ({ from: 'value', value: null }));
  if (!read.ok) context.addIssue({ code: 'custom', message: read.message });
});

const inputName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be a name such as day or file_name');
const namedInputs = z
  .record(inputName, z.unknown())
  .refine((inputs) => Object.keys(inputs).length <= MAX_INPUTS, `must be at most ${MAX_INPUTS}`);

/** Values in place of those that a task has. They are data: a reference in them is a text like any other. */
export const inputValuesSchema = namedInputs.superRefine((inputs, context) => {
  const fault = jsonFault(inputs, { bytes: MAX_INPUT_BYTES });
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

export const inputsSchema = namedInputs.superRefine((inputs, context) => {
  for (const [name, value] of Object.entries(inputs)) {
    const fault = jsonFault(value, { bytes: MAX_INPUT_BYTES });
    if (fault !== null) {
      context.addIssue({ code: 'custom', path: [name], message: fault });
      continue;
    }
    const read = readTemplate(value, (reference) =>
      reference.from === 'secret'
        ? 'secrets are no inputs: name them under secrets, or use them in env or headers'
        : { from: 'value', value: null },
    );
    if (!read.ok) context.addIssue({ code: 'custom', path: [name], message: read.message });
  }
});

export const httpCallSchema = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  url: textWithReferences
    .refine(
      (text) => /^https?:\/\/[^\s/]+/i.test(text) && URL.canParse(text),
      'must be an address such as https://example.com/path',
    )
    .refine((text) => !/^https?:\/\/[^/?#]*\$\{\{/i.test(text), 'must name its host: references go behind it'),
  headers: z
    .record(
      headerNameSchema,
      textWithReferences.refine((text) => !/[\r\n]/.test(text), 'must be one line'),
    )
    .default({}),
  /** JSON, sent as it is; a text is sent as text. Left out: the task's inputs are sent, where the method has a body. */
  body: z.unknown().optional(),
  /** Statuses that mean success. Default: 200 to 299. */
  expect: z.array(z.int().min(100).max(599)).min(1).max(50).optional(),
  /** What other statuses mean: `{ 404: transient, 500-599: permanent }`. Those that are not named: 408, 425, 429 and 5xx may pass. */
  statuses: classMapSchema('statuses', 599, ['transient', 'permanent', 'resource']).optional(),
  /** Timeout of the whole call. Default: 30 s. The task's own timeout counts as well. */
  timeout: durationSchema.default(30_000),
});

export const MAX_CONCURRENCY = 1_000;
export const concurrencySchema = z.int().min(1).max(MAX_CONCURRENCY);

/** The fields of a task that say what it does; the task schema spreads them. */
export const workFields = {
  handler: handlerSchema.optional(),
  function: handlerSchema.optional(),
  /** With `function`: in the worker's own process. Faster, and a hot loop in it stops the whole worker. */
  inProcess: z.boolean().optional(),
  /** With `function`: how many attempts of it may run at a time in one child process. */
  concurrency: concurrencySchema.optional(),
  /** With `function`: `process` for a child process in which nothing else runs or waits meanwhile. */
  isolation: z.enum(['process']).optional(),
  run: z
    .union(
      [line.min(1), z.array(line).min(1).max(1_000)],
      'must be a command line, or a list of a program and its arguments',
    )
    .optional(),
  /** With `run` as one text: what reads it. */
  shell: z.enum(['sh', 'bash']).optional(),
  env: z
    .record(envNameSchema, textWithReferences)
    .refine((env) => Object.keys(env).length <= MAX_ENV, `must be at most ${MAX_ENV}`)
    .optional(),
  /** With `run`: its working folder; a fresh empty one unless told. */
  cwd: line.min(1).max(4_096).optional(),
  /** With `run`: what its exit codes mean, by number or range; see the guide for what they mean unless told. */
  exitCodes: classMapSchema('exit codes', 255, EXIT_CLASSES).optional(),
  http: httpCallSchema.optional(),
  /** The name of a dag: the task is a run of it, with the task's inputs as its params. */
  dag: nameSchema.optional(),
  /** With `dag`: whether the task waits for the end of that run, and is what became of it; it does unless told. */
  wait: z.boolean().optional(),
  inputs: inputsSchema.optional(),
  /** Names of secrets that the function or process may ask for. */
  secrets: z.array(secretNameSchema).max(50).optional(),
} as const;

interface AnyWork {
  readonly inputs?: Readonly<Record<string, InputSource>>;
  readonly secrets?: readonly string[];
  /** Texts with references in them, by their place: `run[1]`, `ref[0]`, `env.NAME`, `url`, `headers.name`, `body`. */
  readonly fill?: Readonly<Record<string, Template>>;
}
export interface HandlerWork extends AnyWork {
  readonly kind: 'handler';
}
export interface FunctionWork extends AnyWork {
  readonly kind: 'function';
  readonly inProcess?: true;
  /** How many attempts run at a time in one child process; one after the other if it is left out. */
  readonly concurrency?: number;
  /** Nothing else runs or waits in its child process. */
  readonly isolation?: 'process';
}
export interface ProcessWork extends AnyWork {
  readonly kind: 'process';
  /** One text goes to the shell; a list is a program and its arguments. */
  readonly run: string | readonly string[];
  readonly shell?: 'bash';
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly exitCodes?: ClassMap;
}
export interface HttpWork extends AnyWork {
  readonly kind: 'http';
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly expect?: readonly number[];
  readonly statuses?: ClassMap;
  readonly timeoutMs: number;
}
/** For a task that runs another dag: its inputs are the params of that run. No worker ever sees it. */
export interface ChildWork {
  readonly kind: 'child';
  readonly inputs?: Readonly<Record<string, InputSource>>;
}
/** Travels to the worker as JSON. A task with a plain `handler`, without inputs and secrets, has none. */
export type WorkShape = HandlerWork | FunctionWork | ProcessWork | HttpWork;
