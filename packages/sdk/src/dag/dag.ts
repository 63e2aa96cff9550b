/**
 * A dag, written in TypeScript. Calling `dag()` runs nothing: it returns a definition, which is JSON, and the functions that
 * it names. The compiler takes both from the exports of a file; a test can take them from the value itself.
 */
import type { DagDefinition } from '@signalbox/protocol';
import { showPath, taskReference } from '@signalbox/protocol/references';
import type { Handler } from '../handler.ts';
import type { DagBuilder, MapBuilder, RunFields, WindowFields } from './builder.ts';
import type { ChildOptions } from './child-options.ts';
import { DAG, type Dag, isDag } from './dag-value.ts';
import type { MapOver } from './map-options.ts';
import { DagMistake, type Place, placeOfCall } from './mistake.ts';
import { plain, plainInputs, plainMap } from './plain.ts';
import { makeRef, type Ref } from './ref.ts';
import { hooksDefinition, sideDefinition } from './side-tasks.ts';
import type { DagOptions, HttpOptions, ProcessOptions, Task } from './task-options.ts';
import type { Template } from './template-options.ts';

type TaskDefinition = DagDefinition['tasks'][number];
type GroupDefinition = NonNullable<DagDefinition['groups']>[number];
type TemplateDefinition = NonNullable<DagDefinition['templates']>[number];
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * @example
 * export default dag<{ cups: number }>('coffee', ({ task }) => {
 *   const grind = task('grind', ({ params }) => ({ grams: 16 * params.cups }));
 *   task('brew', { inputs: { grams: grind.output.grams }, timeout: '30s' }, ({ inputs }) => `coffee of ${inputs.grams} g`);
 * });
 */
export function dag<Params = unknown, Output = unknown>(
  name: string,
  build: (builder: DagBuilder<Params>) => void,
): Dag<Params, Output>;
export function dag<Params = unknown, Output = unknown>(
  name: string,
  options: DagOptions,
  build: (builder: DagBuilder<Params>) => void,
): Dag<Params, Output>;
export function dag<Params = unknown, Output = unknown>(
  name: string,
  ...rest: [build: Build<Params>] | [options: DagOptions, build: Build<Params>]
): Dag<Params, Output> {
  const place = placeOfCall(dag);
  const [options, build] = rest.length === 1 ? [{}, rest[0]] : rest;
  const tasks = new Tasks(name);
  refuseAsync(build(tasks.builder<Params>(OUTSIDE)), `dag ${name}`, place);
  if (tasks.definitions.length === 0) {
    throw new DagMistake(`dag ${name} has no tasks`, 'Call task(), process(), http() or child() at least once.', place);
  }
  tasks.isOver = true;
  const groups = tasks.groups.length === 0 ? {} : { groups: tasks.groups };
  const { hooks, files = [], ...fields } = options;
  const ofRun = hooks === undefined ? {} : { hooks: hooksDefinition(hooks, `${name}/run`, place, tasks.keep) };
  const said = plain(fields, '', place) as Omit<DagOptions, 'hooks' | 'files'>;
  const templates = tasks.templates.length === 0 ? {} : { templates: tasks.templates };
  const definition = { name, ...said, ...ofRun, ...groups, ...templates, tasks: tasks.definitions };
  return Object.freeze({
    [DAG]: true as const,
    name,
    definition,
    functions: tasks.functions,
    calls: tasks.calls,
    files,
    places: tasks.places,
    groupPlaces: tasks.groupPlaces,
    place,
  });
}

function refuseAsync(returned: unknown, what: string, place: Place | null): void {
  if (!(returned instanceof Promise)) return;
  throw new DagMistake(`${what} is built by an async function`, 'Await what it needs before the call of dag().', place);
}

type Build<Params> = (builder: DagBuilder<Params>) => void;

interface AnyOptions {
  readonly needs?: readonly Pick<Task, 'name'>[];
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
  readonly map?: MapOver | undefined;
  readonly teardown?: true | Pick<Task, 'name'> | readonly Pick<Task, 'name'>[] | undefined;
  readonly hooks?: object | undefined;
}

/** Where a task is made: the group that it is in, and the maps around it, outermost first. */
interface Around {
  readonly group: string | null;
  readonly maps: readonly string[];
}
const OUTSIDE: Around = { group: null, maps: [] };

