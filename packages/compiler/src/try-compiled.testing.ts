/** Runs a compiled dag in a test: its functions out of the bundle, its processes for real, on the production engine. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { toDagSpec, unpackFiles } from '@signalbox/protocol';
import type { Handler, HandlerContext } from '@signalbox/sdk';
import { type Stub, type TestRun, testRun } from '@signalbox/sdk/testing';
import type { CompiledDag } from './compiled.ts';
import { makeFolder } from './folder.testing.ts';

/** Dags that it calls are among `others`, and run too. */
export async function tryCompiled(
  dag: CompiledDag,
  params: unknown = null,
  others: readonly CompiledDag[] = [],
): Promise<TestRun> {
  const stubs = await stubsFor(dag, others);
  return testRun(dag.definition, { params, stubs, dags: others.map(({ definition }) => definition) });
}

/** What its tasks do, by name; those of a dag that a task calls come after the name of that task. */
async function stubsFor(dag: CompiledDag, others: readonly CompiledDag[]): Promise<Record<string, Stub>> {
  const folder = await makeFolder({ 'bundle.mjs': dag.bundle?.code.toString() ?? 'export const functions = {};' });
  const { functions } = (await import(pathToFileURL(join(folder, 'bundle.mjs')).href)) as {
    functions: Record<string, Handler>;
  };
  const stubs: Record<string, Stub> = {};
  // Of the spec: undos and hooks are tasks as well.
  const { tasks, templates = [] } = toDagSpec(dag.definition).spec;
  for (const { name, handler, work, child } of [...tasks, ...templates]) {
    const called = others.find((other) => other.name === child?.dag);
    if (called !== undefined) {
      for (const [inner, stub] of Object.entries(await stubsFor(called, others))) stubs[`${name}/${inner}`] = stub;
    } else if (work?.kind === 'process') stubs[name] = (context) => runProcess(work.run, context, dag.files);
    else stubs[name] = functions[handler] as Stub;
  }
  return stubs;
}

/** As a worker would: inputs as variables, the output in a file. */
async function runProcess(
  run: string | readonly string[],
  { inputs }: HandlerContext,
  files: CompiledDag['files'],
): Promise<unknown> {
  const cwd = await makeFolder();
  for (const { path, isExecutable, content } of files === null ? [] : unpackFiles(files.archive)) {
    await mkdir(join(cwd, dirname(path)), { recursive: true });
    await writeFile(join(cwd, path), content, { mode: isExecutable ? 0o755 : 0o644 });
  }
  const output = join(await makeFolder(), 'output.json');
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const variables = Object.entries(inputs).map(([name, value]) => [`INPUT_${name}`, textOf(value)]);
  const env = { PATH: process.env.PATH, SIGNALBOX_OUTPUT: output, ...Object.fromEntries(variables) };
  const [program, ...args] = typeof run === 'string' ? ['sh', '-c', run] : run;
  await promisify(execFile)(program as string, args, { env, cwd });
  return readFile(output, 'utf8').then(JSON.parse, () => null);
}
