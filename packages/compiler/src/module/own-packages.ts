/** `@signalbox/…` in user code resolves to the packages that this compiler belongs to, also in a folder without node_modules. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { Plugin } from 'esbuild';

type Exports = Readonly<Record<string, Readonly<Record<'source' | 'default', string>>>>;

const require = createRequire(import.meta.url);
/** Read from sources, as tests are, so are the packages that go into bundles. */
const form = import.meta.url.endsWith('.ts') ? 'source' : 'default';
const PACKAGES = ['@signalbox/sdk', '@signalbox/protocol'] as const;

const homes = new Map<string, { readonly root: string; readonly exports: Exports }>();

function homeOf(name: (typeof PACKAGES)[number]): { readonly root: string; readonly exports: Exports } {
  let home = homes.get(name);
  if (home === undefined) {
    const root = dirname(dirname(require.resolve(name)));
    home = { root, ...(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Exports }) };
    homes.set(name, home);
  }
  return home;
}

const isOwn = (path: string): boolean => PACKAGES.some((name) => path.startsWith(homeOf(name).root + sep));

interface OwnPackages {
  readonly entry: string;
  /** Whether `@signalbox/sdk` is the whole of it, or what authors need: most dags want no client in their bundle. */
  readonly whole: boolean;
  /** Called when a file that is not ours imports one of ours. */
  readonly onUsed: () => void;
}

export function ownPackages({ entry, whole, onUsed }: OwnPackages): Plugin {
  return {
    name: 'own-packages',
    setup(build) {
      build.onResolve({ filter: /^@signalbox\// }, ({ path, importer }) => {
        const name = PACKAGES.find((known) => path === known || path.startsWith(`${known}/`));
        if (name === undefined) return { errors: [{ text: `Could not resolve "${path}"` }] };
        const { root, exports } = homeOf(name);
        const subpath = path === '@signalbox/sdk' && !whole ? './authoring' : `.${path.slice(name.length)}`;
        const file = exports[subpath]?.[form];
        if (file === undefined) return { errors: [{ text: `Could not resolve "${path}"` }] };
        if (importer !== entry && !isOwn(importer)) onUsed();
        return { path: join(root, file), sideEffects: false };
      });
    },
  };
}
