/**
 * A dag, written in TypeScript. Calling `dag()` runs nothing: it gives a definition, which is JSON, and the functions
 * that it names. The compiler takes both from the exports of a file; a test can take them from the value itself.
 */
import type { DagDefinition } from '@signalbox/protocol';
import { taskReference } from '@signalbox/protocol/references';
import type { Handler } from '../handler.ts';
import { DagMistake, type Place, placeOfCall } from './mistake.ts';
import { plain, plainInputs } from './plain.ts';
import { makeRef, type Ref } from './ref.ts';
import type { DagBuilder, DagOptions, HttpOptions, ProcessOptions, Task } from './task-options.ts';

type TaskDefinition = DagDefinition['tasks'][number];
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const DAG: unique symbol = Symbol.for('signalbox.dag');
declare const PARAMS: unique symbol;

export interface Dag<Params = unknown> {
  readonly [DAG]: true;
  /** For the types of tests only. */
  readonly [PARAMS]?: Params;
  readonly name: string;
  /** The same as in YAML. Its functions are in no bundle yet: the compiler makes one. */
  readonly definition: DagDefinition;
  /** By the names that the definition has for them: `<dag>/<task>`. */
  readonly functions: Readonly<Record<string, Handler>>;
  /** Where its tasks were written, in the order of the definition. */
  readonly places: readonly (Place | null)[];
  readonly place: Place | null;
}

export function isDag(value: unknown): value is Dag {
  return typeof value === 'object' && value !== null && DAG in value;
}

/**
 * @example
 * export default dag<{ cups: number }>('coffee', ({ task }) => {
 *   const grind = task('grind', ({ params }) => ({ grams: 16 * params.cups }));
 *   task('brew', { inputs: { grams: grind.output.grams }, timeout: '30s' }, ({ inputs }) => `coffee of ${inputs.grams} g`);
 * });
 */
export function dag<Params = unknown>(name: string, build: (builder: DagBuilder<Params>) => void): Dag<Params>;
export function dag<Params = unknown>(
  name: string,
  options: DagOptions,
  build: (builder: DagBuilder<Params>) => void,
): Dag<Params>;
export function dag<Params = unknown>(
  name: string,
  ...rest: [build: Build<Params>] | [options: DagOptions, build: Build<Params>]
): Dag<Params> {
  const place = placeOfCall(dag);
  const [options, build] = rest.length === 1 ? [{}, rest[0]] : rest;
  const tasks = new Tasks(name);
  const returned: unknown = build(tasks.builder<Params>());
  if (returned instanceof Promise) {
    throw new DagMistake(
      `dag ${name} is built by an async function`,
      'Await what it needs before the call of dag().',
      place,
    );
  }
  if (tasks.definitions.length === 0) {
    throw new DagMistake(`dag ${name} has no tasks`, 'Call task(), process() or http() at least once.', place);
  }
  tasks.isOver = true;
  const definition = { name, ...(plain(options, '', place) as DagOptions), tasks: tasks.definitions };
  return Object.freeze({
    [DAG]: true as const,
    name,
    definition,
    functions: tasks.functions,
    places: tasks.places,
    place,
  });
}

type Build<Params> = (builder: DagBuilder<Params>) => void;

interface AnyOptions {
  readonly needs?: readonly Pick<Task, 'name'>[];
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
}

class Tasks {
  readonly definitions: TaskDefinition[] = [];
  readonly places: (Place | null)[] = [];
  readonly functions: Record<string, Handler> = {};
  isOver = false;
  readonly #dag: string;
  readonly #made = new Map<string, Task>();

  constructor(dag: string) {
    this.#dag = dag;
  }

  builder<Params>(): DagBuilder<Params> {
    const task = (name: string, ...rest: [Handler] | [AnyOptions, Handler]): Task => {
      const place = placeOfCall(task);
      const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
      if (typeof run !== 'function') {
        throw new DagMistake(`task ${name} has no function`, 'Give it as the last argument of task().', place);
      }
      const key = `${this.#dag}/${name}`;
      const made = this.#add(name, { function: key }, options, place);
      this.functions[key] = run;
      return made;
    };
    const process = (name: string, options: ProcessOptions): Task => this.#add(name, {}, options, placeOfCall(process));
    const http = (name: string, options: HttpOptions): Task => {
      const place = placeOfCall(http);
      const { needs, inputs, queue, retries, rule, when, branch, shortCircuit, setup, ...call } = options;
      const common = { needs, inputs, queue, retries, rule, when, branch, shortCircuit, setup } as AnyOptions;
      return this.#add(name, { http: plain(call, 'http', place) as TaskDefinition['http'] }, common, place);
    };
    return { task, process, http, params: makeRef('params') as Ref<Params> } as DagBuilder<Params>;
  }

  #add(name: string, work: Partial<TaskDefinition>, options: AnyOptions, place: Place | null): Task {
    if (this.isOver) {
      throw new DagMistake(`task ${name} comes after dag ${this.#dag} is made`, 'Call it within dag().', place);
    }
    if (this.#made.has(name)) {
      throw new DagMistake(
        `there are two tasks ${name} in dag ${this.#dag}`,
        'Give each task a name of its own.',
        place,
      );
    }
    const { needs = [], inputs, ...rest } = options;
    const definition: Mutable<TaskDefinition> = {
      name,
      ...work,
      ...(plain(rest, '', place) as Partial<TaskDefinition>),
    };
    if (needs.length > 0) definition.needs = needs.map((need) => this.#needed(need, name, place));
    if (inputs !== undefined) definition.inputs = plainInputs(inputs, place);
    this.definitions.push(definition);
    this.places.push(place);
    const made: Task = Object.freeze({ name, output: makeRef(taskReference(name).slice(4, -3)) });
    this.#made.set(name, made);
    return made;
  }

  #needed(need: Pick<Task, 'name'>, name: string, place: Place | null): string {
    if (this.#made.get(need?.name) === need) return need.name;
    throw new DagMistake(
      `task ${name} needs something that is no task of dag ${this.#dag}`,
      'Give what task(), process() or http() of this dag returned.',
      place,
    );
  }
}
