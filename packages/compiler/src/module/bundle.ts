/**
 * Bundles a module with its imports into one file. The same code gives the same bytes: formatting, comments, types, the
 * folder and the machine do not matter (D7). A new name of a variable or of a file does.
 */
import { createHash } from 'node:crypto';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { MAX_BUNDLE_BYTES } from '@signalbox/protocol';
import type { BuildFailure, BuildOptions, BuildResult, Message } from 'esbuild';
import { type Bundle, type CompileProblem, NOWHERE, type SourceFile } from '../compiled.ts';
import { ownPackages } from './own-packages.ts';
import { remedyOf } from './remedies.ts';

const ENTRY = 'signalbox-entry.mjs';

interface Built {
  readonly bundle: Bundle;
  /** Absolute paths of all files in it, ours not among them. */
  readonly madeOf: readonly string[];
  /** Whether user code imports our package: without it, it can hold no dag. */
  readonly usesSdk: boolean;
}
type BuildOutcome =
  | { readonly ok: true; readonly built: Built }
  | { readonly ok: false; readonly problems: CompileProblem[] };

/** Packages in the older module format call `require` for modules of the runtime. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** `entry` is code that is not in a file of its own and imports what the bundle is about. */
export async function buildBundle(file: SourceFile, entry: string): Promise<BuildOutcome> {
  let usesSdk = false;
  const { build } = await import('esbuild');
  const make = async ({ banner = '', whole = false }) =>
    build({
      ...optionsFor(file, entry),
      banner: { js: banner },
      plugins: [ownPackages({ entry: join(file.path, '..', ENTRY), whole, onUsed: () => (usesSdk = true) })],
    });
  try {
    let whole = false;
    let result = await make({}).catch((error: unknown) => {
      if (!isBuildFailure(error) || !error.errors.some(wantsMore)) throw error;
      whole = true;
      return make({ whole });
    });
    if (callsRequire(result)) result = await make({ whole, banner: REQUIRE });
    const bundle = bundleOf(result);
    if (bundle.code.length > MAX_BUNDLE_BYTES) return { ok: false, problems: [tooLarge(bundle, file)] };
    return { ok: true, built: { bundle, madeOf: inputsOf(result, file), usesSdk } };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    return { ok: false, problems: error.errors.map((message) => problemOf(message, file)) };
  }
}

function tooLarge({ code }: Bundle, { shown }: SourceFile): CompileProblem {
  const message = `the code has ${code.length} bytes with all that it imports; the limit is ${MAX_BUNDLE_BYTES}`;
  const remedy = 'Leave data out of the code, and import only the parts of packages that are used.';
  return { file: shown, ...NOWHERE, message, remedy };
}

/** Something of our package that is not for authors, such as the client. */
const wantsMore = ({ text }: Message): boolean => /No matching export in ".*\bauthoring\.[jt]s"/.test(text);

const optionsFor = (file: SourceFile, entry: string) =>
  ({
    stdin: { contents: entry, resolveDir: join(file.path, '..'), sourcefile: ENTRY, loader: 'js' },
    absWorkingDir: file.folder,
    outfile: join(file.folder, 'bundle.mjs'),
    write: false,
    bundle: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Names and expressions stay as they were written: an error such as "rows.map is not a function" quotes the code that runs.
    minifyWhitespace: true,
    legalComments: 'none',
    charset: 'utf8',
    sourcemap: 'external',
    loader: { '.txt': 'text', '.sql': 'text', '.md': 'text' },
    logLevel: 'silent',
  }) as const satisfies BuildOptions;

type Result = BuildResult<ReturnType<typeof optionsFor>>;

function bundleOf({ outputFiles }: Result): Bundle {
  const contentOf = (end: string): Buffer =>
    Buffer.from(outputFiles.find(({ path }) => path.endsWith(end))?.contents ?? []);
  const code = contentOf('.mjs');
  return { hash: createHash('sha256').update(code).digest('hex'), code, sourceMap: contentOf('.map') };
}

function callsRequire({ metafile }: Result): boolean {
  return Object.values(metafile.inputs).some(({ imports }) =>
    imports.some(({ kind, external }) => kind === 'require-call' && external === true),
  );
}

function inputsOf({ metafile }: Result, { folder }: SourceFile): string[] {
  return Object.keys(metafile.inputs)
    .filter((path) => path !== ENTRY && !path.startsWith('<'))
    .map((path) => resolve(folder, path));
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return typeof error === 'object' && error !== null && 'errors' in error && Array.isArray(error.errors);
}

function problemOf({ text, location, notes }: Message, file: SourceFile): CompileProblem {
  const known = location === null || location.file.endsWith(ENTRY) ? null : location;
  const note = notes.length === 0 ? '' : ` (${notes.map((each) => each.text).join(' ')})`;
  return {
    file: known === null ? file.shown : shownPath(known.file, file),
    line: known?.line ?? null,
    column: known === null ? null : columnOf(known),
    message: text.startsWith('Could not resolve') ? text : `${text}${note}`,
    remedy: remedyOf(text),
  };
}

/** Columns arrive as counts of bytes. */
function columnOf({ lineText, column }: { readonly lineText: string; readonly column: number }): number {
  return Buffer.from(lineText).subarray(0, column).toString().length + 1;
}

/** The way that the caller would write a path of a file that lies beside or below the one that is compiled. */
export function shownPath(path: string, file: SourceFile): string {
  const within = relative(file.folder, resolve(file.folder, path));
  if (within.startsWith('..') || isAbsolute(within)) return within;
  const root = file.shown.slice(0, file.shown.length - relative(file.folder, file.path).length);
  return `${root}${within}`;
}
