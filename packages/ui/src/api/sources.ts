/** The code of the functions of a dag as it was written, from the source map that was deployed with it. */
import { queryOptions } from '@tanstack/react-query';
import { request, seg } from './client.ts';

export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

interface SourceMap {
  readonly sources?: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
}

async function readSources(bundle: string): Promise<readonly SourceFile[]> {
  try {
    const map = (await (await request(`/v1/bundles/${seg(bundle)}/source-map`)).json()) as SourceMap;
    const own = (map.sources ?? []).flatMap((name, at) => {
      const text = map.sourcesContent?.[at];
      return text == null || name.includes('node_modules') ? [] : [{ name, text }];
    });
    if (own.length > 0) return own;
  } catch {
    // Without a source map the bundle itself is shown.
  }
  return [{ name: 'bundle', text: await (await request(`/v1/bundles/${seg(bundle)}`)).text() }];
}

/** None for a dag without functions. A bundle never changes. */
export const sourcesQuery = (bundle: string | null) =>
  queryOptions({
    queryKey: ['sources', bundle],
    queryFn: async () => (bundle === null ? [] : await readSources(bundle)),
    staleTime: Number.POSITIVE_INFINITY,
  });