class Tasks {
  readonly definitions: TaskDefinition[] = [];
  readonly places: (Place | null)[] = [];
  readonly groups: GroupDefinition[] = [];
  readonly groupPlaces: (Place | null)[] = [];
  readonly templates: TemplateDefinition[] = [];
  readonly functions: Record<string, Handler> = {};
  readonly calls: Record<string, Dag> = {};
  isOver = false;
  readonly keep = (key: string, run: Handler): void => {
    this.functions[key] = run;
  };
  readonly #dag: string;
  readonly #names = new Set<string>();
  /** What stands for tasks of this dag: as they were made, and as they are seen from outside a map. */
  readonly #handedOut = new WeakSet<object>();

  constructor(dag: string) {
    this.#dag = dag;
  }

  builder<Params>(around: Around): DagBuilder<Params> {
    const task = (name: string, ...rest: [Handler] | [AnyOptions, Handler]): Task => {
      const place = placeOfCall(task);
      const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
      if (typeof run !== 'function') {
        throw new DagMistake(`task ${name} has no function`, 'Pass it as the last argument of task().', place);
      }
      const key = `${this.#dag}/${name}`;
      const made = this.#add(name, { function: key }, options, { ...around, place });
      this.functions[key] = run;
      return made;
    };
    const process = (name: string, options: ProcessOptions): Task =>
      this.#add(name, {}, options, { ...around, place: placeOfCall(process) });
    const http = (name: string, options: HttpOptions): Task => {
      const place = placeOfCall(http);
      // What is not of the call is of the task, as it is for any other.
      const { url, method, headers, body, expect, statuses, timeout, ...common } = options;
      const said = { url, method, headers, body, expect, statuses, timeout };
      const call = plain(said, 'http', place) as TaskDefinition['http'];
      return this.#add(name, { http: call }, common, { ...around, place });
    };
    const child = (name: string, options: ChildOptions & AnyOptions & { readonly dag: Dag | string }): Task => {
      const place = placeOfCall(child);
      const { dag: called, ...common } = options;
      if (typeof called !== 'string' && !isDag(called)) {
        throw new DagMistake(
          `task ${name} runs something that is not a dag`,
          'Pass the result of dag(), or a name.',
          place,
        );
      }
      if (typeof called !== 'string') this.calls[called.name] = called;
      return this.#add(name, { dag: typeof called === 'string' ? called : called.name }, common, { ...around, place });
    };
    const undo: DagBuilder<Params>['undo'] = (of, side) => {
      const place = placeOfCall(undo);
      const name = this.#needed(of, 'undo', place);
      const definition = this.definitions.find((each) => each.name === name) as Mutable<TaskDefinition>;
      if (definition.undo !== undefined) {
        throw new DagMistake(`task ${name} has two undos in dag ${this.#dag}`, 'Remove one of them.', place);
      }
      definition.undo = sideDefinition(side, { key: `${this.#dag}/${name}:undo`, place, keep: this.keep });
    };
    const template = (name: string, ...rest: [Handler | AnyOptions] | [AnyOptions, Handler]): Template => {
      const place = placeOfCall(template);
      const run = rest.find((each) => typeof each === 'function');
      const { needs = [], inputs, ...options } = typeof rest[0] === 'function' ? {} : rest[0];
      this.#take('task', name, place);
      const key = `${this.#dag}/${name}`;
      if (run !== undefined) this.functions[key] = run;
      this.templates.push({
        name,
        ...(run === undefined ? {} : { function: key }),
        ...(plain(options, '', place) as Partial<TemplateDefinition>),
        ...(needs.length === 0 ? {} : { needs: needs.map((need) => this.#needed(need, name, place)) }),
        ...(inputs === undefined ? {} : { inputs: plainInputs(inputs, { maps: [], place }) }),
      });
      return Object.freeze({ name });
    };
    const group = <Made>(name: string, build: (builder: DagBuilder<Params>) => Made): Made => {
      const place = placeOfCall(group);
      this.#addGroup(name, {}, { ...around, place });
      const made = build(this.builder<Params>({ ...around, group: name }));
      refuseAsync(made, `group ${name}`, place);
      return made;
    };
    const map = (name: string, over: MapOver, build: (builder: MapBuilder<Params, unknown>) => unknown): unknown => {
      const place = placeOfCall(map);
      const definition = { map: plainMap(over, { ...around, place }) as GroupDefinition['map'] };
      this.#addGroup(name, definition, { ...around, place });
      const inside: Around = { group: name, maps: [...around.maps, name] };
      const ref = (what: 'item' | 'index') => makeRef(`groups${showPath([name])}.${what}`, inside.maps);
      const made = build({
        ...this.builder<Params>(inside),
        item: ref('item'),
        index: ref('index') as Ref<number>,
      });
      refuseAsync(made, `map ${name}`, place);
      return this.#seenFromOutside(made, around);
    };
    return {
      task,
      process,
      http,
      child,
      undo,
      group,
      map,
      template,
      params: makeRef('params') as Ref<Params>,
      run: makeRef('run') as Ref<RunFields>,
      window: makeRef('window') as Ref<WindowFields>,
    } as DagBuilder<Params>;
  }

  #addGroup(name: string, definition: Pick<GroupDefinition, 'map'>, around: Around & { place: Place | null }): void {
    const { group, place } = around;
    this.#take('group', name, place);
    this.groups.push({ name, ...(group === null ? {} : { group }), ...definition });
    this.groupPlaces.push(place);
  }

  /** Groups and tasks share their names. */
  #take(what: 'task' | 'group', name: string, place: Place | null): void {
    if (this.isOver) {
      throw new DagMistake(`${what} ${name} comes after dag ${this.#dag} is made`, 'Call it within dag().', place);
    }
    if (this.#names.has(name)) {
      const two = what === 'task' ? `there are two tasks ${name}` : `there is a task or another group ${name}`;
      throw new DagMistake(`${two} in dag ${this.#dag}`, `Give each ${what} a unique name.`, place);
    }
    this.#names.add(name);
  }

  #add(
    name: string,
    work: Partial<TaskDefinition>,
    options: AnyOptions,
    around: Around & { readonly place: Place | null },
  ): Task {
    const { group, maps, place } = around;
    this.#take('task', name, place);
    const { needs = [], inputs, map, teardown, hooks, ...rest } = options;
    const definition: Mutable<TaskDefinition> = {
      name,
      ...(group === null ? {} : { group }),
      ...work,
      ...(map === undefined ? {} : { map: plainMap(map, around) as NonNullable<TaskDefinition['map']> }),
      ...(plain(rest, '', place) as Partial<TaskDefinition>),
    };
    if (teardown !== undefined) {
      const setups = teardown === true ? [] : [teardown].flat();
      definition.teardown = teardown === true || setups.map((setup) => this.#needed(setup, name, place));
    }
    if (hooks !== undefined) definition.hooks = hooksDefinition(hooks, `${this.#dag}/${name}`, place, this.keep);
    if (needs.length > 0) definition.needs = needs.map((need) => this.#needed(need, name, place));
    if (inputs !== undefined) definition.inputs = plainInputs(inputs, around);
    this.definitions.push(definition);
    this.places.push(place);
    return this.#handOut(name, maps, map !== undefined || definition.gang !== undefined);
  }

  /** `maps` are those that whoever uses it must be in. */
  #handOut(name: string, maps: readonly string[], isMapped: boolean): Task {
    const output = makeRef(taskReference(name).slice(4, -3), maps) as Task['output'];
    const made: Task = Object.freeze({ name, output, ...(isMapped ? { isMapped } : {}) });
    this.#handedOut.add(made);
    return made;
  }

  #seenFromOutside(made: unknown, { maps }: Around): unknown {
    if (typeof made !== 'object' || made === null) return undefined;
    if (this.#handedOut.has(made)) {
      return this.#handOut((made as Task).name, maps, true);
    }
    return Object.fromEntries(
      Object.entries(made).map(([key, each]) => [key, this.#seenFromOutside(each, { group: null, maps })]),
    );
  }

  #needed(need: Pick<Task, 'name'>, name: string, place: Place | null): string {
    if (typeof need === 'object' && need !== null && this.#handedOut.has(need)) return need.name;
    throw new DagMistake(
      `task ${name} needs something that is not a task of dag ${this.#dag}`,
      'Pass the result of task(), process(), http() or child() of this dag.',
      place,
    );
  }
}
