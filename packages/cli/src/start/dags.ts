/**
 * The dags that `start` deploys: the examples once, the folder of the user after every change. It prints one line per
 * changed dag, and each problem once.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Compiled, type CompileProblem, compileFolder, type Watching, watchFolder } from '@signalbox/compiler';
import type { Client } from '@signalbox/sdk';
import { type Deployment, deployAll, sentenceOf, warningsOf } from '../commands/deploy.ts';
import { movedDags, movedText, sourceOfFile } from '../commands/deploy-source.ts';
import { EXIT } from '../exit-codes.ts';
import { colours, plain, plainLines, warning } from '../output.ts';
import { CliError, explain } from '../problem.ts';

/** Within the package where it is installed; at the root of a clone. */
const EXAMPLES =
  ['../../examples/', '../../../../examples/']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? '';
const EXAMPLES_SOURCE = 'the Signalbox examples';
const USUAL_FOLDER = 'dags';

interface DagsOptions {
  readonly say: (line: string) => void;
  readonly examples: boolean;
  /** Must be there when it is named; `dags` is taken if there is such a folder. */
  readonly folder?: string | undefined;
}

export class Dags {
  /** The user's own, if there is one. */
  readonly folder: string | null;
  readonly #say: (line: string) => void;
  /** Begun at once: code can be compiled while the database is being set up. */
  readonly #examples: Promise<Compiled> | null;
  #client: Client | null = null;
  /** Which file each dag of the folder came from, as of the last look. */
  #known = new Map<string, string>();
  #told = new Set<string>();
  #watching: Watching | null = null;
  #turn: Promise<void> = Promise.resolve();

  /** Refuses a folder that is not there, before anything is started. */
  constructor({ say, examples, folder }: DagsOptions) {
    this.#say = say;
    this.folder = folderOf(folder);
    this.#examples = examples ? compileFolder({ folder: EXAMPLES }) : null;
    this.#examples?.catch(() => undefined); // told when it is waited for
  }

  async deploy(client: Client): Promise<void> {
    this.#client = client;
    if (this.#examples !== null) await this.#deployExamples(await this.#examples, client);
    if (this.folder === null) return;
    // Watched before it is deployed: a file that is saved during the first deploy is told of, and deployed after it.
    await this.#watch(this.folder).isReady;
    const first = this.runOnce();
    this.#turn = first.catch(() => undefined);
    await first;
  }

  /** Looks at the folder, and makes the server know what is in it. */
  async runOnce(): Promise<void> {
    const client = this.#client;
    if (this.folder === null || client === null) return;
    const compiled = await compileFolder({ folder: this.folder });
    await this.#warnOfOthers(client, compiled);
    const outcomes = await deployAll(client, compiled.dags);
    for (const outcome of outcomes) {
      if (outcome.result === 'unchanged') continue;
      this.#say(sentenceOf(outcome));
      for (const line of warningsOf(outcome)) this.#say(line);
    }
    this.#tell(compiled.problems);
    await this.#retire(client, compiled, outcomes);
  }

  async close(): Promise<void> {
    await this.#watching?.close();
    await this.#turn;
  }

  async #deployExamples({ dags, problems }: Compiled, client: Client): Promise<void> {
    const outcomes = await deployAll(client, dags, () => EXAMPLES_SOURCE);
    for (const outcome of outcomes) if (outcome.result === 'refused') this.#say(sentenceOf(outcome));
    this.#tell(problems);
    this.#say(`Deployed the examples: ${outcomes.map(({ name }) => name).join(', ')}`);
  }

  /** Once for each: the folder is looked at again and again. */
  async #warnOfOthers(client: Client, { dags }: Compiled): Promise<void> {
    const fresh = dags.filter(({ name }) => !this.#known.has(name));
    if (fresh.length === 0) return;
    const moved = await movedDags(
      client,
      fresh.map(({ name, file }) => ({ name, source: sourceOfFile(file) })),
    );
    for (const one of moved) this.#say(warning(movedText(one)));
  }

  #watch(folder: string): Watching {
    const watching = watchFolder(folder, () => {
      // One after the other: two looks at once could deploy the older one last.
      this.#turn = this.#turn
        .then(() => this.runOnce())
        .catch((error: unknown) => this.#say(`The folder could not be deployed: ${explain(error).message}`));
    });
    this.#watching = watching;
    return watching;
  }

  /** A file with a problem keeps its dags as they are; one that is gone, or no longer has the dag, retires it. */
  async #retire(client: Client, { dags, problems }: Compiled, outcomes: readonly Deployment[]): Promise<void> {
    const broken = new Set(problems.map(({ file }) => file));
    const found = new Map(dags.map(({ name, file }) => [name, file]));
    for (const [name, file] of this.#known) {
      if (found.has(name)) continue;
      if (broken.has(file)) {
        found.set(name, file);
        continue;
      }
      await client.deleteDag(name);
      this.#say(
        `${colours.bold(plain(name))} is retired because ${plain(file)} no longer defines it. Its history stays.`,
      );
    }
    for (const { name, result } of outcomes) if (result === 'refused' && !this.#known.has(name)) found.delete(name);
    this.#known = found;
  }

  #tell(problems: readonly CompileProblem[]): void {
    const now = new Set<string>();
    for (const { file, line, column, message, remedy } of problems) {
      const place = [file, line, column].filter((part) => part !== null).join(':');
      const text = `${colours.red('problem')} ${plain(place)} ${plainLines(message)}${remedy === null ? '' : `\n    ${plainLines(remedy)}`}`;
      now.add(text);
      if (!this.#told.has(text)) this.#say(text);
    }
    if (now.size === 0 && this.#told.size > 0) this.#say(colours.green('all problems are fixed'));
    this.#told = now;
  }
}

function folderOf(named: string | undefined): string | null {
  if (named === undefined) return existsSync(USUAL_FOLDER) ? resolve(USUAL_FOLDER) : null;
  if (existsSync(named)) return resolve(named);
  throw new CliError(`The folder ${named} does not exist.`, 'Create it, or omit --dags.', EXIT.usage);
}
