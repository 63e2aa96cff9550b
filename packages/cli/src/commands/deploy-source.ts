/**
 * Where a dag is deployed from, so two projects that use the same name notice each other. In a git repository it is the
 * repository and the folder in it, which is the same on every machine and in CI. Elsewhere it is this machine and the
 * folder.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { Client } from '@signalbox/sdk';

const LONGEST = 500;

export function sourceOfFile(file: string): string {
  const folder = realpathSync(dirname(resolve(file)));
  const root = repositoryOf(folder);
  const remote = root === null ? null : remoteOf(root);
  const source =
    root === null || remote === null ? `${hostname()}:${folder}` : `${remote} in ${relative(root, folder) || '.'}`;
  return source.replace(/[\p{Cc}\u2028\u2029]/gu, '?').slice(0, LONGEST);
}

function repositoryOf(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return null;
  }
}

/** The address of `origin`, without a name and password in it. Null for a repository that was cloned from nowhere, and a worktree. */
function remoteOf(root: string): string | null {
  const git = join(root, '.git');
  try {
    if (!statSync(git).isDirectory()) return null;
    const section = /\[remote "origin"\]([^[]*)/.exec(readFileSync(join(git, 'config'), 'utf8'))?.[1] ?? '';
    const url = /^\s*url\s*=\s*(\S+)/m.exec(section)?.[1] ?? null;
    return url === null ? null : url.replace(/^([a-z+]+:\/\/)[^/@]*@/, '$1');
  } catch {
    return null;
  }
}

interface Moved {
  readonly name: string;
  /** Where the version that is current was deployed from, and where it would come from now. */
  readonly from: string;
  readonly to: string;
}

const PAGE = 100;

/** Dags among these that were last deployed from somewhere else. */
export async function movedDags(
  client: Pick<Client, 'listDags'>,
  dags: readonly { readonly name: string; readonly source: string }[],
): Promise<Moved[]> {
  const known = new Map<string, string | null>();
  for (let cursor: string | null = null; ; ) {
    const page: Awaited<ReturnType<Client['listDags']>> = await client.listDags({
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    for (const { name, source } of page.items) known.set(name, source);
    ({ cursor } = page);
    if (cursor === null) break;
  }
  return dags.flatMap(({ name, source: to }) => {
    const from = known.get(name) ?? null;
    return from === null || from === to ? [] : [{ name, from, to }];
  });
}

export const movedText = ({ name, from, to }: Moved): string =>
  `${name} was deployed from ${from}. You are deploying it from ${to}.`;
