/** The code of the functions of a dag, as it was deployed, and its definition. */
import type { DagDetails } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { request, seg } from '../../api/client.ts';
import { Json } from '../../parts/json.tsx';
import { Card, Loaded } from '../../parts/page.tsx';

interface SourceMap {
  readonly sources?: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
}

async function readSources(bundle: string): Promise<readonly { readonly name: string; readonly text: string }[]> {
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

export function Code({ dag }: { readonly dag: DagDetails }) {
  const { bundle } = dag;
  const sources = useQuery({
    queryKey: ['sources', bundle],
    queryFn: () => readSources(bundle ?? ''),
    enabled: bundle !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { tasks, groups, templates } = dag;
  return (
    <>
      {dag.source !== null && <p className="soft">Deployed from {dag.source}.</p>}
      {bundle !== null && (
        <Loaded query={sources}>
          {(files) =>
            files.map(({ name, text }) => (
              <Card key={name} title={<span className="mono">{name}</span>} flush>
                <pre className="code" tabIndex={0}>
                  {text}
                </pre>
              </Card>
            ))
          }
        </Loaded>
      )}
      <Card title="Definition, as the server has it">
        <Json
          value={{
            name: dag.name,
            params: dag.params,
            schedule: dag.schedule,
            onFailure: dag.onFailure,
            groups,
            tasks,
            templates,
          }}
        />
      </Card>
    </>
  );
}
