/** The code of the functions of a dag, as it was deployed, and its definition. */
import type { DagDetails } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../api/sources.ts';
import { languageOf } from '../../parts/highlight.ts';
import { Block, Json } from '../../parts/json.tsx';
import { Card, Loaded } from '../../parts/page.tsx';

export function Code({ dag }: { readonly dag: DagDetails }) {
  const { bundle } = dag;
  const sources = useQuery(sourcesQuery(bundle));
  const { tasks, groups, templates } = dag;
  return (
    <>
      {dag.source !== null && <p className="soft">Deployed from {dag.source}.</p>}
      {bundle !== null && (
        <Loaded query={sources}>
          {(files) =>
            files.map(({ name, text }) => (
              <Card key={name} title={<span className="mono">{name}</span>} flush>
                <Block className="code" text={text} language={languageOf(name)} />
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
