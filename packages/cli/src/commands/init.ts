/** `signalbox init`: writes a first dag, a test for it, and what an editor needs. Never overwrites a file. */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { EXIT } from '../exit-codes.ts';
import { colours, plain, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { packageJson, tsconfig, typescriptDag, typescriptTest, yamlDag } from './init-files.ts';

export interface InitFlags {
  readonly yaml?: boolean;
  readonly types?: boolean;
  readonly name: string;
  readonly json?: boolean;
}

const SDK = dirname(dirname(createRequire(import.meta.url).resolve('@signalbox/sdk')));
const NODE_TYPES = nodeTypes();
/** A clone of Signalbox, where this is one. Its settings are for its own code: "npm test" there tests Signalbox. */
const HOUSE = resolve(SDK, '../..');

export async function init(given: string | undefined, flags: InitFlags): Promise<void> {
  const { name, yaml } = flags;
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(name)) {
    throw new CliError(
      `"${name}" is not a valid name.`,
      'Use letters, digits, - and _, such as nightly-report.',
      EXIT.usage,
    );
  }
  if (flags.types && yaml)
    throw new CliError('--types and --yaml cannot be used together.', 'Use --types for TypeScript only.', EXIT.usage);
  const folder = given ?? (flags.types ? '.' : 'dags');
  const files = flags.types
    ? typeFiles(folder)
    : yaml
      ? { [`${name}.yaml`]: yamlDag(name) }
      : typescriptFiles(name, folder);
  const written: string[] = [];
  const kept: string[] = [];
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    const list = (await writeNew(path, text)) ? written : kept;
    list.push(path);
  }
  if (flags.json) return printJson({ written, kept });
  for (const path of written) print(`${colours.green('wrote')} ${plain(path)}`);
  for (const path of kept) print(`${colours.dim('kept ')} ${plain(path)} ${colours.dim('(already exists)')}`);
  if (flags.types) {
    if (written.length + kept.length === 0)
      print('A tsconfig.json in a parent folder is already in use. Nothing was written.');
    return;
  }
  const dag = join(folder, yaml ? `${name}.yaml` : `${name}.ts`);
  sayWhatNext({ dag, name, folder });
  if (yaml) return;
  const isOurs = written.includes(join(folder, 'package.json'));
  print(colours.dim(`\nFor types in your editor, and for its test: ${testWith({ folder, name, isOurs })}`));
}

function typescriptFiles(name: string, folder: string): Record<string, string> {
  const hasProject = isWithin(folder, 'package.json');
  return {
    [`${name}.ts`]: typescriptDag(name),
    [`${name}.test.ts`]: typescriptTest(name),
    // Only so that editors find the types: dags are compiled without them.
    ...(hasProject ? {} : { 'package.json': packageJson(relative(resolve(folder), SDK)) }),
    ...typeFiles(folder),
  };
}

function typeFiles(folder: string): Record<string, string> {
  const isAbove = isWithin(dirname(resolve(folder)), 'tsconfig.json') && !existsSync(join(folder, '.git'));
  if (isAbove && !existsSync(join(folder, 'tsconfig.json'))) return {};
  const from = (path: string): string => {
    const way = relative(realpathOf(resolve(folder)), path)
      .split(sep)
      .join('/');
    return way.startsWith('.') ? way : `./${way}`;
  };
  const sdk = isInstalled(folder) ? null : from(SDK);
  return { 'tsconfig.json': tsconfig({ sdk, types: NODE_TYPES === null ? null : from(NODE_TYPES) }) };
}

/** As the compiler will see it: a relative path from a link would lead elsewhere. The folder may not be there yet. */
function realpathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return join(realpathOf(dirname(folder)), basename(folder));
  }
}

function nodeTypes(): string | null {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve('@types/node/package.json')));
  } catch {
    return null;
  }
}

/** In the folder or above it, up to the root of a repository. */
function isWithin(folder: string, file: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (at === HOUSE) return false;
    if (existsSync(join(at, file))) return true;
    if (existsSync(join(at, '.git')) || dirname(at) === at) return false;
  }
}

/** In the project that the folder belongs to: then editors and tests find it by its name. */
const isInstalled = (folder: string): boolean => isWithin(folder, 'node_modules/@signalbox/sdk');

async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    throw new CliError(`${path} cannot be written (${code}).`, 'Choose a folder that you can write to.');
  }
}

/** In a project of yours "npm test" is yours. */
function testWith({ folder, name, isOurs }: { folder: string; name: string; isOurs: boolean }): string {
  const go = resolve(folder) === resolve('.') ? '' : `cd ${folder} && `;
  if (isOurs) return `${go}npm install && npm test`;
  const sdk = isInstalled(folder) ? '' : `${relative(resolve(folder), SDK)} `;
  return `${go}npm install --save-dev ${sdk}tsx && npx tsx --test ${name}.test.ts`;
}

function sayWhatNext({ dag, name, folder }: { dag: string; name: string; folder: string }): void {
  const steps: [string, string][] = [
    [next(`validate ${folder}`), 'check it'],
    [next(`deploy ${dag}`), 'deploy it to the server'],
    [next(`runs trigger ${name} --wait`), 'run it and watch'],
    [next(`start --dags ${folder}`), 'or start a server that deploys whatever you save'],
  ];
  print('\nNext:');
  for (const [type, does] of steps) print(`  ${colours.cyan(type)}\n      ${does}`);
}
