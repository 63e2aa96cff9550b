/** `signalbox deploy`. */
import type { CompiledDag, DeployOutcome } from '@signalbox/compiler';
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { colours, plain, plainLines, print, printJson, warning } from '../output.ts';
import { explain } from '../problem.ts';
import { next } from '../program-name.ts';
import { compilePaths, printProblems } from './compile.ts';
import { movedDags, movedText, sourceOfFile } from './deploy-source.ts';
import { isSure } from './sure.ts';

export interface DeployFlags extends ClientFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** What became of a dag, or would. */
export type Deployment = { readonly name: string; readonly file: string } & (
  | {
      readonly result: 'new' | 'changed' | 'unchanged';
      readonly version: number;
      readonly warnings: readonly string[];
    }
  | { readonly result: 'refused'; readonly message: string; readonly remedy: string | null }
);

export async function deploy(given: readonly string[], flags: DeployFlags): Promise<void> {
  const { dags, problems } = await compilePaths(given);
  const client = await connect(flags);
  if (!(await mayReplace(client, dags, flags))) return print('nothing was deployed');
  const outcomes = flags.dryRun ? await foresee(client, dags) : await deployAll(client, dags);
  const isWell = problems.length === 0 && outcomes.every(({ result }) => result !== 'refused');
  process.exitCode = isWell ? EXIT.ok : EXIT.failed;
  if (flags.json) return printJson({ dags: outcomes, problems });
  for (const outcome of outcomes) {
    print(sentenceOf(outcome, flags.dryRun ?? false));
    for (const line of warningsOf(outcome)) process.stderr.write(`${line}\n`);
  }
  printProblems(problems);
  const [first] = outcomes;
  if (first !== undefined && isWell && !flags.dryRun)
    print(colours.dim(`run it with: ${next(`runs trigger ${first.name} --wait`)}`));
  if (outcomes.length + problems.length === 0) print('no dags found');
}

/** The same name from another folder is often another dag. On a terminal that is a question, elsewhere a warning. */
async function mayReplace(client: Client, dags: readonly CompiledDag[], flags: DeployFlags): Promise<boolean> {
  const sourced = dags.map(({ name, file }) => ({ name, source: sourceOfFile(file) }));
  const moved = dags.length === 0 ? [] : await movedDags(client, sourced);
  for (const one of moved) process.stderr.write(`${warning(movedText(one))}\n`);
  if (moved.length === 0 || flags.dryRun || flags.yes || flags.json || !process.stdin.isTTY) return true;
  return isSure(`Deploy ${moved.length === 1 ? 'it' : `these ${moved.length}`} from here? [y/N] `);
}

export async function deployAll(
  client: Client,
  dags: readonly CompiledDag[],
  sourceOf: (dag: CompiledDag) => string = ({ file }) => sourceOfFile(file),
): Promise<Deployment[]> {
  const { deployCompiled } = await import('@signalbox/compiler');
  const outcomes: readonly DeployOutcome[] = await deployCompiled(client, [...dags], sourceOf);
  return outcomes.map((outcome): Deployment => {
    const { name, file } = outcome;
    if (!outcome.ok) return { name, file, result: 'refused', ...reasonOf(outcome.error) };
    const { version, changed, warnings } = outcome;
    return { name, file, version, warnings, result: !changed ? 'unchanged' : version === 1 ? 'new' : 'changed' };
  });
}

/** A server that is not there refuses nothing: it is told as such, for all of them. */
function reasonOf(error: Error): { message: string; remedy: string | null } {
  const { message, remedy, exitCode } = explain(error);
  if (exitCode === EXIT.unreachable) throw error;
  return { message, remedy };
}

/** Computes the same hash of a definition as the server. */
async function foresee(client: Client, dags: readonly CompiledDag[]): Promise<Deployment[]> {
  const { contentHash, scheduleWarnings, SignalboxError, toDagSpec } = await import('@signalbox/protocol');
  const outcomes: Deployment[] = [];
  for (const { name, file, definition } of dags) {
    const hash = contentHash(toDagSpec(definition).spec);
    const warnings = scheduleWarnings(definition);
    try {
      const current = await client.getDag(name);
      const isSame = current.hash === hash && current.retiredAt === null;
      outcomes.push({
        name,
        file,
        result: isSame ? 'unchanged' : 'changed',
        version: current.version + (isSame ? 0 : 1),
        warnings,
      });
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.code !== 'DAG_NOT_FOUND') throw error;
      outcomes.push({ name, file, result: 'new', version: 1, warnings });
    }
  }
  return outcomes;
}

/** What still works and should be written otherwise. */
export function warningsOf(outcome: Deployment): readonly string[] {
  if (outcome.result === 'refused') return [];
  return outcome.warnings.map((text) => warning(`${outcome.name}: ${text}`));
}

export function sentenceOf(outcome: Deployment, isForeseen = false): string {
  const name = colours.bold(plain(outcome.name));
  if (outcome.result === 'refused') {
    const remedy = outcome.remedy === null ? '' : `\n    ${plainLines(outcome.remedy)}`;
    return `${name} ${colours.red('refused')}: ${plainLines(outcome.message)} ${colours.dim(plain(outcome.file))}${remedy}`;
  }
  const is = isForeseen ? 'would be' : 'is';
  if (outcome.result === 'unchanged') return `${name} version ${outcome.version} ${colours.dim('(unchanged)')}`;
  return `${name} ${is} ${outcome.result === 'new' ? 'new: ' : ''}version ${outcome.version} ${colours.dim(plain(outcome.file))}`;
}
